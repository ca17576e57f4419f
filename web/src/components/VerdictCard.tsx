import { useState } from "react";
import { Button } from "@mantine/core";
import { Link } from "react-router";
import type { Reason, Verdict } from "../api/types";
import { Next } from "./Command";
import { plain } from "./format";
import { StatusBadge } from "./StatusBadge";

const shown = 5;

/** placeOf is the page that shows what a reason is about. */
function placeOf(r: Reason): string | undefined {
  if (r.kind === "REFUSED" || (r.kind === "BEHIND" && !r.cursor_id)) return "/schedules";
  if (r.plan_id) return `/plans/${r.plan_id}`;
  if (r.cursor_id) return `/cursors/${r.cursor_id}`;
  if (r.kind === "TASKS_FAILED") return `/tasks?status=FAILED&source=${encodeURIComponent(r.source ?? "")}`;
  return r.source ? `/sources/${encodeURIComponent(r.source)}` : undefined;
}

const about = (r: Reason) => r.schedule ? `schedule ${r.schedule}` : r.plan_id ? `plan ${r.plan_id}` : r.source ?? "";

/** VerdictCard says how everything stands: a word, whether it is complete, and each reason with its next step. */
export function VerdictCard({ verdict: v }: { verdict: Verdict }) {
  const [all, setAll] = useState(false);
  const reasons = all ? v.reasons : v.reasons.slice(0, shown);
  return (
    <section className="card stack" aria-label="Verdict">
      <div className="card-head">
        <div className="row"><h2>Verdict</h2><StatusBadge state={v.health} /></div>
        <Link to="/coverage">{v.complete ? "coverage: nothing missing" : "coverage: not complete"}</Link>
      </div>
      {v.reasons.length === 0 || !v.reasons[0]!.health ? <p>{plain(v.message)}</p> : null}
      {reasons.map((r, i) => {
        const to = placeOf(r);
        return (
          <div key={i} className="stack tight" data-reason={r.kind}>
            <div className="row"><StatusBadge state={r.kind} />{to ? <Link to={to}>{about(r)}</Link> : <span>{about(r)}</span>}{r.health ? null : <span className="dim small">a note</span>}</div>
            <p><bdi>{plain(r.message)}</bdi></p>
            <Next text={r.next} />
          </div>
        );
      })}
      {v.reasons.length > shown ? <div><Button size="compact-sm" variant="default" onClick={() => setAll(!all)}>{all ? "Show fewer" : `Show all ${v.reasons.length} reasons`}</Button></div> : null}
    </section>
  );
}
