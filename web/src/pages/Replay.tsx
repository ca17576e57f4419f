import { useState, type FormEvent } from "react";
import { Button, Checkbox, Skeleton, TextInput } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";
import { download, send, type ApiError } from "../api/client";
import { useGet, useMay } from "../api/hooks";
import type { Batch } from "../api/types";
import type { Fresh, Replayed, ReplayedPage } from "../api/trust";
import { DiffView } from "../components/DiffView";
import { NeedsEvidence, useEvidence } from "../components/evidence";
import { count, plural } from "../components/format";
import { ErrorNote, Note } from "../components/Notes";
import { PageHead } from "../components/PageHead";
import { StatusBadge } from "../components/StatusBadge";

export default function Replay() {
  return (
    <div className="stack">
      <PageHead title="Black box">Reads a page again from its stored answer and compares it with the ledger: request, status, items, ids, next position, and the hash of every record. Nothing is sent and nothing is changed.</PageHead>
      <NeedsEvidence><Asking /></NeedsEvidence>
    </div>
  );
}

interface Wish { run: number; batch?: number; live?: boolean; reason: string }

function Asking() {
  const [params, set] = useSearchParams();
  const [run, setRun] = useState(params.get("run") ?? "");
  const [no, setNo] = useState(params.get("no") ?? "");
  const [reason, setReason] = useState("");
  const [live, setLive] = useState(false);
  const may = useMay("operator"), sees = useEvidence();
  const page = usePageNumber(params.get("batch"));
  const number = no || (params.get("run") === run && page ? String(page) : "");
  const wish = (): Wish => ({ run: Number(run), ...(number ? { batch: Number(number) } : {}), reason: reason.trim() });
  const replay = useMutation<Replayed, ApiError, Wish>({ mutationFn: (w) => send<Replayed>("POST", "/replays", w) });
  const bundle = useMutation<void, ApiError, Wish>({ mutationFn: (w) => download("/bundles", w, `patra-run-${w.run}${w.batch ? `-${w.batch}` : ""}.zip`) });
  const ready = sees && /^\d+$/.test(run) && /^\d*$/.test(number) && reason.trim() !== "";
  const submit = (e: FormEvent) => {
    e.preventDefault();
    if (!ready) return;
    set((p) => { p.set("run", run); if (no) { p.set("no", no); p.delete("batch"); } return p; }, { replace: true });
    replay.mutate({ ...wish(), ...(live ? { live } : {}) });
  };
  return (
    <>
      <form className="card stack tight" onSubmit={submit} aria-label="What to read again">
        <div className="ask">
          <TextInput label="Run" size="xs" required inputMode="numeric" placeholder="7" value={run} onChange={(e) => setRun(e.currentTarget.value)} />
          <TextInput label="Page of it" size="xs" inputMode="numeric" placeholder="all" value={number} onChange={(e) => setNo(e.currentTarget.value)} />
          <TextInput className="wide" label="Why" size="xs" required placeholder="kept in the audit log with your name" value={reason} onChange={(e) => setReason(e.currentTarget.value)} />
        </div>
        <Checkbox label="ask the provider too, and compare with what it says today" description={may ? "Sends one request for each page, through the gate." : "Needs the role operator."} disabled={!may} checked={live} onChange={(e) => setLive(e.currentTarget.checked)} />
        <div className="row">
          <Button type="submit" size="compact-sm" loading={replay.isPending} disabled={!ready}>Read again</Button>
          <Button size="compact-sm" variant="default" leftSection={<IconDownload size={14} />} loading={bundle.isPending} disabled={!ready} onClick={() => bundle.mutate(wish())}>Download the evidence</Button>
          {ready ? null : <span className="dim small">Say which run, and why.</span>}
          {/^\d+$/.test(run) ? <Link className="small" to={`/runs/${run}`}>to run {run}</Link> : <Link className="small" to="/runs">find a run</Link>}
        </div>
      </form>
      {bundle.error ? <ErrorNote error={bundle.error} /> : bundle.isSuccess ? <Note state="OK"><p>The bundle was made: a signed zip file with the requests, the answers, the configuration and the ledger.</p><p className="small">Whoever gets it checks it with <code>patra blackbox verify FILE</code>.</p></Note> : null}
      {replay.error ? <ErrorNote error={replay.error} /> : null}
      {replay.isPending ? <Skeleton height={160} role="status" aria-label="Reading again" /> : replay.data ? <Report r={replay.data} /> : null}
    </>
  );
}

