import { Link } from "react-router";
import { useGet, useList } from "../api/hooks";
import type { Control } from "../api/gates";
import type { Page } from "../api/types";
import { ConfirmAction } from "../components/ConfirmAction";
import { DataList, Rows, type Column } from "../components/DataList";
import { counted, plain } from "../components/format";
import { Meter } from "../components/Meter";
import { Figure, Num } from "../components/Num";
import { PageHead } from "../components/PageHead";
import { StatusBadge } from "../components/StatusBadge";
import { Time } from "../components/Time";
import { targetOf } from "../components/Steer";
import { Empty, ErrorNote } from "../components/Notes";

/** Partition is what shares a limit of how many tasks run at once. */
interface Partition {
  partition: string; source: string; endpoint: string; operation: string; due: number; later: number; running: number; limit?: number; capped?: boolean; oldest?: string; next_at?: string; waits?: Record<string, number> | null; held?: string;
}

export const waits: Record<string, string> = {
  GATE: "for the gate: the provider is asked as fast as is permitted", COOLDOWN: "for a cooldown: the provider asked to be left alone", QUOTA: "for the quota to begin anew", BREAKER: "for the breaker: the provider failed too often in a row",
  HALTED: "for a person: it was stopped", PAUSED: "for a person: it is paused", PARTITION: "for its turn: as many run as may", SCHEDULED: "for its time", LIMIT: "for its turn: as many run as may", TURN: "for its turn", WORKER: "for a worker",
};
const queued = (p: Partition) => p.due + p.later;
const tasks = (p: Partition, status: string) => `/tasks?source=${encodeURIComponent(p.source)}&status=${status}`;

export default function Queue() {
  const got = useGet<Page<Partition>>(["tasks", "controls", "gates"], "/queue");
  const rows = [...(got.data?.items ?? [])].sort((a, b) => b.running - a.running || queued(b) - queued(a) || a.partition.localeCompare(b.partition));
  const sum = (f: (p: Partition) => number | undefined) => rows.reduce((n, p) => n + (f(p) ?? 0), 0);
  return (
    <div className="stack">
      <PageHead title="Queue">What waits and what runs, by source, endpoint and operation: tasks of one partition share a limit.</PageHead>
      {got.error ? <ErrorNote error={got.error} retry={() => void got.refetch()} /> : null}
      {got.data ? (
        <>
          <div className="figures"><Figure value={sum((p) => p.running)} label="running" to="/tasks?status=RUNNING" /><Figure value={sum(queued)} capped={rows.some((p) => p.capped)} label="queued" to="/tasks?status=QUEUED" /><Figure value={rows.length} label={rows.length === 1 ? "partition" : "partitions"} to="/queue" /></div>
          <section className="card flush">
            <div className="card-head"><h2>Partitions</h2></div>
            {rows.length === 0 ? <Empty title="The queue is empty" command="patra plan harvest crossref">Everything that was planned is done. To put more into it:</Empty> : <Rows label="Partitions" rows={rows} columns={columns} id={(p) => p.partition} />}
          </section>
        </>
      ) : null}
      <Held />
    </div>
  );
}

/** repository is the last part of the name of a partition, where the source has several. */
const repository = (p: Partition) => p.partition.split("/").slice(3).join("/");

const columns: Column<Partition>[] = [
  { label: "Partition", cell: (p) => <><Link to={`/sources/${encodeURIComponent(p.source)}`}>{p.source}</Link><span className="dim">/{p.endpoint}</span><div className="dim small">{p.operation.toLowerCase()}</div>{repository(p) ? <div className="dim small mono">{repository(p)}</div> : null}</> },
  { label: "Running", cell: (p) => <div className="meter-cell"><span><Num value={p.running} to={tasks(p, "RUNNING")} />{p.limit ? <span className="dim"> of {p.limit}</span> : null}</span>{p.limit ? <Meter value={p.running} most={p.limit} label="running, of as many as may" /> : null}</div> },
  { label: "Queued", cell: (p) => <><Num value={queued(p)} capped={p.capped} to={tasks(p, "QUEUED")} />{p.later ? <div className="dim small">{counted(p.due, p.capped)} due now</div> : null}</>, right: true },
  { label: "Oldest waits since", cell: (p) => <Time at={p.oldest} none="–" /> },
  { label: "Next is due", cell: (p) => <Time at={p.next_at} none="–" /> },
  { label: "They wait", cell: (p) => <Reasons p={p} /> },
];

/** Reasons says what the tasks of a partition wait for; each leads to the tasks, which say it one by one. */
function Reasons({ p }: { p: Partition }) {
  const all = Object.entries(p.waits ?? {}).filter(([code]) => code).sort(([, a], [, b]) => b - a);
  if (p.held) return <span><StatusBadge state="STOPPED" /> <Link to={tasks(p, "QUEUED")}>all of them</Link> {waits[p.held] ?? p.held.toLowerCase()}</span>;
  if (all.length === 0) return <span className="dim">{p.due ? "for a worker" : p.later ? "for their time" : "–"}</span>;
  return <ul className="bare">{all.map(([code, n]) => <li key={code}><Link to={tasks(p, "QUEUED")} className="num">{counted(n, p.capped)}</Link> {waits[code] ?? code.toLowerCase()}</li>)}</ul>;
}

/** Held is what holds work back, with a way to let it go on. */
function Held() {
  const list = useList<Control & { key?: string; scope?: string }>(["controls"], "/controls", undefined, { limit: 0 });
  return <DataList label="What holds work back" list={list} id={(c) => `${c.scope}${c.key ?? c.target}${c.kind}`} noun="hold" head={<h2>What holds work back</h2>} empty={{ title: "Nothing is held back" }} columns={[
    { label: "Whom", cell: (c) => c.target ?? targetOf(c) }, { label: "How", cell: (c) => <StatusBadge state={c.kind === "PAUSE" ? "PAUSED" : c.kind} /> }, { label: "State", cell: (c) => c.state.toLowerCase().replaceAll("_", " ") }, { label: "Since", cell: (c) => <Time at={c.detail?.since} none="–" /> }, { label: "Until", cell: (c) => c.until ? <Time at={c.until} /> : "somebody resumes it" }, { label: "By", cell: (c) => c.actor || "itself" },
    { label: "Why", cell: (c) => c.kind === "LIMIT" ? `${c.detail?.limit} of ${c.detail?.of} at once: ${(c.reason ?? "").toLowerCase().replaceAll("_", " ")}` : plain(c.reason || c.detail?.fault?.text || "–") },
    { label: "Do", cell: (c) => c.kind === "LIMIT" || c.kind === "QUOTA" ? <span className="dim small">ends by itself</span> : <ConfirmAction label="Resume" path="/controls/resume" body={{ target: c.target ?? targetOf(c) }} what={`${c.target ?? targetOf(c)} goes on.`} /> },
  ]} />;
}
