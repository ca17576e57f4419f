import { Link } from "react-router";
import { count } from "./format";

/** Num is a number that leads to the rows behind it; zero leads nowhere. */
export function Num({ value, to, none = "0" }: { value?: number | null; to?: string; none?: string }) {
  if (!value) return <span className="dim num">{value === 0 ? none : "–"}</span>;
  return to ? <Link to={to} className="num">{count(value)}</Link> : <span className="num">{count(value)}</span>;
}

/** Figure is a number that stands on its own. */
export function Figure({ value, label, to, tone }: { value?: number; label: string; to: string; tone?: "bad" | "warn" }) {
  return <Link to={to} className="figure" data-tone={value ? tone : undefined}><div className="value">{count(value)}</div><div className="label">{label}</div></Link>;
}
