import { Fragment } from "react";
import { Link } from "react-router";
import type { Lineage } from "../api/records";

const steps = [["plan", "/plans/"], ["slice", "/slices/"], ["task", "/tasks/"], ["run", "/runs/"], ["batch", "/batches/"]] as const;

/** LineageLinks leads along the work that brought something. */
export function LineageLinks({ lineage }: { lineage?: Lineage | null }) {
  const known = steps.filter(([name]) => lineage?.[name]);
  if (known.length === 0) return <span className="dim">–</span>;
  return <span className="lineage">{known.map(([name, at], i) => <Fragment key={name}>{i ? <span className="dim" aria-hidden> › </span> : null}<Link to={at + lineage![name]}>{name === "batch" ? "page" : name} {lineage![name]}</Link></Fragment>)}</span>;
}
