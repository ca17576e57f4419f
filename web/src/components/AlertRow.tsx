import { Link } from "react-router";
import type { Alert } from "../api/types";
import { Next } from "./Command";
import { plain } from "./format";
import { StatusBadge } from "./StatusBadge";
import { Time } from "./Time";

/** placeOfAlert is the page that shows what an alert is about. */
export function placeOfAlert(a: Alert): string | undefined {
  const l = a.link;
  if (l?.task) return `/tasks/${l.task}`;
  if (l?.plan) return `/plans/${l.plan}`;
  if (l?.cursor) return `/cursors/${l.cursor}`;
  if (l?.source) return `/sources/${encodeURIComponent(l.source)}`;
  return undefined;
}

export function AlertRow({ alert }: { alert: Alert }) {
  const to = placeOfAlert(alert);
  return (
    <div className="stack tight">
      <div className="row"><StatusBadge state={alert.severity} />{to ? <Link to={to}>{alert.target}</Link> : <span>{alert.target}</span>}<span className="dim small"><Time at={alert.since} none="" /></span></div>
      <p>{plain(alert.said)}</p>
      <Next text={alert.next} />
    </div>
  );
}
