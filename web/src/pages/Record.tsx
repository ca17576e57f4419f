import { useState } from "react";
import { Button, NativeSelect, Skeleton, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link, useParams, useSearchParams } from "react-router";
import { send, type ApiError } from "../api/client";
import { useGet } from "../api/hooks";
import { recordLink, recordPath, type Account, type RecordRow, type SetAside, type Signal, type Version } from "../api/records";
import type { Page } from "../api/types";
import { Async } from "../components/Async";
import { ConfirmAction } from "../components/ConfirmAction";
import { Rows } from "../components/DataList";
import { compare, itemOf, plain } from "../components/diff";
import { useEvidence } from "../components/evidence";
import { DiffView } from "../components/DiffView";
import { Facts } from "../components/Facts";
import { FieldList } from "../components/FieldList";
import { JsonView } from "../components/JsonView";
import { LineageLinks } from "../components/LineageLinks";
import { Empty, ErrorNote, Note } from "../components/Notes";
import { PageHead } from "../components/PageHead";
import { StatusBadge } from "../components/StatusBadge";
import { Time } from "../components/Time";
import { Title, unmarked } from "../components/Title";
import { standing } from "./Records";

const reasons = ["MANUAL", "RETRACTED", "ERRATUM", "MERGED", "MISSING_FIELD", "STALE"];

export default function Record() {
  const { source = "", type = "", id = "" } = useParams();
  const repository = useSearchParams()[0].get("repository") ?? "";
  const path = recordPath({ source, record_type: type, id });
  const record = useGet<RecordRow>(["records"], path, { repository }, { retry: false });
  const r = record.data;
  const gone = record.error && "status" in record.error && record.error.status === 404;
  const title = r ? plain(r.fields?.title) || id : id;
  return (
    <div className="stack">
      <PageHead title={unmarked(title).slice(0, 300)} shown={title.length > 300 ? title.slice(0, 300) + "…" : <Title text={title} />} crumbs={[["Records", "/records"], [source, `/records?source=${encodeURIComponent(source)}`]]}
        badge={r ? standing(r).map((s) => <StatusBadge key={s} state={s} />) : null} actions={<LookAgain source={source} type={type} id={id} repository={r?.repository ?? repository} />}>
        <span className="mono">{id}</span>
      </PageHead>
      {gone ? <Note tone="warn"><p>This record is not in the store.</p><p className="dim">Below is what is known about it all the same.</p></Note> : record.error ? <ErrorNote error={record.error} retry={() => void record.refetch()} /> : null}
      {r ? <Current record={r} /> : null}
      {r ? <History path={path} id={id} repository={repository} /> : null}
      <Biography path={path} source={source} repository={repository} />
      {r ? <Raw raw={r.raw} /> : null}
    </div>
  );
}

function Current({ record: r }: { record: RecordRow }) {
  return (
    <>
      <section className="card" aria-label="Facts">
        <Facts items={[
          ["Source", <Link key="s" to={`/sources/${encodeURIComponent(r.source)}`}>{r.source}</Link>], ["Repository", r.repository ? <span className="mono">{r.repository}</span> : null], ["Type", r.record_type], ["Version", String(r.rev)], ["Changed by the provider", <Time key="u" at={r.updated_at} none="not said" />],
          ["First seen", <Time key="f" at={r.first_seen} />], ["Last seen", <Time key="l" at={r.last_seen} />], ["Merged into", r.merged_into ? <Link to={recordLink({ ...r, id: r.merged_into })}>{r.merged_into}</Link> : null], ["Missing since", r.missing_since ? <span><Time at={r.missing_since} /> <span className="dim">refused {r.refusals === 1 ? "once" : `${r.refusals ?? 1} times`}</span></span> : null], ["Gone since", r.gone_at ? <Time at={r.gone_at} /> : null],
          ["Brought by", r.lineage ? <LineageLinks lineage={r.lineage} /> : null],
        ]} />
      </section>
      <section className="card" aria-label="Fields"><div className="card-head"><h2>Fields</h2></div><FieldList fields={r.fields ?? {}} /></section>
    </>
  );
}

