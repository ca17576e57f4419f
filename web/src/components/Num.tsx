import { Link } from "react-router";
import { counted } from "./format";

/** Num is a number that leads to the rows behind it; zero leads nowhere. */
export function Num({ value, to, none = "0", capped }: { value?: number | null; to?: string; none?: string; capped?: boolean }) {
  if (!value) return <span className="dim num">{value === 0 ? none : "–"}</span>;
  return to ? <Link to={to} className="num">{counted(value, capped)}</Link> : <span className="num">{counted(value, capped)}</span>;
}

/** Figure is a number that stands on its own. */
export function Figure({ value, label, to, tone, capped }: { value?: number; label: string; to: string; tone?: "bad" | "warn"; capped?: boolean }) {
  return <Link to={to} className="figure" data-tone={value ? tone : undefined}><div className="value">{value === undefined ? "–" : counted(value, capped)}</div><div className="label">{label}</div></Link>;
}
