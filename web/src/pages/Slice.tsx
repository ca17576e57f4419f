import { Link, useParams } from "react-router";
import { useGet, useList } from "../api/hooks";
import type { Slice as Row, Task } from "../api/types";
import { Async } from "../components/Async";
import { Facts } from "../components/Facts";
import { count, span } from "../components/format";
import { JsonView } from "../components/JsonView";
import { PageHead } from "../components/PageHead";
import { StatusBadge } from "../components/StatusBadge";
import { Steer } from "../components/Steer";
import { Time } from "../components/Time";
import { Timeline } from "../components/Timeline";
import { WhyNote } from "../components/WhyNote";

export default function Slice() {
  const { id = "" } = useParams();
  const slice = useGet<Row>(["plans", "tasks"], `/slices/${id}`);
  const tasks = useList<Task>(["tasks"], "/tasks", { slice: id });
  const task = tasks.data?.[0];
  const s = slice.data;
  return (
    <div className="stack">
      <PageHead title={`Slice ${id}`} crumbs={[["Plans", "/plans"], ...(s ? [[`Plan ${s.plan_id}`, `/plans/${s.plan_id}`] as const] : [])]} badge={s ? <StatusBadge state={s.status} /> : null} actions={s ? <Steer target={`slice:${id}`} name={`slice ${id}`} status={s.status} /> : null}>
        {s ? span(s.window) : null}
      </PageHead>
      <Async query={slice} height={200}>
        {(s) => (
          <>
            {task ? <WhyNote task={task.id} /> : null}
            <section className="card" aria-label="Facts">
              <Facts items={[
                ["Window", span(s.window)], ["Asked for", s.fetch && span(s.fetch) !== span(s.window) ? span(s.fetch) : null], ["Confirmed", s.confirmed ? span(s.confirmed) : null], ["Purpose", s.purpose.toLowerCase()],
                ["Part", (s.part_count ?? 1) > 1 ? `${s.part_no} of ${s.part_count}` : null], ["Cut out of", s.parent_slice_id ? <Link to={`/slices/${s.parent_slice_id}`}>slice {s.parent_slice_id}</Link> : null],
                ["Records, expected", count(s.estimate?.records)], ["Known by", s.estimate?.source?.toLowerCase()],
                ["Task", task ? <><Link to={`/tasks/${task.id}`}>task {task.id}</Link> <StatusBadge state={task.status} /></> : null],
                ["Coverage", s.cursor_id ? <Link to={`/cursors/${s.cursor_id}?from=${s.window.from}&to=${s.window.to}`}>on the map of cursor {s.cursor_id}</Link> : null], ["Closed", <Time key="c" at={s.closed_at} none="still open" />],
              ]} />
            </section>
            {task ? <Timeline task={task.id} /> : null}
            <div className="columns">
              <section className="card"><div className="card-head"><h2>Query of this slice</h2></div><JsonView label="Query as a tree" value={s.expr ?? {}} /></section>
              <section className="card"><div className="card-head"><h2>How it is read</h2></div><JsonView label="Specification of the slice" value={s.slice_spec ?? {}} /></section>
            </div>
          </>
        )}
      </Async>
    </div>
  );
}
