import { useState, type FormEvent } from "react";
import { Button, NativeSelect, TextInput } from "@mantine/core";
import { Link, useSearchParams } from "react-router";
import { useList } from "../api/hooks";
import type { AuditEntry } from "../api/trust";
import { Command } from "../components/Command";
import { DataList, type Column } from "../components/DataList";
import { useFilters } from "../components/Filters";
import { JsonView } from "../components/JsonView";
import { PageHead } from "../components/PageHead";
import { Time } from "../components/Time";

const actions = ["PAUSE", "RESUME", "CANCEL", "RETRY", "PRIORITY", "PLAN", "FILL", "WAIVE", "REVOKE", "ACCEPT", "DISPUTE", "DISCARD", "SIGNAL", "INSPECT", "REPLAY", "REMAP", "EXPORT", "RESET", "GATE", "REWIND", "FORGET", "ARCHIVE", "RESTORE", "ORPHANS", "TOKEN", "CERTIFY"];

/** placeOfTarget is the page of what something was done to. */
function placeOfTarget(target: string): string | undefined {
  const m = /^(plan|slice|task|cursor|run|batch)[:/](\d+)/.exec(target);
  if (m) return `/${m[1] === "batch" ? "batches" : m[1] + "s"}/${m[2]}`;
  return undefined;
}

const columns: Column<AuditEntry>[] = [
  { label: "No.", cell: (e) => <span className="num">{e.seq}</span> },
  { label: "When", cell: (e) => <Time at={e.at} /> },
  { label: "Who", cell: (e) => <bdi>{e.actor}</bdi> },
  { label: "What", cell: (e) => <span className="badge" data-tone={["CANCEL", "REWIND", "WAIVE"].includes(e.action) ? "warn" : "wait"}>{e.action.toLowerCase().replaceAll("_", " ")}</span> },
  { label: "To whom", cell: (e) => { const to = placeOfTarget(e.target); return to ? <Link to={to}>{e.target}</Link> : <span className="mono">{e.target}</span>; } },
  { label: "Why", cell: (e) => e.reason ? <bdi>{e.reason}</bdi> : <span className="dim">–</span> },
  { label: "More", cell: (e) => e.detail && Object.keys(e.detail).length ? <details><summary>show</summary><JsonView label="Detail" value={e.detail} /></details> : <span className="dim">–</span> },
  { label: "Hash", cell: (e) => <code title={e.hash}>{e.hash.slice(0, 8)}</code>, nowrap: true },
];

export default function Audit() {
  const filters = useFilters("action", "target", "actor", "since");
  const [params, set] = useSearchParams();
  const [f, setF] = useState(filters);
  const list = useList<AuditEntry>(["audit"], "/audit", filters);
  const ask = (next: typeof f) => { setF(next); set(Object.fromEntries(Object.entries(next).filter(([, v]) => v)), { replace: true }); };
  const submit = (e: FormEvent) => { e.preventDefault(); ask(f); };
  return (
    <div className="stack">
      <PageHead title="Audit">Who did what, and why. Every line holds the hash of the one before it, so nobody can change one unnoticed.</PageHead>
      <form className="card ask" onSubmit={submit} aria-label="Which entries">
        <NativeSelect label="What" size="xs" value={f.action} onChange={(e) => ask({ ...f, action: e.currentTarget.value })} data={[{ value: "", label: "all" }, ...actions.map((a) => ({ value: a, label: a.toLowerCase() }))]} />
        <TextInput label="To whom" size="xs" placeholder="crossref, plan:3" value={f.target} onChange={(e) => setF({ ...f, target: e.currentTarget.value })} />
        <TextInput label="Who" size="xs" value={f.actor} onChange={(e) => setF({ ...f, actor: e.currentTarget.value })} />
        <TextInput label="Since" size="xs" placeholder="2026-11-01" value={f.since} onChange={(e) => setF({ ...f, since: e.currentTarget.value })} />
        <Button type="submit" size="xs">Find</Button>
      </form>
      <DataList label="Audit log" list={list} columns={columns} id={(e) => e.seq} noun="entry" nouns="entries" empty={params.size ? { title: "Nobody did that", text: "Choose less to see more." } : { title: "Nobody has done anything yet", text: "Pauses, waivers, replays, tokens and the like are written here." }} />
      <p className="small dim row">That nobody changed the log is checked with <Command text="patra audit verify" /></p>
    </div>
  );
}
