import { useState, type FormEvent } from "react";
import { Button, Checkbox, NativeSelect, TextInput } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { Link, useSearchParams } from "react-router";
import { url } from "../api/client";
import { useGet, useList } from "../api/hooks";
import { recordLink, recordPath, type RecordRow } from "../api/records";
import type { Overview } from "../api/types";
import { DataList, type Column } from "../components/DataList";
import { Empty } from "../components/Notes";
import { PageHead } from "../components/PageHead";
import { plain } from "../components/diff";
import { StatusBadge } from "../components/StatusBadge";
import { Time } from "../components/Time";
import { Title } from "../components/Title";

/** standing names what is odd about a record; most have nothing. */
export const standing = (r: RecordRow): string[] => [r.deleted && !r.merged_into ? "DELETED" : "", r.merged_into ? "MERGED" : "", r.retracted ? "RETRACTED" : "", r.gone_at ? "GONE" : r.missing_since ? "MISSING" : ""].filter(Boolean);

const columns: Column<RecordRow>[] = [
  { label: "Record", cell: (r) => <div className="clip-lines"><Link to={recordLink(r)}><Title text={plain(r.fields?.title) || r.id} /></Link><div className="dim small mono">{r.id}</div></div> },
  { label: "Source", cell: (r) => <><Link to={`/sources/${encodeURIComponent(r.source)}`}>{r.source}</Link><span className="dim">/{r.record_type}</span>{r.repository ? <div className="dim small mono">{r.repository}</div> : null}</>, nowrap: true },
  { label: "Versions", cell: (r) => r.rev, right: true },
  { label: "Standing", cell: (r) => standing(r).length ? <span className="row">{standing(r).map((s) => <StatusBadge key={s} state={s} />)}</span> : <span className="dim">–</span> },
  { label: "Changed by the provider", cell: (r) => <Time at={r.updated_at} none="not said" /> },
  { label: "Changed here", cell: (r) => <Time at={r.changed_at ?? r.last_seen} /> },
];

export default function Records() {
  const [params, set] = useSearchParams();
  const where = params.getAll("where");
  const asked = { source: params.get("source") ?? "", type: params.get("type") ?? "", id: params.get("id") ?? "", where, changed_since: params.get("changed_since") ?? "", deleted: params.get("deleted") === "true", missing: params.get("missing") === "true", gone: params.get("gone") === "true" };
  const blind = !asked.source && (asked.id !== "" || asked.changed_since !== ""); // there is no index of ids over all sources
  const list = useList<RecordRow>(["records"], "/records", asked, { enabled: !blind });
  const narrowed = Object.values(asked).some((v) => (Array.isArray(v) ? v.length > 0 : v));
  return (
    <div className="stack">
      <PageHead title="Records" actions={asked.id ? null : <span className="row small"><IconDownload size={16} aria-hidden />take these as <a download href={href(asked, "jsonl")}>JSON lines</a> or <a download href={href(asked, "csv")}>CSV</a></span>}>Find records by what they say and when they changed.</PageHead>
      <Ask key={params.toString()} params={params} set={(p) => set(p)} />
      {blind ? <WhichSource params={params} /> : list.data?.length === 0 && list.hasNextPage ? <section className="card"><Empty title="None so far">Many records were looked at, and there are more.</Empty><div className="empty"><Button size="compact-sm" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>Look further</Button></div></section> : <DataList label="Records" list={list} columns={columns} id={(r) => `${r.source}/${r.record_type}/${r.repository ?? ""}/${r.id}`} noun="record"
        empty={narrowed ? { title: "No record is like that", text: <>Take a condition away to see more. For one that you miss, its page tells <Why asked={asked} /></> } : { title: "There is no record yet", text: "Harvest a few days of one source:", command: "patra harvest crossref --from 2026-11-01 --to 2026-11-03" }} />}
    </div>
  );
}

