import { Link, useSearchParams } from "react-router";
import { useGet, useList } from "../api/hooks";
import type { Page } from "../api/types";
import { gatePath, type Control, type Gate, type Manners } from "../api/gates";
import { DataList, Rows, type Column } from "../components/DataList";
import { bytes, count, lasting, plural } from "../components/format";
import { quotaText, rate, remarks, waiting } from "../components/manners";
import { Meter } from "../components/Meter";
import { Empty, ErrorNote } from "../components/Notes";
import { Narrowed } from "../components/Filters";
import { PageHead } from "../components/PageHead";
import { Time } from "../components/Time";

/** speed is what is given out now: nothing while everybody waits. */
export const speed = (g: Gate) => (g.cooldown_until ? 0 : g.per_second);
const busy = (g: Gate) => g.used || g.last_hour.requests > 0 || g.tasks.waiting + g.tasks.running > 0;

/** useHeld is whose work is held back altogether: a source, or one of its endpoints. */
export const useHeld = (): string[] => (useGet<Page<Control>>(["controls"], "/controls").data?.items ?? []).filter((c) => ["PAUSE", "HALT", "BREAKER"].includes(c.kind)).map((c) => c.key ?? "");

export default function Gates() {
  const [params] = useSearchParams();
  const source = params.get("source") ?? "";
  const list = useList<Gate>(["gates", "tasks", "batches"], "/gates", undefined, { limit: 0 });
  const all = list.data?.filter((g) => !source || g.key === source || (g.shared_by ?? []).some((s) => s === source || s.startsWith(source + "/")));
  const used = all?.filter((g) => busy(g) || source), idle = all?.filter((g) => !busy(g) && !source) ?? [];
  return (
    <div className="stack">
      <PageHead title="Rate & quota">How fast each provider is asked now, and why not faster. Every request is charged here before it leaves.</PageHead>
      {source ? <div className="row"><Narrowed names={["source"]} /></div> : null}
      <DataList label="Gates" list={{ ...list, data: used } as typeof list} columns={columnsOf(useHeld())} id={(g) => g.key} noun="key" sort={(a, b) => remarks(b).length - remarks(a).length || b.last_hour.requests - a.last_hour.requests || a.key.localeCompare(b.key)}
        empty={{ title: "Nobody was asked yet", text: "A gate begins to count with the first request of a harvest:", command: "patra harvest crossref --from 2026-11-01 --to 2026-11-03" }} />
      {idle.length ? <p className="small dim">never asked: {idle.map((g, i) => <span key={g.key}>{i ? ", " : ""}<Link to={gatePath(g.key)}>{g.key}</Link></span>)}</p> : null}
      <Politeness />
    </div>
  );
}

const columnsOf = (held: readonly string[]): Column<Gate>[] => [
  { label: "Key", cell: (g) => <><Link to={gatePath(g.key)}>{g.key}</Link>{g.shared_by?.length ? <div className="dim small">{g.shared_by.join(", ")}</div> : null}</> },
  { label: "Allowed now", cell: (g) => <div className="meter-cell"><span className="num">{rate(speed(g))} of {rate(g.permitted.per_second)} a second</span><Meter value={speed(g)} most={g.permitted.per_second} label={`${g.key}: allowed now`} tone={speed(g) === 0 ? "bad" : speed(g) < g.permitted.per_second ? "warn" : "good"} /></div> },
  { label: "Used, last minute", cell: (g) => <div className="meter-cell"><span className="num">{count(g.last_minute.requests)} of {count(Math.round(g.permitted.per_second * 60))}{g.last_minute.refused ? `, ${g.last_minute.refused} refused` : ""}</span><Meter value={g.last_minute.requests} most={g.permitted.per_second * 60} label={`${g.key}: used in the last minute`} /></div> },
  { label: "Last hour", cell: (g) => <>{count(g.last_hour.requests)}{g.last_hour.refused ? <div className="small">{count(g.last_hour.refused)} refused</div> : null}</>, right: true },
  { label: "On the way", cell: (g) => `${g.on_the_way}${g.concurrency ? ` of ${g.concurrency}` : ""}`, right: true, nowrap: true },
  { label: "Quota", cell: (g) => g.quotas?.length ? <div className="stack tight">{g.quotas.map((q) => <div key={q.window} className="meter-cell" title={quotaText(q)}><span className="num">{count(q.used)} of {count(q.usable)} {q.window.toLowerCase()}</span><Meter value={q.used} most={q.usable} label={quotaText(q)} tone={q.used >= q.usable ? "bad" : q.lasts ? "good" : "warn"} /></div>)}</div> : <span className="dim">none</span> },
  { label: "Who waits, and why", cell: (g) => <div className="stack tight small"><span>{waiting(g, held)}</span>{remarks(g).map((r) => <span key={r}>{r}</span>)}</div> },
];

