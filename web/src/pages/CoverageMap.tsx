import { Link } from "react-router";
import { useCoverage } from "../api/coverage";
import { useList } from "../api/hooks";
import type { Cursor } from "../api/types";
import { Async } from "../components/Async";
import { Narrowed, SourceFilter, useFilters } from "../components/Filters";
import { instant, plural, span } from "../components/format";
import { Empty, ErrorNote } from "../components/Notes";
import { PageHead } from "../components/PageHead";
import { Legend } from "../coverage/Legend";
import { FillGap } from "../coverage/Picked";
import { ahead } from "../coverage/state";
import { Strip } from "../coverage/Strip";

export default function CoverageMap() {
  const { source } = useFilters("source");
  const cursors = useList<Cursor>(["cursors"], "/cursors", { source }, { limit: 100 });
  const rows = (cursors.data ?? []).filter((c) => !source || c.source === source);
  return (
    <div className="stack">
      <PageHead title="Coverage">What is proved to be complete, and what is missing. A line is one query of one source.</PageHead>
      <div className="filters"><SourceFilter /><Narrowed names={[]} /></div>
      <section className="card"><Legend /></section>
      {cursors.error ? <ErrorNote error={cursors.error} retry={() => void cursors.refetch()} /> : null}
      {cursors.data && rows.length === 0 ? <section className="card"><Empty title="Nothing is covered yet" command="patra harvest crossref --from 2026-11-01 --to 2026-11-03">The map begins with the first harvest:</Empty></section> : null}
      {rows.map((c) => <Line key={c.id} cursor={c} />)}
    </div>
  );
}

function Line({ cursor: c }: { cursor: Cursor }) {
  const got = useCoverage(c.id, 15_000);
  const rest = ahead(got.data?.segments ?? []);
  const gaps = got.data?.segments?.filter((s) => s.state === "GAP") ?? [];
  return (
    <section className="card stack tight" aria-label={`Coverage of cursor ${c.id}`}>
      <div className="row between">
        <div className="row"><h2><Link to={`/cursors/${c.id}`}>{c.source}/{c.endpoint} {c.operation.toLowerCase()}</Link></h2><span className="dim small">{c.repository ? <><span className="mono">{c.repository}</span>, </> : null}{c.query ? <code>{c.query}</code> : "everything"}, by {c.cursor_key}, cursor {c.id}{c.campaign ? `, campaign ${c.campaign}` : ""}</span></div>
        <span className="row small"><span>complete through <b>{instant(c.complete_through)}</b></span>{gaps.length ? <Link to={`/cursors/${c.id}?from=${gaps[0]!.from}&to=${gaps[0]!.to}`}>{plural(gaps.length, "gap")}</Link> : null}</span>
      </div>
      <Async query={got} height={40}>{(d) => <Strip coverage={d} />}</Async>
      {gaps.length === 1 ? <div className="row small"><span>missing: {span(gaps[0]!)}</span><FillGap cursor={c} missing={gaps[0]!} /></div> : null}
      {rest ? <div className="row small"><span className="dim">not read yet: {span(rest)}; the next harvest begins there</span><FillGap cursor={c} missing={rest} label="Read it now" variant="default" /></div> : null}
    </section>
  );
}
