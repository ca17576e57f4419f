import { Link, useParams } from "react-router";
import { useGet } from "../api/hooks";
import type { CursorEvent, Plan as Row } from "../api/types";
import { Async } from "../components/Async";
import { Rows } from "../components/DataList";
import { Facts } from "../components/Facts";
import { count, instant, sentence, span } from "../components/format";
import { JsonView } from "../components/JsonView";
import { Empty, Note } from "../components/Notes";
import { Num } from "../components/Num";
import { PageHead } from "../components/PageHead";
import { StatusBadge } from "../components/StatusBadge";
import { Steer } from "../components/Steer";
import { Time } from "../components/Time";
import { SliceList, sourceCell } from "../components/work";
import { PlanProgress } from "../components/PlanProgress";

export default function Plan() {
  const { id = "" } = useParams();
  const plan = useGet<Row>(["plans", "tasks"], `/plans/${id}`);
  return (
    <div className="stack">
      <PageHead title={`Plan ${id}`} crumbs={[["Plans", "/plans"]]} badge={plan.data ? <StatusBadge state={plan.data.ended ?? plan.data.status} /> : null} actions={plan.data ? <Steer target={`plan:${id}`} name={`plan ${id}`} status={plan.data.ended ?? plan.data.status} /> : null}>
        {plan.data ? <>{plan.data.operation.toLowerCase()} of {plan.data.source}/{plan.data.endpoint}, {span(plan.data.window)}</> : null}
      </PageHead>
      <Async query={plan} height={300}>
        {(p) => (
          <>
            {p.reason ? <Note tone={p.status === "FAILED" ? "bad" : "busy"}><p>{p.reason}</p></Note> : null}
            {p.warnings?.map((w) => <Note key={w.code} tone="warn"><p>{sentence(w.text)}</p><p className="dim small"><code>{w.code}</code> {w.path}</p></Note>)}
            <PlanProgress plan={p} />
            <section className="card" aria-label="Facts">
              <Facts items={[
                ["Source", sourceCell(p)], ["Operation", p.operation.toLowerCase()], ["Window", span(p.window)],
                ["Cursor", p.cursor_id ? <Link to={`/cursors/${p.cursor_id}`}>cursor {p.cursor_id}, coverage map</Link> : null],
                ["Slices", <Num key="s" value={p.slice_count ?? 0} to={`/slices?plan=${p.id}`} />], ["Tasks that failed", <Link key="f" to={`/tasks?plan=${p.id}&status=FAILED`}>see them</Link>],
                ["Pages read", <Link key="b" to={`/batches?plan=${p.id}`}>see them</Link>],
                ["Records, estimated", count(p.estimated_records)], ["Requests, estimated", count(p.estimated_requests)],
                ["Priority", String(p.priority)], ["Cut by", p.slice_strategy?.toLowerCase()], ["Sent to", p.base_url], ["Planned", <Time key="t" at={p.created_at} />],
                ["Fingerprint of the configuration", p.spec_fingerprint ? <code>{p.spec_fingerprint.slice(0, 12)}</code> : null],
              ]} />
            </section>
            <SliceList params={{ plan: p.id }} label="Slices of this plan" head={<h2>Slices, failed first</h2>} />
            <Lineage id={id} />
            <div className="columns">
              <section className="card"><div className="card-head"><h2>Why this window</h2></div><JsonView label="Inputs of the window" value={p.window_inputs ?? {}} /></section>
              <section className="card"><div className="card-head"><h2>Query</h2></div><JsonView label="Query as a tree" value={p.expr_proto ?? {}} /></section>
            </div>
          </>
        )}
      </Async>
    </div>
  );
}

/** Lineage is what the plan did to its watermark. */
function Lineage({ id }: { id: string }) {
  const got = useGet<{ cursor_events?: CursorEvent[] | null }>(["cursors", "plans"], `/plans/${id}/lineage`);
  const events = got.data?.cursor_events ?? [];
  return (
    <section className="card flush" aria-label="What it did to the watermark">
      <div className="card-head"><h2>What it did to the watermark</h2></div>
      <Async query={got}>
        {() => events.length === 0 ? <Empty title="It did not move the watermark yet">It moves when everything before it is read.</Empty> : (
          <Rows label="Steps of the watermark" rows={events} id={(e) => e.seq} columns={[
            { label: "When", cell: (e) => <Time at={e.created_at} /> }, { label: "Cause", cell: (e) => e.cause.toLowerCase() }, { label: "From", cell: (e) => instant(e.from), nowrap: true }, { label: "To", cell: (e) => instant(e.to), nowrap: true },
            { label: "Slice", cell: (e) => e.slice_id ? <Link to={`/slices/${e.slice_id}`}>{e.slice_id}</Link> : "–" }, { label: "Run", cell: (e) => e.run_id ? <Link to={`/runs/${e.run_id}`}>{e.run_id}</Link> : "–" },
          ]} />
        )}
      </Async>
    </section>
  );
}
