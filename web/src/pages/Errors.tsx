import { Link, useSearchParams } from "react-router";
import { useList } from "../api/hooks";
import type { ErrorGroup } from "../api/gates";
import { DataList, type Column } from "../components/DataList";
import { count } from "../components/format";
import { Meter } from "../components/Meter";
import { PageHead } from "../components/PageHead";
import { Time } from "../components/Time";
import { sourceCell } from "../components/work";

const ages = [["1h", "hour"], ["24h", "day"], ["168h", "week"], ["720h", "month"]] as const;
const levels: Record<string, string> = { L1: "may go well later", L2: "asking again changes nothing", L3: "one record is unusable", L4: "stops until a person acts" };
// What a kind of error means, where its level says too little: an answer that does not fit the source file is asked for again, in
// case it was broken on its way, but if it stays so, the provider has changed.
const codes: Record<string, string> = { SCHEMA: "the answer is not what the source file describes: if it stays so, mend the file" };

export default function Errors() {
  const [params, set] = useSearchParams();
  const age = params.get("since") ?? "24h";
  const since = new Date(Math.floor((Date.now() - parseInt(age) * 3_600_000) / 60_000) * 60_000).toISOString();
  const list = useList<ErrorGroup>(["batches", "tasks"], "/errors/top", { since }, { limit: 50 });
  const most = Math.max(1, ...(list.data ?? []).map((e) => e.count));
  const columns: Column<ErrorGroup>[] = [
    { label: "How often", cell: (e) => <div className="meter-cell"><span className="num">{count(e.count)}</span><Meter value={e.count} most={most} label={`${e.code}: how often`} tone="bad" /></div> },
    { label: "What went wrong", cell: (e) => <><code>{e.code}</code>{e.level ? <span className="dim small"> {codes[e.code] ?? levels[e.level] ?? e.level}</span> : null}{e.example?.text ? <div className="small clamp"><bdi>{e.example.text}</bdi></div> : null}</> },
    { label: "Source", cell: sourceCell },
    { label: "Last", cell: (e) => <Time at={e.last_at} /> },
    { label: "An example", cell: (e) => <span className="row">{e.example?.batch ? <Link to={`/batches/${e.example.batch}`}>page {e.example.batch}</Link> : null}{e.example?.task ? <Link to={`/tasks/${e.example.task}`}>task {e.example.task}</Link> : null}{!e.example?.batch && !e.example?.task ? <span className="dim">–</span> : null}</span>, nowrap: true },
    { label: "All", cell: (e) => <Link to={`/batches?source=${encodeURIComponent(e.source)}&status=FAILED`}>failed pages</Link>, nowrap: true },
  ];
  return (
    <div className="stack">
      <PageHead title="Errors">What went wrong most often. Most of it heals by itself; what does not is under <Link to="/alerts">alerts</Link>.</PageHead>
      <DataList label="Errors" list={list} columns={columns} id={(e) => `${e.source}/${e.endpoint}/${e.code}/${e.level}`} noun="kind of error" nouns="kinds of errors" sort={(a, b) => b.count - a.count}
        head={<><h2>Most frequent</h2><span className="row small">{ages.map(([v, word]) => v === age ? <b key={v}>last {word}</b> : <button key={v} type="button" className="chip" onClick={() => set({ since: v }, { replace: true })}>last {word}</button>)}</span></>}
        empty={{ title: "Nothing went wrong in this time" }} />
    </div>
  );
}
