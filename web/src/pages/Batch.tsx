import { useState } from "react";
import { Button, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link, useParams } from "react-router";
import { send, type ApiError } from "../api/client";
import { useGet, useList } from "../api/hooks";
import type { Batch as Row, Exchange } from "../api/types";
import { Async } from "../components/Async";
import { useEvidence } from "../components/evidence";
import { Facts } from "../components/Facts";
import { FaultText } from "../components/FaultText";
import { count, sentence, took } from "../components/format";
import { JsonView } from "../components/JsonView";
import { ErrorNote, Note } from "../components/Notes";
import { Num } from "../components/Num";
import { PageHead } from "../components/PageHead";
import { StatusBadge } from "../components/StatusBadge";
import { Time } from "../components/Time";

export default function Batch() {
  const { id = "" } = useParams();
  const batch = useGet<Row>(["batches"], `/batches/${id}`);
  const b = batch.data;
  return (
    <div className="stack">
      <PageHead title={`Page ${id}`} badge={b ? <StatusBadge state={b.status} /> : null} crumbs={[["Plans", "/plans"], ...(b ? [[`Plan ${b.plan_id}`, `/plans/${b.plan_id}`], [`Slice ${b.slice_id}`, `/slices/${b.slice_id}`], [`Task ${b.task_id}`, `/tasks/${b.task_id}`], [`Run ${b.run_id}`, `/runs/${b.run_id}`]] as const : [])]}
        actions={b ? <><Beside batch={b} /><Link to={`/replay?run=${b.run_id}&batch=${id}`}>Replay from the black box</Link></> : null}>
        {b ? <>{b.phase.toLowerCase()} {b.ordinal} of run {b.run_id}, {b.source}</> : null}
      </PageHead>
      <Async query={batch} height={200}>
        {(b) => {
          const c = b.counts;
          return (
            <>
              {b.error ? <Note tone="bad"><p><FaultText fault={b.error} /></p></Note> : null}
              <section className="card" aria-label="Facts">
                <Facts items={[
                  ["Asked", <Time key="a" at={b.started_at} />], ["Took", took(b.started_at, b.committed_at)], ["Records", count(b.record_count)], ["The provider's total", b.provider_total === undefined ? null : count(b.provider_total)],
                  ["New", c && count(c.insert)], ["Changed", c && count(c.update)], ["Unchanged", c && count(c.same)], ["Older than stored", c && count(c.stale)], ["Twice", c && count(c.dup)],
                  ["Quarantined", c && <Num value={c.quarantine} to={`/quarantine?source=${b.source}`} />], ["Outside the window", c && count(c.outside)],
                  ["More pages", b.has_next === undefined ? null : b.has_next ? "yes" : "no"], ["Ended by", b.end_code?.toLowerCase().replaceAll("_", " ")], ["Hash of the answer", b.body_sha256 ? <code title={b.body_sha256}>{b.body_sha256.slice(0, 16)}</code> : null],
                ]} />
              </section>
              <ExchangeView id={id} />
            </>
          );
        }}
      </Async>
    </div>
  );
}

/** Beside leads to the pages before and after this one in the same run. */
function Beside({ batch }: { batch: Row }) {
  const ids = (useList<Row>(["batches"], "/batches", { run: batch.run_id }, { limit: 200 }).data ?? []).map((b) => b.id).sort((a, b) => a - b);
  const i = ids.indexOf(batch.id);
  const before = ids[i - 1], after = ids[i + 1];
  return <span className="row">{i > 0 ? <Link to={`/batches/${before}`}>← before</Link> : null}{i >= 0 && after ? <Link to={`/batches/${after}`}>after →</Link> : null}</span>;
}

/** ExchangeView shows what was sent and what came back. It is asked for by a click and with a reason, because looking at it is written down. */
function ExchangeView({ id }: { id: string }) {
  const [reason, setReason] = useState("");
  const look = useMutation<Exchange, ApiError, string>({ mutationFn: (why) => send<Exchange>("POST", `/batches/${id}/exchange`, { reason: why }) });
  const sees = useEvidence();
  const x = look.data;
  if (!x) return (
    <section className="card" aria-label="Request and answer">
      <form className="stack tight" onSubmit={(e) => { e.preventDefault(); look.mutate(reason.trim()); }}>
        <h2>Request and answer</h2>
        <p className="dim">What was sent (without secrets) and what came back, as it was kept. That you look at it is written into the audit log.</p>
        {sees ? null : <p className="small">Your token needs the grant evidence for it.</p>}
        <TextInput label="Reason" required disabled={!sees} value={reason} maxLength={500} onChange={(e) => setReason(e.currentTarget.value)} />
        {look.error ? <ErrorNote error={look.error} /> : null}
        <div><Button type="submit" size="compact-sm" variant="default" loading={look.isPending} disabled={!sees || !reason.trim()}>Show request and answer</Button></div>
      </form>
    </section>
  );
  const request = x.request, answer = x.response;
  return (
    <div className="sides">
      <section className="card stack tight" aria-label="Request"><h2>Request</h2><p className="mono">{request?.method} {request?.url}</p><Headers headers={request?.headers} />{request?.body ? <JsonView label="Body of the request" value={request.body} /> : null}</section>
      <section className="card stack tight" aria-label="Answer"><h2>Answer</h2><p className="mono">{answer?.status ?? "none"}</p><Headers headers={answer?.headers} />{x.truncated ? <p className="small dim">The beginning only: the whole answer is in the evidence bundle.</p> : null}{x.body ? <JsonView label="Body of the answer" value={pretty(x.body)} /> : <p className="dim">{x.said ? sentence(x.said) : "without a body"}</p>}</section>
    </div>
  );
}

function Headers({ headers }: { headers?: Record<string, unknown> }) {
  if (!headers || Object.keys(headers).length === 0) return null;
  return <JsonView label="Headers" value={Object.entries(headers).map(([k, v]) => `${k}: ${Array.isArray(v) ? v.join(", ") : String(v)}`).join("\n")} />;
}

/** pretty indents JSON; anything else is shown as it came. */
function pretty(text: string): string {
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
}
