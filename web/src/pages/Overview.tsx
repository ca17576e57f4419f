import { Link } from "react-router";
import { calling, useAlerts, useGet } from "../api/hooks";
import type { Overview as Data, SourceHealth } from "../api/types";
import { AlertRow } from "../components/AlertRow";
import { Async } from "../components/Async";
import { Rows, type Column } from "../components/DataList";
import { instant, lasting, plain } from "../components/format";
import { Empty } from "../components/Notes";
import { Figure, Num } from "../components/Num";
import { PageHead } from "../components/PageHead";
import { StatusBadge } from "../components/StatusBadge";
import { Time } from "../components/Time";
import { VerdictCard } from "../components/VerdictCard";
import { planColumns } from "../components/work";

/** The gravest first, as the server ranks them. */
const health = ["STOPPED", "FAILED", "INCOMPLETE", "DISPUTED", "UNPROVED", "LATE", "WAITING", "RUNNING", "OK", "IDLE"];
const at = (s: SourceHealth) => encodeURIComponent(s.code);

const columns: Column<SourceHealth>[] = [
  { label: "Source", cell: (s) => <><Link to={`/sources/${at(s)}`}>{s.code}</Link>{s.title ? <div className="dim small">{s.title}</div> : null}</> },
  { label: "Health", cell: (s) => <><StatusBadge state={s.health} />{s.said ? <div className="dim small clamp" title={plain(s.said)}>{plain(s.said)}</div> : null}</> },
  { label: "Complete through", cell: (s) => s.complete_through ? <><Link to={`/coverage?source=${at(s)}`} className="nowrap">{instant(s.complete_through)}</Link>{s.lag_seconds ? <div className="dim small">{lasting(s.lag_seconds)} behind</div> : null}</> : <span className="dim">–</span> },
  { label: "Gaps", cell: (s) => <Num value={s.gaps ?? 0} to={`/coverage?source=${at(s)}`} />, right: true },
  { label: "Disputed", cell: (s) => <Num value={s.disputed ?? 0} to={`/coverage?source=${at(s)}`} />, right: true },
  { label: "Running", cell: (s) => <Num value={s.running ?? 0} capped={s.capped} to={`/tasks?source=${at(s)}&status=RUNNING`} />, right: true },
  { label: "Queued", cell: (s) => <Num value={s.queued ?? 0} capped={s.capped} to={`/tasks?source=${at(s)}&status=QUEUED`} />, right: true },
  { label: "Failed", cell: (s) => <Num value={s.failed ?? 0} capped={s.capped} to={`/tasks?source=${at(s)}&status=FAILED`} />, right: true },
  { label: "Quarantine", cell: (s) => <Num value={s.quarantine ?? 0} capped={s.capped} to={`/quarantine?source=${at(s)}`} />, right: true },
  { label: "Last page", cell: (s) => <Time at={s.last_page_at} /> },
];

export default function Overview() {
  const overview = useGet<Data>(["tasks", "batches", "cursors", "plans", "records", "controls", "quarantine"], "/overview", undefined, { every: 3_000 });
  return (
    <div className="stack">
      <PageHead title="Overview" />
      <Async query={overview} height={320}>
        {(o) => {
          const used = o.sources.filter((s) => s.health !== "IDLE").sort((a, b) => health.indexOf(a.health) - health.indexOf(b.health) || a.code.localeCompare(b.code));
          const idle = o.sources.filter((s) => s.health === "IDLE");
          return (
            <>
              <VerdictCard verdict={o.verdict} />
              <div className="figures">
                <Figure value={o.totals.records} label="records" to="/records" />
                <Figure value={o.totals.running} capped={o.totals.capped} label="tasks running" to="/tasks?status=RUNNING" />
                <Figure value={o.totals.queued} capped={o.totals.capped} label="tasks queued" to="/tasks?status=QUEUED" />
                <Figure value={o.totals.failed} capped={o.totals.capped} label="tasks failed" to="/tasks?status=FAILED" tone="bad" />
                <Figure value={o.totals.quarantine} capped={o.totals.capped} label="in quarantine" to="/quarantine" tone="warn" />
              </div>
              <Needed />
              <section className="card flush" aria-label="Sources in use">
                <div className="card-head"><h2>Sources</h2><span className="dim small">{used.length} in use, {idle.length} idle{o.totals.capped && used.some((s) => [s.queued, s.running, s.failed, s.quarantine].some((n) => (n ?? 0) >= 10_000)) ? "; counting ends at ten thousand of a source" : ""}</span></div>
                {used.length ? <Rows label="Sources in use" rows={used} columns={columns} id={(s) => s.code} /> : <Empty title="Nothing was harvested yet" command="patra harvest crossref --from 2026-11-01 --to 2026-11-03">Begin with a few days of one source:</Empty>}
                {used.length && idle.length ? <div className="list-foot"><span>idle: {idle.map((s, i) => <span key={s.code}>{i ? ", " : ""}<Link to={`/sources/${at(s)}`}>{s.code}</Link></span>)}</span></div> : null}
              </section>
              <section className="card flush" aria-label="Recent plans">
                <div className="card-head"><h2>Recent plans</h2><Link to="/plans">all plans</Link></div>
                {o.recent?.length ? <Rows label="Recent plans" rows={o.recent} columns={planColumns} id={(p) => p.id} /> : <Empty title="No plan yet" command="patra plan harvest crossref --dry-run">See what a harvest would do, before anything is sent:</Empty>}
              </section>
            </>
          );
        }}
      </Async>
    </div>
  );
}

/** Needed is what waits for a person; when nothing does, it says so in a line. */
function Needed() {
  const got = useAlerts();
  const alerts = (got.data?.items ?? []).filter(calling), known = (got.data?.items ?? []).filter((a) => a.silenced).length;
  if (got.data === undefined) return null;
  return (
    <section className="card" aria-label="What needs a person">
      <div className="card-head"><h2>What needs a person</h2>{alerts.length > 5 || known ? <Link to="/alerts">{alerts.length > 5 ? `all ${alerts.length}` : ""}{alerts.length > 5 && known ? ", " : ""}{known ? `${known} acknowledged` : ""}</Link> : null}</div>
      {alerts.length === 0 ? <p className="dim">No active alerts.</p> : <div className="stack">{alerts.slice(0, 5).map((a, i) => <AlertRow key={i} alert={a} />)}</div>}
    </section>
  );
}
