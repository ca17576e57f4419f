import { Link } from "react-router";
import { useList } from "../api/hooks";
import { recordLink, type SetAside } from "../api/records";
import { DataList, type Column } from "../components/DataList";
import { SourceFilter, StatusFilter, useFilters } from "../components/Filters";
import { bytes, count } from "../components/format";
import { PageHead } from "../components/PageHead";
import { StatusBadge } from "../components/StatusBadge";
import { Time } from "../components/Time";
import { sourceCell } from "../components/work";

const columns: Column<SetAside>[] = [
  { label: "Item", cell: (q) => <Link to={`/quarantine/${q.id}`}>{q.id}</Link> },
  { label: "State", cell: (q) => <StatusBadge state={q.status} title={q.reason} /> },
  { label: "Source", cell: sourceCell },
  { label: "Why", cell: (q) => <><code>{q.code}</code>{q.path ? <div className="small dim">at <code>{q.path}</code></div> : null}</> },
  { label: "Record", cell: (q) => q.record_id ? <Link className="mono small" to={recordLink({ source: q.source, record_type: q.record_type, id: q.record_id, repository: q.repository })}>{q.record_id}</Link> : <span className="dim">without an id</span> },
  { label: "Met", cell: (q) => count(q.met), right: true },
  { label: "Size", cell: (q) => bytes(q.bytes ?? 0), right: true, nowrap: true },
  { label: "Last seen", cell: (q) => <Time at={q.last_seen} /> },
  { label: "On", cell: (q) => q.batch_id ? <Link to={`/batches/${q.batch_id}`}>page {q.batch_id}</Link> : "–", nowrap: true },
];

export default function Quarantine() {
  const filters = useFilters("source", "status");
  const list = useList<SetAside>(["quarantine"], "/quarantine", filters);
  const kinds = byReason(list.data ?? []);
  return (
    <div className="stack">
      <PageHead title="Quarantine">Items that could not become records. Each is kept whole, and the page that it was on went on without it.</PageHead>
      {kinds.length > 1 ? <section className="card stack tight" aria-label="By reason"><h2>By reason</h2><ul className="bare">{kinds.slice(0, 10).map(([k, rows]) => <li key={k}><b className="num">{count(rows.length)}</b>{list.hasNextPage ? "+" : ""} {k} <Link className="small" to={`/quarantine/${rows[0]!.id}`}>an example</Link></li>)}</ul></section> : null}
      <DataList label="Quarantine" list={list} columns={columns} id={(q) => q.id} noun="item" head={<div className="filters"><SourceFilter /><StatusFilter options={["OPEN", "RETRYING", "RESOLVED", "DISCARDED"]} /></div>}
        empty={Object.values(filters).some(Boolean) ? { title: "Nothing is like that", text: "Choose less to see more." } : { title: "Nothing is in quarantine", text: "Every item that came became a record." }} />
    </div>
  );
}

function byReason(rows: readonly SetAside[]): [string, SetAside[]][] {
  const kinds = new Map<string, SetAside[]>();
  for (const q of rows) {
    const name = `${q.source} · ${q.code}${q.path ? ` at ${q.path}` : ""}`;
    kinds.set(name, [...(kinds.get(name) ?? []), q]);
  }
  return [...kinds].sort(([, a], [, b]) => b.length - a.length);
}
