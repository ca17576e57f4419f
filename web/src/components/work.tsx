// The lists of work: plans, slices, tasks, runs and pages look the same wherever they are shown.
import { Link } from "react-router";
import { useList } from "../api/hooks";
import type { Params } from "../api/client";
import type { Batch, Plan, Run, Slice, Task } from "../api/types";
import { DataList, type Column } from "./DataList";
import { FaultText } from "./FaultText";
import { count, span, took } from "./format";
import { Num } from "./Num";
import { StatusBadge } from "./StatusBadge";
import { Time } from "./Time";
import type { ReactNode } from "react";

interface Props { params?: Params; head?: ReactNode; label?: string; empty?: { title: string; text?: ReactNode; command?: string }; limit?: number }

export const sourceCell = (r: { source: string; endpoint?: string; repository?: string }) => <><Link to={`/sources/${encodeURIComponent(r.source)}`}>{r.source}</Link>{r.endpoint ? <span className="dim">/{r.endpoint}</span> : null}{r.repository ? <div className="dim small mono">{r.repository}</div> : null}</>;

/** What failed comes first, then what still moves; a person looks for that. */
const order = ["FAILED", "LOST", "RUNNING", "PARTIAL", "SLICING", "QUEUED", "READY", "DRAFT"];
export const worstFirst = (a: { status: string; id: number }, b: { status: string; id: number }) => rank(a.status) - rank(b.status) || b.id - a.id;
const rank = (s: string) => (order.indexOf(s) + order.length + 1) % (order.length + 1);

export const planColumns: Column<Plan>[] = [
  { label: "Plan", cell: (p) => <Link to={`/plans/${p.id}`}>{p.id}</Link> },
  { label: "State", cell: (p) => <StatusBadge state={p.ended ?? p.status} /> },
  { label: "Source", cell: sourceCell },
  { label: "Operation", cell: (p) => p.operation.toLowerCase() },
  { label: "Window", cell: (p) => span(p.window), nowrap: true },
  { label: "Slices", cell: (p) => <Num value={p.slice_count ?? 0} to={`/slices?plan=${p.id}`} />, right: true },
  { label: "Records, estimated", cell: (p) => count(p.estimated_records), right: true },
  { label: "Planned", cell: (p) => <Time at={p.created_at} /> },
];

export function PlanList({ params, head, label = "Plans", empty, limit }: Props) {
  const list = useList<Plan>(["plans", "tasks"], "/plans", params, { limit });
  return <DataList label={label} list={list} columns={planColumns} id={(p) => p.id} noun="plan" head={head} empty={empty ?? { title: "No plan yet", text: "A plan is made by the first harvest:", command: "patra harvest crossref --from 2026-11-01 --to 2026-11-03" }} />;
}

export function SliceList({ params, head, label = "Slices", empty, limit }: Props) {
  const list = useList<Slice>(["plans", "tasks"], "/slices", params, { limit });
  const columns: Column<Slice>[] = [
    { label: "Slice", cell: (s) => <Link to={`/slices/${s.id}`}>{s.id}</Link> },
    { label: "State", cell: (s) => <StatusBadge state={s.status} /> },
    { label: "Plan", cell: (s) => <Link to={`/plans/${s.plan_id}`}>{s.plan_id}</Link> },
    { label: "Window", cell: (s) => span(s.window), nowrap: true },
    { label: "Purpose", cell: (s) => s.purpose.toLowerCase() + ((s.part_count ?? 1) > 1 ? `, part ${s.part_no} of ${s.part_count}` : "") },
    { label: "Expected", cell: (s) => count(s.estimate?.records), right: true },
    { label: "Closed", cell: (s) => <Time at={s.closed_at} none="open" /> },
  ];
  return <DataList label={label} list={list} columns={params?.plan ? columns.filter((c) => c.label !== "Plan") : columns} id={(s) => s.id} noun="slice" head={head} sort={worstFirst} empty={empty ?? { title: "No slice", text: "A plan is cut into slices when it is made.", command: "patra plans" }} />;
}

