import { Link } from "react-router";
import { useList } from "../api/hooks";
import type { Batch, Run } from "../api/types";
import { FaultText } from "./FaultText";
import { count, plural, took } from "./format";
import { Empty, ErrorNote, Note } from "./Notes";
import { look } from "./state";
import { StatusBadge } from "./StatusBadge";
import { Time } from "./Time";
import { Button, Skeleton } from "@mantine/core";

/** Timeline shows the attempts of a task and the pages of each, newest first; the page that failed last stands above all. */
export function Timeline({ task, run }: { task: number; run?: number }) {
  const of = run ? { run } : { task };
  const runs = useList<Run>(["tasks", "batches"], "/runs", of, { limit: 100 });
  const pages = useList<Batch>(["batches"], "/batches", of, { limit: 200 });
  const error = runs.error ?? pages.error;
  if (error) return <ErrorNote error={error} retry={() => { void runs.refetch(); void pages.refetch(); }} />;
  if (!runs.data || !pages.data) return <Skeleton height={160} role="status" aria-label="Loading" />;
  const failing = [...pages.data].filter((b) => b.status === "FAILED").sort((a, b) => b.id - a.id)[0];
  const mended = failing && pages.data.some((b) => b.status === "SUCCEEDED" && b.scan_no === failing.scan_no && b.phase === failing.phase && b.ordinal === failing.ordinal);
  return (
    <section className="stack" aria-label="Timeline">
      {failing ? (
        <Note state={mended ? "WARNING" : "FAILED"}>
          <p><b>{mended ? "A page failed and was read later" : "The failing page"}:</b> <Link to={`/batches/${failing.id}`}>page {failing.id}</Link> ({failing.phase.toLowerCase()} {failing.ordinal}), <Time at={failing.started_at} /></p>
          <p><FaultText fault={failing.error} /></p>
        </Note>
      ) : null}
      <div className="card flush">
        <div className="card-head"><h2>Timeline</h2><span className="dim small">{plural(runs.data.length, "attempt")}, {plural(pages.data.length, "page")}{pages.hasNextPage ? " shown" : ""}, failed and newest first</span></div>
        {runs.data.length === 0 ? <Empty title="Nobody has begun it yet" command="patra serve">A worker takes it from the queue:</Empty> : null}
        <ol className="timeline">
          {runs.data.map((r) => <Attempt key={r.id} run={r} pages={pages.data.filter((b) => b.run_id === r.id)} />)}
        </ol>
        {pages.hasNextPage ? <div className="list-foot"><Button size="compact-sm" variant="default" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>Show older pages</Button></div> : null}
      </div>
    </section>
  );
}

function Attempt({ run: r, pages }: { run: Run; pages: Batch[] }) {
  const sorted = [...pages].sort((a, b) => Number(b.status === "FAILED") - Number(a.status === "FAILED") || b.id - a.id);
  return (
    <li data-tone={look(r.status).tone}>
      <div className="row"><b><Link to={`/runs/${r.id}`}>Run {r.id}</Link></b><StatusBadge state={r.status} /><span className="dim">attempt {r.attempt_no}, <Time at={r.started_at} />{r.finished_at ? `, took ${took(r.started_at, r.finished_at)}` : ""}{r.stats?.records !== undefined ? `, ${count(r.stats.records)} records` : ""}</span></div>
      {r.error ? <p><FaultText fault={r.error} /></p> : null}
      {sorted.length ? (
        <ol className="pages">
          {sorted.map((b) => (
            <li key={b.id} data-tone={look(b.status).tone}>
              <Link to={`/batches/${b.id}`}>{b.phase.toLowerCase()} {b.ordinal}</Link>
              <StatusBadge state={b.status} />
              <span className="num">{count(b.record_count)} records</span>
              <span className="dim num">{took(b.started_at, b.committed_at)}</span>
              {b.end_code ? <span className="dim small">{b.end_code.toLowerCase().replaceAll("_", " ")}</span> : null}
              {b.error && b.error.text !== r.error?.text ? <span className="small"><FaultText fault={b.error} /></span> : null}
            </li>
          ))}
        </ol>
      ) : null}
    </li>
  );
}
