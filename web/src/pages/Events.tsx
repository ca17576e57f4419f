import { useState } from "react";
import { NativeSelect, TextInput } from "@mantine/core";
import { Link, useSearchParams } from "react-router";
import { useList } from "../api/hooks";
import { subjectLink } from "../api/records";
import type { CloudEvent, Sink } from "../api/trust";
import { ConfirmAction } from "../components/ConfirmAction";
import { DataList, type Column } from "../components/DataList";
import { SourceFilter, useFilters } from "../components/Filters";
import { counted, plural } from "../components/format";
import { JsonView } from "../components/JsonView";
import { PageHead } from "../components/PageHead";
import { StatusBadge } from "../components/StatusBadge";
import { Time } from "../components/Time";

const types = ["record.*", "record.upserted", "record.deleted", "record.missing", "record.gone", "record.revived", "plan.*", "task.*", "cursor.*", "alert.*"];

export default function Events() {
  return (
    <div className="stack">
      <PageHead title="Events">What is told to others, at least once and in order for each record, and how far each of them is.</PageHead>
      <Sinks />
      <Told />
    </div>
  );
}

function Sinks() {
  const list = useList<Sink>(["events"], "/sinks", undefined, { limit: 0 });
  const columns: Column<Sink>[] = [
    { label: "Sink", cell: (s) => <b>{s.name}</b>, nowrap: true },
    { label: "State", cell: (s) => <StatusBadge state={s.new ? "NEW" : s.last_error || s.notes?.failures ? "FAILED" : s.aside ? "WARNING" : s.lag ? "RUNNING" : "OK"} /> },
    { label: "Behind", cell: (s) => s.new ? "not begun" : s.lag ? <>{s.capped ? <>{counted(s.lag, true)} events</> : plural(s.lag, "event")}{s.oldest ? <div className="dim small">the oldest <Time at={s.oldest} /></div> : null}</> : "nothing" },
    { label: "Waiting", cell: (s) => <>{counted(s.waiting, s.capped)}{s.attempts ? <span className="dim small"> tried {plural(s.attempts, "time")}</span> : null}</>, right: true },
    { label: "Set aside", cell: (s) => counted(s.aside, s.capped), right: true },
    { label: "Relay", cell: (s) => s.held ? <code title={s.owner}>{s.owner?.slice(0, 8)}</code> : <span className="dim">nobody</span>, nowrap: true },
    { label: "Trouble", cell: (s) => { const why = s.last_error || s.notes?.last_error; return why ? <bdi>{why}</bdi> : <span className="dim">none</span>; } },
    { label: "Do", cell: (s) => <Rewind sink={s} /> },
  ];
  return <DataList label="Sinks" list={list} columns={columns} id={(s) => s.name} noun="sink" head={<h2>Sinks</h2>} sort={(a, b) => b.lag - a.lag || a.name.localeCompare(b.name)} empty={{ title: "Nobody is told", text: <>Events are kept all the same. To tell somebody, write <code>sinks</code> into patra.yaml.</> }} />;
}

/** Rewind sends events again, also what was set aside. */
function Rewind({ sink }: { sink: Sink }) {
  const [to, setTo] = useState("");
  return <ConfirmAction label="Rewind" role="admin" path={`/sinks/${encodeURIComponent(sink.name)}/rewind`} body={{ to: to.trim() }} reason="required" what={`The sink ${sink.name} gets everything again from this moment on, in order and with the same ids; also what was set aside.`} fields={<TextInput label="From" required placeholder="2026-11-01, 2026-11-01T12:00:00Z or START" value={to} onChange={(e) => setTo(e.currentTarget.value)} />} />;
}

const place = (subject?: string): string | undefined => {
  const m = /^(plan|task|cursor)\/(\d+)$/.exec(subject ?? "");
  if (m) return `/${m[1]}s/${m[2]}`;
  if (/^alert\/\d+$/.test(subject ?? "")) return "/alerts";
  return subjectLink(subject);
};

function Told() {
  const filters = useFilters("type", "source", "subject");
  const [, set] = useSearchParams();
  const list = useList<CloudEvent>(["events"], "/events", filters);
  const columns: Column<CloudEvent>[] = [
    { label: "When", cell: (e) => <Time at={e.time} /> },
    { label: "What", cell: (e) => <code>{e.type.replace(/^patra\./, "")}</code>, nowrap: true },
    { label: "About", cell: (e) => { const to = place(e.subject); return to ? <Link to={to} className="mono small">{e.subject}</Link> : <span className="mono small">{e.subject}</span>; } },
    { label: "More", cell: (e) => e.data ? <details><summary>show</summary><JsonView label="Data" value={e.data} /></details> : null },
    { label: "Id", cell: (e) => <code title={e.id}>{e.id.slice(0, 8)}</code>, nowrap: true },
  ];
  return <DataList label="Events" list={list} columns={columns} id={(e) => e.id} noun="event" empty={Object.values(filters).some(Boolean) ? { title: "Nothing was told of that", text: "Choose less to see more." } : { title: "Nothing has happened yet" }}
    head={<><h2>What is told</h2><div className="filters"><NativeSelect label="What" size="xs" value={filters.type} onChange={(e) => { const v = e.currentTarget.value; set((p) => { if (v) p.set("type", v); else p.delete("type"); return p; }, { replace: true }); }} data={[{ value: "", label: "all" }, ...types.map((t) => ({ value: t, label: t }))]} /><SourceFilter /></div></>} />;
}