export function TaskList({ params, head, label = "Tasks", empty, limit }: Props) {
  const list = useList<Task>(["tasks"], "/tasks", params, { limit });
  const columns: Column<Task>[] = [
    { label: "Task", cell: (t) => <Link to={`/tasks/${t.id}`}>{t.id}</Link> },
    { label: "State", cell: (t) => <StatusBadge state={t.status} title={t.wait_code} /> },
    { label: "Source", cell: sourceCell },
    { label: "Window", cell: (t) => span(t.window), nowrap: true },
    { label: "Attempts", cell: (t) => <><Num value={t.attempt_count} to={`/runs?task=${t.id}`} /><span className="dim"> of {t.max_attempts}</span></>, right: true, nowrap: true },
    { label: "Due", cell: (t) => (t.status === "QUEUED" ? <Time at={t.scheduled_at} none="now" /> : <span className="dim">–</span>) },
    { label: "Last error", cell: (t) => t.last_error ? <FaultText fault={t.last_error} /> : t.wait_code ? <span className="dim">waits: {t.wait_code.toLowerCase()}</span> : <span className="dim">–</span> },
  ];
  return <DataList label={label} list={list} columns={columns} id={(t) => t.id} noun="task" head={head} sort={worstFirst} empty={empty ?? { title: "No task", text: "Tasks are made with a plan, one for each slice.", command: "patra plan harvest crossref" }} />;
}

export function RunList({ params, head, label = "Runs", empty, limit }: Props) {
  const list = useList<Run>(["tasks", "batches"], "/runs", params, { limit });
  const columns: Column<Run>[] = [
    { label: "Run", cell: (r) => <Link to={`/runs/${r.id}`}>{r.id}</Link> },
    { label: "State", cell: (r) => <StatusBadge state={r.status} /> },
    { label: "Task", cell: (r) => <><Link to={`/tasks/${r.task_id}`}>{r.task_id}</Link><span className="dim">, attempt {r.attempt_no}</span></>, nowrap: true },
    { label: "Window", cell: (r) => span(r.window), nowrap: true },
    { label: "Pages", cell: (r) => <Num value={r.stats?.pages ?? 0} to={`/batches?run=${r.id}`} />, right: true },
    { label: "Records", cell: (r) => count(r.stats?.records ?? 0), right: true },
    { label: "Began", cell: (r) => <Time at={r.started_at} /> },
    { label: "Took", cell: (r) => took(r.started_at, r.finished_at), right: true, nowrap: true },
    { label: "Error", cell: (r) => <FaultText fault={r.error} /> },
  ];
  return <DataList label={label} list={list} columns={columns} id={(r) => r.id} noun="run" head={head} empty={empty ?? { title: "No run yet", text: "A run begins when a worker takes a task:", command: "patra serve" }} />;
}

export function BatchList({ params, head, label = "Pages read", empty, limit }: Props) {
  const list = useList<Batch>(["batches"], "/batches", params, { limit });
  const columns: Column<Batch>[] = [
    { label: "Page", cell: (b) => <Link to={`/batches/${b.id}`}>{b.id}</Link> },
    { label: "State", cell: (b) => <StatusBadge state={b.status} /> },
    { label: "Source", cell: sourceCell },
    { label: "Run", cell: (b) => <Link to={`/runs/${b.run_id}`}>{b.run_id}</Link> },
    { label: "Number", cell: (b) => `${b.phase.toLowerCase()} ${b.ordinal}`, nowrap: true },
    { label: "Records", cell: (b) => count(b.record_count), right: true },
    { label: "New", cell: (b) => count(b.counts?.insert), right: true },
    { label: "Changed", cell: (b) => count(b.counts?.update), right: true },
    { label: "Quarantined", cell: (b) => <Num value={b.counts?.quarantine ?? 0} to={`/quarantine?source=${b.source}`} />, right: true },
    { label: "Asked", cell: (b) => <Time at={b.started_at} /> },
    { label: "Took", cell: (b) => took(b.started_at, b.committed_at), right: true, nowrap: true },
    { label: "Error", cell: (b) => <FaultText fault={b.error} /> },
  ];
  return <DataList label={label} list={list} columns={params?.run ? columns.filter((c) => !["Run", "Source"].includes(c.label)) : columns} id={(b) => b.id} noun="page" head={head} empty={empty ?? { title: "No page yet", text: "Every answer of a provider is one row here.", command: "patra serve" }} />;
}