const ages = [["24h", "day"], ["7d", "week"], ["30d", "month"]] as const;

/** Politeness is what a provider could hold against us, and what could be answered. */
function Politeness() {
  const [params, set] = useSearchParams();
  const since = params.get("since") ?? "24h";
  const list = useList<Manners>(["gates"], "/politeness", { since }, { limit: 0 });
  const rows = list.data ?? [];
  return (
    <section className="card flush">
      <div className="card-head"><h2>How polite we were</h2><span className="row small">{ages.map(([v, word]) => v === since ? <b key={v}>last {word}</b> : <button key={v} type="button" className="chip" onClick={() => set((p) => { p.set("since", v); return p; }, { replace: true })}>last {word}</button>)}</span></div>
      {list.error ? <ErrorNote error={list.error} retry={() => void list.refetch()} /> : null}
      {list.data && rows.length === 0 ? <Empty title="Nobody was asked in this time" /> : null}
      {rows.length ? <Rows label="Politeness" rows={rows} id={(m) => m.key} columns={[
        { label: "Key", cell: (m) => <Link to={gatePath(m.key)}>{m.key}</Link> },
        { label: "Requests", cell: (m) => <>{count(m.requests)}<div className="dim small">{bytes(m.bytes)}</div></>, right: true },
        { label: "Refused", cell: (m) => { const n = m.refused_429 + m.refused_503; return n ? <>{count(n)}<div className="small">{(100 * m.refused_share).toFixed(1)} %</div></> : <span className="dim">none</span>; }, right: true },
        { label: "Busiest second", cell: (m) => peak(m.peak_second, m.permitted_in_a_second, m.peak_second_at) },
        { label: "Busiest minute", cell: (m) => peak(m.peak_minute, m.permitted_in_a_minute, m.peak_minute_at) },
        { label: "Asked to wait", cell: (m) => m.cooldowns ? <>{plural(m.cooldowns, "time")}<div className="small">{m.sent_inside_cooldown ? <b>{count(m.sent_inside_cooldown)} sent all the same</b> : "and we did"}</div></> : <span className="dim">never</span> },
        { label: "We waited", cell: (m) => <>{m.waited_seconds < 60 ? `${m.waited_seconds.toFixed(1)} s` : lasting(m.waited_seconds)}<div className="dim small">{m.waited_mean_seconds.toFixed(2)} s a request</div></>, right: true },
        { label: "We say who we are", cell: (m) => m.identity?.length ? <div className="small">{m.identity.map((i) => <div key={i.where + i.name}><span className="dim">{i.name}</span> {i.value}</div>)}</div> : <span className="dim">–</span> },
      ]} /> : null}
    </section>
  );
}

const peak = (n: number, most: number, at?: string) => <>{count(n)}{most ? <span className="dim"> of {count(most)}</span> : null}{n > most && most ? <b> too many</b> : null}<div className="dim small"><Time at={at} none="" /></div></>;
