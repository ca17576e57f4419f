import { useSyncExternalStore } from "react";
import { noTime, relative } from "./format";

// One clock for all times of a page.
let now = Date.now();
const listeners = new Set<() => void>();
setInterval(() => { now = Date.now(); for (const l of listeners) l(); }, 5000);
const listen = (l: () => void) => { listeners.add(l); return () => { listeners.delete(l); }; };
export const useNow = () => useSyncExternalStore(listen, () => now);

/** Time says how long ago something was; the exact time is its title. The end of time is that of work that is held back. */
export function Time({ at, none = "never" }: { at?: string | null; none?: string }) {
  const now = useNow();
  if (at?.startsWith("9999-")) return <span className="dim">when it is resumed</span>;
  if (!at || noTime(at)) return <span className="dim">{none}</span>;
  return <time dateTime={at} title={at} className="nowrap">{relative(at, now)}</time>;
}