/** History lists the versions, and compares two of them field by field. */
function History({ path, id, repository }: { path: string; id: string; repository: string }) {
  const got = useGet<Page<Version> | Version[]>(["records"], `${path}/history`, { repository });
  const versions = [...(Array.isArray(got.data) ? got.data : (got.data?.items ?? []))].sort((a, b) => b.rev - a.rev);
  return (
    <section className="card flush">
      <div className="card-head"><h2>History</h2><span className="dim small">every version, and the work that brought it</span></div>
      <Async query={got}>
        {() => (
          <>
            <Rows label="Versions" rows={versions} id={(v) => v.rev} columns={[
              { label: "Version", cell: (v) => v.rev }, { label: "Change", cell: (v) => v.change.toLowerCase() }, { label: "Why it stayed", cell: (v) => v.why ?? "–" },
              { label: "Asked", cell: (v) => <Time at={v.observed_at} /> }, { label: "Provider's time", cell: (v) => <Time at={v.updated_at} none="not said" /> },
              { label: "Content", cell: (v) => v.content_sha256 ? <code title={v.content_sha256}>{v.content_sha256.slice(0, 8)}</code> : "–", nowrap: true },
              { label: "Brought by", cell: (v) => <LineageLinks lineage={v.lineage ?? { batch: v.batch_id }} /> },
            ]} />
            {versions.length > 1 ? <Compare versions={versions} id={id} /> : null}
          </>
        )}
      </Async>
    </section>
  );
}

function Compare({ versions, id }: { versions: Version[]; id: string }) {
  const [a, setA] = useState(String(versions[1]!.rev));
  const [b, setB] = useState(String(versions[0]!.rev));
  const of = (rev: string) => versions.find((v) => String(v.rev) === rev)!;
  const data = versions.map((v) => ({ value: String(v.rev), label: `version ${v.rev}` }));
  return (
    <div className="card-body stack tight">
      <div className="filters"><NativeSelect label="Compare" size="xs" data={data} value={a} onChange={(e) => setA(e.currentTarget.value)} /><NativeSelect label="with" size="xs" data={data} value={b} onChange={(e) => setB(e.currentTarget.value)} /></div>
      {a === b ? <p className="dim">Choose two different versions.</p> : <FromBlackBox key={`${a} ${b}`} was={of(a)} is={of(b)} id={id} />}
    </div>
  );
}

/** FromBlackBox compares what the provider sent then and later: only the newest version is in the store, the pages of all of them are kept as evidence. */
function FromBlackBox({ was, is, id }: { was: Version; is: Version; id: string }) {
  const reason = `comparing versions ${was.rev} and ${is.rev} of ${id}`.slice(0, 900);
  const ask = useMutation<[Exchange, Exchange], ApiError>({ mutationFn: async () => [await send<Exchange>("POST", `/batches/${was.batch_id}/exchange`, { reason }), await send<Exchange>("POST", `/batches/${is.batch_id}/exchange`, { reason })] });
  const sees = useEvidence();
  if (ask.error) return <ErrorNote error={ask.error} retry={() => ask.mutate()} />;
  if (ask.isPending) return <Skeleton height={80} role="status" aria-label="Loading" />;
  if (!ask.data) return <div className="row"><Button size="compact-sm" variant="default" disabled={!sees} title={sees ? undefined : "needs the grant evidence"} onClick={() => ask.mutate()}>Compare field by field</Button><span className="dim small">{sees ? "from the stored answers; that you look is written into the audit log" : "To see what providers answered, your token needs the grant evidence."}</span></div>;
  const [left, right] = ask.data;
  const [x, y] = [left, right].map((e) => found(e, id));
  if (!x || !y) return <Note tone="warn"><p>The record was not found in the answer{!x && !y ? "s" : ` of version ${!x ? was.rev : is.rev}`}: {[left, right].some((e) => e.truncated) ? "it is too long to be shown here." : [left, right].find((e) => e.said)?.said ?? "it is no JSON, or names the record otherwise."}</p><p className="small">The pages are here: <Link to={`/batches/${was.batch_id}`}>version {was.rev}</Link>, <Link to={`/batches/${is.batch_id}`}>version {is.rev}</Link>.</p></Note>;
  return <DiffView label={`Version ${was.rev} and ${is.rev}`} was={`version ${was.rev}`} is={`version ${is.rev}`} changes={compare(x, y)} none="What was sent is the same: it was read by another mapping." />;
}

