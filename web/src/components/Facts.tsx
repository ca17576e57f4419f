import type { ReactNode } from "react";

/** Facts is a list of names and values; what has no value is left out. */
export function Facts({ items }: { items: readonly (readonly [string, ReactNode])[] }) {
  const shown = items.filter(([, v]) => v !== undefined && v !== null && v !== "" && v !== false);
  return <dl className="facts">{shown.map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}</dl>;
}
