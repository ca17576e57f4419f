import { Link } from "react-router";
import type { Alert } from "../api/types";
import { Next } from "./Command";
import { plain } from "./format";
import { StatusBadge } from "./StatusBadge";
import { Time } from "./Time";

/** placeOfAlert is the page that shows what an alert is about. */
export function placeOfAlert(a: Alert): string | undefined {
  const l = a.link;
  if (a.target.startsWith("sink:")) return "/events";
  if (a.target === "queue") return "/queue";
  if (a.kind === "QUARANTINE" && l?.source) return `/quarantine?source=${encodeURIComponent(l.source)}&status=OPEN`;
  if (l?.task) return `/tasks/${l.task}`;
  if (l?.plan) return `/plans/${l.plan}`;
  if (l?.cursor) return `/cursors/${l.cursor}`;
  if (l?.source) return `/sources/${encodeURIComponent(l.source)}`;
  return undefined;
}

export function AlertRow({ alert }: { alert: Alert }) {
  const to = placeOfAlert(alert);
  const seen = alert.fired_at ?? alert.since ?? (alert.id ? alert.first_at : undefined);
  const word = alert.fired_at ? "fired" : alert.since ? "since" : "first seen";
  return (
    <div className="stack tight">
      <div className="row"><StatusBadge state={alert.severity} /><b>{alert.kind.toLowerCase()}</b>{alert.silenced ? <StatusBadge state="ACKNOWLEDGED" /> : alert.state === "PENDING" ? <StatusBadge state="PENDING" /> : null}{to ? <Link to={to}>{alert.target}</Link> : <span>{alert.target}</span>}{seen ? <span className="dim small">{word} <Time at={seen} /></span> : null}</div>
      <p><bdi>{plain(alert.said)}</bdi></p>
      <Next text={alert.next} />
    </div>
  );
}