interface Exchange { body: string; truncated: boolean; said?: string }
function found(e: Exchange, id: string): unknown {
  try { return itemOf(JSON.parse(e.body), id); } catch { return undefined; }
}

const tones: { [state: string]: "good" | "busy" | "warn" | "wait" } = { READ: "good", LIVE: "busy", GAP: "warn", BEFORE: "wait", AFTER: "wait" };

/** Biography is what is known about the record, also about one that nobody has seen. */
function Biography({ path, source, repository }: { path: string; source: string; repository: string }) {
  const [date, setDate] = useState("");
  const got = useGet<Account>(["records", "quarantine", "cursors"], `${path}/why`, { date, repository });
  const unseen = got.data?.verdict.includes("--date");
  return (
    <section className="card" aria-label="Biography">
      <div className="card-head"><h2>Why it is here, or is not</h2></div>
      <Async query={got}>
        {(w) => (
          <div className="stack">
            <p>{w.verdict.replace("Say with --date when", "Say below when")}</p>
            {unseen || date ? <form className="filters" onSubmit={(e) => { e.preventDefault(); setDate(String(new FormData(e.currentTarget).get("date")).trim()); }}><TextInput name="date" label="Changed by the provider on" size="xs" placeholder="2026-11-01" defaultValue={date} /><Button type="submit" size="xs" variant="default">Look there</Button></form> : null}
            {w.windows?.length ? <ul className="bare">{w.windows.map((p) => <li key={p.cursor.id} className="row"><span className="badge" data-tone={tones[p.state] ?? "wait"}>{p.state.toLowerCase()}</span><Link to={`/cursors/${p.cursor.id}`}>{p.cursor.endpoint} {p.cursor.operation.toLowerCase()}</Link><span>{p.text}</span>{p.answer?.slice_id ? <Link to={`/slices/${p.answer.slice_id}`}>slice {p.answer.slice_id}</Link> : null}</li>)}</ul> : null}
            {w.quarantine?.length ? <Aside items={w.quarantine} source={source} /> : null}
            {w.signals?.length ? <Asked signals={w.signals} /> : null}
            {!w.windows?.length && !w.quarantine?.length && !w.signals?.length ? <p className="dim small">No window, quarantined item or wish to look again is known under its id.</p> : null}
          </div>
        )}
      </Async>
    </section>
  );
}

function Aside({ items, source }: { items: SetAside[]; source: string }) {
  return <div><h3>In quarantine under its id</h3><ul className="bare">{items.map((q) => <li key={q.id} className="row"><StatusBadge state={q.status} /><Link to={`/quarantine/${q.id}`}>item {q.id}</Link><code>{q.code}</code><span className="dim">{q.path}</span></li>)}</ul><Link className="small" to={`/quarantine?source=${encodeURIComponent(source)}`}>all of this source</Link></div>;
}
function Asked({ signals }: { signals: Signal[] }) {
  return <div><h3>Wishes to look again</h3><ul className="bare">{signals.map((s) => <li key={s.id} className="row"><StatusBadge state={s.status} /><span>{s.reason.toLowerCase().replaceAll("_", " ")}</span><Time at={s.created_at} />{s.plan_id ? <Link to={`/plans/${s.plan_id}`}>plan {s.plan_id}</Link> : null}</li>)}</ul></div>;
}

function Raw({ raw }: { raw: unknown }) {
  return <section className="card" aria-label="Raw"><div className="card-head"><h2>As the provider sent it</h2></div>{raw === undefined || raw === null ? <Empty title="Not shown">The raw record is not in the answer: it is not kept, or your token needs the grant evidence.</Empty> : <JsonView label="Raw record" value={raw} />}</section>;
}

function LookAgain({ source, type, id, repository }: { source: string; type: string; id: string; repository: string }) {
  const [kind, setKind] = useState("MANUAL");
  return <ConfirmAction label="Look again" path="/signals" body={{ source, ids: [id], kind, ...(type && type !== "-" ? { record_type: type } : {}), ...(repository ? { repository } : {}) }} reason="none" what="The record is noted to be fetched again by its id. The next update by signals works through what is noted."
    fields={<NativeSelect label="Why" data={reasons.map((v) => ({ value: v, label: v.toLowerCase().replaceAll("_", " ") }))} value={kind} onChange={(e) => setKind(e.currentTarget.value)} />} />;
}
