import { Link, useParams } from "react-router";
import { useGet } from "../api/hooks";
import type { Run as Row } from "../api/types";
import { Async } from "../components/Async";
import { Facts } from "../components/Facts";
import { FaultText } from "../components/FaultText";
import { count, span, took } from "../components/format";
import { Note } from "../components/Notes";
import { Num } from "../components/Num";
import { PageHead } from "../components/PageHead";
import { StatusBadge } from "../components/StatusBadge";
import { Time } from "../components/Time";
import { Timeline } from "../components/Timeline";

export default function Run() {
  const { id = "" } = useParams();
  const run = useGet<Row>(["tasks", "batches"], `/runs/${id}`);
  const r = run.data;
  return (
    <div className="stack">
      <PageHead title={`Run ${id}`} badge={r ? <StatusBadge state={r.status} /> : null} crumbs={[["Plans", "/plans"], ...(r ? [[`Plan ${r.plan_id}`, `/plans/${r.plan_id}`], [`Slice ${r.slice_id}`, `/slices/${r.slice_id}`], [`Task ${r.task_id}`, `/tasks/${r.task_id}`]] as const : [])]}
        actions={<Link to={`/replay?run=${id}`}>Replay from the black box</Link>}>
        {r ? <>attempt {r.attempt_no} at {span(r.window)}</> : null}
      </PageHead>
      <Async query={run} height={200}>
        {(r) => {
          const c = r.stats?.counts;
          return (
            <>
              {r.error ? <Note tone="bad"><p><FaultText fault={r.error} /></p></Note> : null}
              <section className="card" aria-label="Facts">
                <Facts items={[
                  ["Began", <Time key="b" at={r.started_at} />], ["Took", took(r.started_at, r.finished_at)], ["Read to the end", r.exhausted ? "yes" : "no"], ["Scan", String(r.scan_no)],
                  ["Pages", <Num key="p" value={r.stats?.pages ?? 0} to={`/batches?run=${r.id}`} />], ["Records", count(r.stats?.records ?? 0)],
                  ["New", c && count(c.insert)], ["Changed", c && count(c.update)], ["Unchanged", c && count(c.same)], ["Older than stored", c && count(c.stale)], ["Twice", c && count(c.dup)],
                  ["Quarantined", c && <Num value={c.quarantine} to={`/quarantine?source=${r.source}`} />], ["Outside the window", c && count(c.outside)], ["Worker", r.lease_owner ? <code>{r.lease_owner.slice(0, 8)}</code> : null],
                ]} />
              </section>
              <Timeline task={r.task_id} run={r.id} />
            </>
          );
        }}
      </Async>
    </div>
  );
}
