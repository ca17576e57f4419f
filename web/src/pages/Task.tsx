import { Link, useParams } from "react-router";
import { useGet } from "../api/hooks";
import type { Task as Row, Why } from "../api/types";
import { Async } from "../components/Async";
import { Facts } from "../components/Facts";
import { FaultText } from "../components/FaultText";
import { span } from "../components/format";
import { Num } from "../components/Num";
import { PageHead } from "../components/PageHead";
import { StatusBadge } from "../components/StatusBadge";
import { Steer } from "../components/Steer";
import { Time } from "../components/Time";
import { Timeline } from "../components/Timeline";
import { WhyNote } from "../components/WhyNote";
import { sourceCell } from "../components/work";

export default function Task() {
  const { id = "" } = useParams();
  const task = useGet<Row>(["tasks"], `/tasks/${id}`);
  const why = useGet<Why>(["tasks", "batches", "controls", "gates"], `/tasks/${id}/why`).data;
  const t = task.data;
  return (
    <div className="stack">
      <PageHead title={`Task ${id}`} crumbs={[["Plans", "/plans"], ...(t ? [[`Plan ${t.plan_id}`, `/plans/${t.plan_id}`], [`Slice ${t.slice_id}`, `/slices/${t.slice_id}`]] as const : [])]} badge={t ? <StatusBadge state={t.status} /> : null} actions={t ? <Steer target={`task:${id}`} name={`task ${id}`} status={t.status} held={why ? (why.control ?? null) : undefined} /> : null}>
        {t ? <>{t.source}/{t.endpoint}, {span(t.window)}</> : null}
      </PageHead>
      <Async query={task} height={200}>
        {(t) => (
          <>
            <WhyNote task={t.id} />
            <section className="card" aria-label="Facts">
              <Facts items={[
                ["Source", sourceCell(t)], ["Operation", t.operation.toLowerCase()], ["Window", span(t.window)], ["Attempts", <><Num value={t.attempt_count} to={`/runs?task=${t.id}`} /> of {t.max_attempts}</>],
                ["Due", t.status === "QUEUED" ? <Time at={t.scheduled_at} none="now" /> : null], ["Waits for", t.status === "QUEUED" ? t.wait_code?.toLowerCase() : null], ["Leased until", t.status === "RUNNING" ? <Time at={t.leased_until} /> : null],
                ["Priority", `${t.priority} (1 is first)`], ["Scan", String(t.scan_no)], ["Pages read", <Link key="p" to={`/batches?task=${t.id}`}>see them</Link>],
                ["Cursor", t.cursor_id ? <Link to={`/cursors/${t.cursor_id}?from=${t.window.from}&to=${t.window.to}`}>on the map of cursor {t.cursor_id}</Link> : null], ["Last error", t.last_error && t.status !== "FAILED" ? <FaultText fault={t.last_error} /> : null],
              ]} />
            </section>
            <Timeline task={t.id} />
          </>
        )}
      </Async>
    </div>
  );
}
