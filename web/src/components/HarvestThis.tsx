import { useState } from "react";
import { Button, Checkbox, Modal, NativeSelect, Skeleton } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router";
import { ApiError, send } from "../api/client";
import { useMay } from "../api/hooks";
import type { Ask, Draft } from "../api/sources";
import { Next } from "./Command";
import { Facts } from "./Facts";
import { bytes, count, instant, lasting, plural, span } from "./format";
import { ErrorNote, Note } from "./Notes";

/** HarvestThis shows what a harvest of the question would do and cost, and does it when somebody says so. */
export function HarvestThis({ source, ask, disabled }: { source: string; ask: Ask; disabled: boolean }) {
  const [open, setOpen] = useState(false);
  const [operation, setOperation] = useState("HARVEST");
  const [force, setForce] = useState(false);
  const client = useQueryClient();
  const may = useMay("operator");
  const wish = (operation: string, force: boolean) => ({ operation, source, ...ask, ...(force ? { force } : {}) });
  const dry = useMutation<Draft, ApiError, Record<string, unknown>>({ mutationFn: (b) => send<Draft>("POST", "/plans", { ...b, dry_run: true }) });
  const real = useMutation<Draft, ApiError, Record<string, unknown>>({ mutationFn: (b) => send<Draft>("POST", "/plans", b), onSuccess: () => void client.invalidateQueries() });
  const look = (op: string, f: boolean) => { setOperation(op); setForce(f); real.reset(); dry.mutate(wish(op, f)); };
  const close = () => { setOpen(false); dry.reset(); real.reset(); };
  const made = real.data?.plan?.id ?? real.data?.id;
  const empty = dry.data?.nothing || dry.data?.price?.slices === 0;
  return (
    <>
      <Button size="compact-sm" variant="default" leftSection={<IconPlayerPlay size={14} />} disabled={!may || disabled} title={may ? undefined : "needs the role operator"} onClick={() => { setOpen(true); look(operation, false); }}>Harvest this</Button>
      <Modal opened={open} onClose={close} title={`Harvest ${source}`} centered size="lg" closeButtonProps={{ "aria-label": "Close" }}>
        {real.data ? (
          <div className="stack" role="status">
            <Note state="OK"><p>{real.data.said ?? (made ? `Plan ${made} is in the queue.` : "Nothing was left to plan.")}</p><Next text={real.data.next} /></Note>
            <div className="row">{made ? <Link to={`/plans/${made}`}>Watch plan {made}</Link> : null}<Button variant="default" size="compact-sm" onClick={close}>Close</Button></div>
          </div>
        ) : (
          <div className="stack">
            <p className="dim">{ask.query ? <>Query <code>{ask.query}</code></> : "Everything"}{ask.endpoint ? <> at {ask.endpoint}</> : null}, {ask.from ?? "…"} ~ {ask.to ?? "now"}. Nothing is planned before you say so.</p>
            <div className="filters">
              <NativeSelect label="As" size="xs" value={operation} onChange={(e) => look(e.currentTarget.value, force)} data={[{ value: "HARVEST", label: "a harvest, forward from its watermark" }, { value: "BACKFILL", label: "a backfill of history, as a campaign" }]} />
              <Checkbox label="again, even if it was done" checked={force} onChange={(e) => look(operation, e.currentTarget.checked)} />
            </div>
            {dry.isPending ? <Skeleton height={150} role="status" aria-label="Counting" /> : null}
            {dry.error ? <ErrorNote error={dry.error} retry={() => look(operation, force)} /> : null}
            {dry.data && !dry.isPending ? <Price d={dry.data} /> : null}
            {real.error ? <ErrorNote error={real.error} /> : null}
            <div className="row"><Button loading={real.isPending} disabled={!dry.data || dry.isPending || empty} onClick={() => real.mutate(wish(operation, force))}>{dry.data?.price && !empty ? `Put ${plural(dry.data.price.slices, "slice")} into the queue` : "Put it into the queue"}</Button><Button variant="subtle" onClick={close}>Leave it</Button></div>
          </div>
        )}
      </Modal>
    </>
  );
}

/** Price is what a plan would do and cost. */
function Price({ d }: { d: Draft }) {
  const p = d.price, w = d.decision?.window ?? d.plan?.window;
  return (
    <div className="stack tight">
      {d.said ? d.nothing ? <Note tone="warn"><p>{d.said}</p></Note> : <p>{d.said}</p> : null}
      {d.existing ? <Note><p><Link to={`/plans/${d.existing.id}`}>Plan {d.existing.id}</Link> was made before for the same; what it has done is not done twice.</p></Note> : null}
      {d.nothing ? <p className="small dim">To read it all the same, choose “again, even if it was done”; for what lies before the watermark, a backfill.</p> : <Facts items={[
        ["Window", span(w)], ["Slices", p && count(p.slices)], ["Records, about", p && count(p.records)], ["Requests, about", p && count(p.requests)], ["Bytes, about", p?.bytes ? bytes(p.bytes) : null],
        ["Time at the permitted rate", p ? (p.seconds < 1 ? "less than a second" : lasting(p.seconds)) : null], ["Done by", p?.finish ? instant(p.finish.replace(/\.\d+Z$/, "Z")) : null], ["Watermark now", d.decision?.cursor ? instant(d.decision.cursor) : null], ["Counts asked of the provider", d.probes ? count(d.probes) : null],
      ]} />}
      {d.quota?.map((q) => <p key={q.window} className="small">Quota: {q.said ?? q.window.toLowerCase()}</p>)}
      
      {d.warnings?.map((x, i) => <Note key={i} tone="warn"><p>{x.text}</p><p className="small dim"><code>{x.code}</code></p></Note>)}
      {d.slices?.length ? <details><summary>{plural(d.slices.length, "slice")}</summary><ul className="bare small">{d.slices.slice(0, 200).map((s, i) => <li key={i} className="row"><span className="num">{span(s.window)}</span><span className="dim">{s.purpose.toLowerCase()}</span>{s.estimate?.records !== undefined ? <span className="dim">about {count(s.estimate.records)} records</span> : null}</li>)}</ul></details> : null}
    </div>
  );
}
