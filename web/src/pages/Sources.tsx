import { Link } from "react-router";
import { useGet, useList } from "../api/hooks";
import type { Listed } from "../api/sources";
import type { Overview } from "../api/types";
import { DataList, type Column } from "../components/DataList";
import { PageHead } from "../components/PageHead";
import { StatusBadge } from "../components/StatusBadge";
import { Time } from "../components/Time";

const words: Record<string, string> = { DIFFERS: "its file differs", INVALID: "its file is not valid", NONE: "it has no file" };

export default function Sources() {
  const list = useList<Listed>([], "/sources", undefined, { limit: 0 });
  const health = useGet<Overview>(["tasks", "batches", "controls"], "/overview").data?.sources ?? [];
  const columns: Column<Listed>[] = [
    { label: "Source", cell: (s) => <><Link to={`/sources/${encodeURIComponent(s.code)}`}>{s.code}</Link><div className="dim small">{s.name}</div></> },
    { label: "Health", cell: (s) => { const h = health.find((h) => h.code === s.code); return s.problem ? <><StatusBadge state="INVALID" /><div className="small">{s.problem}</div></> : h ? <StatusBadge state={h.health} title={h.said} /> : <span className="dim">–</span>; } },
    { label: "Endpoints", cell: (s) => s.endpoints.join(", ") },
    { label: "Paged by", cell: (s) => [...new Set(s.paging ?? [])].join(", ").toLowerCase() || "–" },
    { label: "Permitted", cell: (s) => <Link to={`/gates?source=${encodeURIComponent(s.code)}`}>{s.rate}</Link>, right: true, nowrap: true },
    { label: "What counts", cell: (s) => s.in_force === "FILE" ? "its file" : <>the registry<div className="dim small">since <Time at={s.since} />{words[s.file ?? ""] ? `; ${words[s.file!]}` : ""}</div></> },
    { label: "Try", cell: (s) => s.problem ? null : <Link to={`/sources/${encodeURIComponent(s.code)}#try`} aria-label={`Try a query at ${s.code}`}>a query</Link>, nowrap: true },
  ];
  return (
    <div className="stack">
      <PageHead title="Sources">Whom we can ask. A source is a file and no code.</PageHead>
      <DataList label="Sources" list={list} columns={columns} id={(s) => s.code} noun="source" sort={(a, b) => Number(!!b.problem) - Number(!!a.problem) || a.code.localeCompare(b.code)} empty={{ title: "No source is installed", text: "Begin a source file with comments:", command: "patra source new mine" }} />
    </div>
  );
}
