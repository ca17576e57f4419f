import type { ReactNode } from "react";

/** LinkOut links to an address that came with data: only http and https become links, anything else stays text. */
export function LinkOut({ href, children }: { href?: string; children?: ReactNode }) {
  if (!href) return null;
  let ok = false;
  try { ok = ["http:", "https:"].includes(new URL(href).protocol); } catch { /* not an address */ }
  return ok ? <a href={href} target="_blank" rel="noopener noreferrer">{children ?? href}</a> : <span>{children ?? href}</span>;
}