/** WhichSource asks for what is missing: ids and changes are found source by source. */
function WhichSource({ params }: { params: URLSearchParams }) {
  const sources = useGet<Overview>(["records"], "/overview").data?.sources ?? [];
  const to = (code: string) => { const p = new URLSearchParams(params); p.set("source", code); return { search: p.toString() }; };
  return <section className="card"><Empty title="In which source?">{params.get("id") ? <>Where is <b className="mono">{params.get("id")}</b>? </> : null}Ids and changes are found source by source.</Empty><div className="row centre">{sources.map((s) => <Link key={s.code} to={to(s.code)}>{s.code}</Link>)}</div></section>;
}

type Asked = { source: string; type: string; id: string; where: string[]; changed_since: string; deleted: boolean; missing: boolean; gone: boolean };
const href = ({ source, type, where, changed_since, deleted, missing, gone }: Asked, format: string) => url("/records/export", { source, type, where, changed_since, deleted: deleted ? "only" : "", missing, gone: gone ? "only" : "", format });

function Why({ asked }: { asked: { source: string; type: string; id: string } }) {
  if (!asked.source || !asked.id) return <>why it is not here: say its source and its id.</>;
  return <Link to={recordPath({ source: asked.source, record_type: asked.type || "-", id: asked.id })}>why {asked.id} is not here</Link>;
}

/** Ask keeps the question in the address, so that it can be sent to somebody and the back button works. */
function Ask({ params, set }: { params: URLSearchParams; set: (p: URLSearchParams) => void }) {
  const [f, setF] = useState({ source: params.get("source") ?? "", type: params.get("type") ?? "", id: params.get("id") ?? "", changed_since: params.get("changed_since") ?? "", deleted: params.get("deleted") === "true", missing: params.get("missing") === "true", gone: params.get("gone") === "true" });
  const [where, setWhere] = useState(params.getAll("where").join("  "));
  const got = useGet<{ items?: { code: string }[] }>([], "/sources", undefined, { staleTime: 300_000 }).data;
  const submit = (e?: FormEvent) => {
    e?.preventDefault();
    const p = new URLSearchParams();
    for (const [k, v] of Object.entries(f)) if (v) p.set(k, String(v).trim());
    for (const w of where.split(/\s{2,}|\n|;/)) if (w.trim()) p.append("where", w.trim());
    set(p);
  };
  return (
    <form className="card stack tight" onSubmit={submit} aria-label="What to look for">
      <div className="ask">
        <NativeSelect label="Source" size="xs" value={f.source} onChange={(e) => setF({ ...f, source: e.currentTarget.value })} data={[{ value: "", label: "all" }, ...(got?.items ?? []).map((s) => ({ value: s.code, label: s.code }))]} />
        <TextInput label="Id begins with" size="xs" placeholder="10.1000/" value={f.id} onChange={(e) => setF({ ...f, id: e.currentTarget.value })} />
        <TextInput className="wide" label="Fields" size="xs" placeholder="title~heart; type=journal-article; published>=2026" value={where} onChange={(e) => setWhere(e.currentTarget.value)} spellCheck={false} />
        <TextInput label="Record type" size="xs" placeholder="any" value={f.type} onChange={(e) => setF({ ...f, type: e.currentTarget.value })} />
        <TextInput label="Changed here since" size="xs" placeholder="2026-11-01" value={f.changed_since} onChange={(e) => setF({ ...f, changed_since: e.currentTarget.value })} />
        <Checkbox label="only deleted" checked={f.deleted} onChange={(e) => setF({ ...f, deleted: e.currentTarget.checked })} />
        <Checkbox label="only missing" checked={f.missing} onChange={(e) => setF({ ...f, missing: e.currentTarget.checked })} />
        <Checkbox label="only gone" checked={f.gone} onChange={(e) => setF({ ...f, gone: e.currentTarget.checked })} />
        <Button type="submit" size="xs">Find</Button>
      </div>
      <p className="small dim">Conditions on fields: <code>=</code> <code>!=</code> <code>~</code> (contains) <code>&gt;=</code> <code>&lt;=</code> <code>&gt;</code> <code>&lt;</code>, several with <code>;</code> between them. A list is what any of its members is.</p>
    </form>
  );
}