/** usePageNumber is the number of a page in its run: links name pages by their id. */
function usePageNumber(id: string | null): number | undefined {
  return useGet<Batch>([], `/batches/${id}`, undefined, { enabled: !!id }).data?.batch_no;
}

function Report({ r }: { r: Replayed }) {
  const all = r.pages.length, good = r.differs === 0 && r.no_body === 0 && (!r.live || r.changed === 0);
  return (
    <div className="stack" role="status">
      <Note state={r.differs ? "FAILED" : good ? "OK" : "WARNING"}>
        <p>{all === 0 ? "The run has no page." : r.differs ? `${plural(r.differs, "page")} of ${count(all)} ${r.differs === 1 ? "does" : "do"} not say what the ledger says.` : `${plural(r.same, "page")} of ${count(all)} ${r.same === 1 ? "says" : "say"} exactly what the ledger says.`}{r.no_body ? ` Of ${plural(r.no_body, "page")} the answer is not kept any more.` : ""}</p>
        {r.live ? <p>{r.changed ? `The provider answers ${count(r.changed)} of ${plural(r.asked, "page")} otherwise today.` : `The provider answers ${plural(r.asked, "page")} the same today.`}</p> : null}
        <p className="small dim">{r.source}, {r.window}, configuration <code title={r.spec_fingerprint}>{r.spec_fingerprint.slice(0, 12)}</code></p>
      </Note>
      {[...r.pages].sort((a, b) => rank(b) - rank(a) || a.batch_no - b.batch_no).map((p) => <OnePage key={p.page} p={p} />)}
    </div>
  );
}
const rank = (p: ReplayedPage) => (p.verdict === "DIFFERS" ? 2 : p.verdict !== "SAME" || p.live?.differences?.length ? 1 : 0);

const today = (f: Fresh) => f.error ? "no answer today" : f.same_body ? "byte for byte the same today" : f.added?.length || f.removed?.length || f.changed?.length || f.differences?.length ? "otherwise today" : "the same records today";

function OnePage({ p }: { p: ReplayedPage }) {
  const odd = rank(p) > 0;
  return (
    <details className="card replayed" open={odd}>
      <summary><span className="row"><b>page {p.batch_no}</b><StatusBadge state={p.verdict} /><span className="dim">{p.phase.toLowerCase()} {p.ordinal}, {plural(p.items, "item")}</span>{p.live ? <span className="dim">{today(p.live)}</span> : null}</span></summary>
      <div className="stack tight">
        <p className="small"><Link to={`/batches/${p.page}`}>to the page in the ledger</Link>{p.body_sha256 ? <> · answer <code title={p.body_sha256}>{p.body_sha256.slice(0, 16)}</code></> : null}</p>
        {p.note ? <p>{p.note}</p> : null}
        <DiffView label={`Page ${p.batch_no}`} was="in the ledger" is="read again" changes={(p.differences ?? []).map((d) => ({ path: d.field, was: d.was, is: d.is }))} none={p.verdict === "SAME" ? "Every field is the same." : undefined} />
        {p.live ? <Today f={p.live} no={p.batch_no} /> : null}
      </div>
    </details>
  );
}

/** Today is what the provider says now, beside what it said then. */
function Today({ f, no }: { f: Fresh; no: number }) {
  if (f.error) return <Note tone="warn"><p>There was no answer today: {f.error}</p></Note>;
  const ids = (label: string, all?: string[] | null) => all?.length ? <details><summary>{plural(all.length, "id")} {label}</summary><p className="mono small">{all.slice(0, 500).join("  ")}{all.length > 500 ? " …" : ""}</p></details> : null;
  return (
    <div className="stack tight">
      <h3>Today</h3>
      <p>{f.same_body ? "Byte for byte the same." : `Status ${f.status[0]} then, ${f.status[1]} now; ${plural(f.items[0], "item")} then, ${count(f.items[1])} now.`} {f.note}</p>
      {ids("came", f.added)}{ids("went", f.removed)}{ids("changed", f.changed)}
      {f.differences?.length ? <DiffView label={`Page ${no}, then and today`} was="then" is="today" changes={f.differences.map((d) => ({ path: d.field, was: d.was, is: d.is }))} /> : null}
    </div>
  );
}
