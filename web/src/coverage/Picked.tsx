import { Link } from "react-router";
import type { Cursor, Said } from "../api/types";
import { ConfirmAction } from "../components/ConfirmAction";
import { Facts } from "../components/Facts";
import { count, plain, sentence, span } from "../components/format";
import { StatusBadge } from "../components/StatusBadge";
import { WhyNote } from "../components/WhyNote";
import { meaning, type Stretch } from "./state";

/** FillGap offers to read what is missing. */
export function FillGap({ cursor, missing, read = false, label = "Fill this gap", variant = "filled" }: { cursor: Cursor; missing: { from: string; to: string }; read?: boolean; label?: string; variant?: string }) {
  return <ConfirmAction label={label} variant={variant} path="/gaps/fill" reason="none" body={{ cursor: cursor.id, from: missing.from, to: missing.to, ...(read ? { read } : {}) }} what={`What is missing of ${cursor.source}/${cursor.endpoint} between ${span(missing)} is planned and put into the queue. ${read ? "What was read without a proof is read again." : "Nothing that was read is read again."}`}
    result={(said: Said) => typeof said.plan === "number" ? <p><Link to={`/plans/${said.plan}`}>See plan {said.plan}</Link></p> : typeof (said.plan as { id?: number })?.id === "number" ? <p><Link to={`/plans/${(said.plan as { id: number }).id}`}>See the plan</Link></p> : null} />;
}

/** Picked is the stretch that was clicked: what it is, and the way from it to slice, task and pages. */
export function Picked({ cursor, stretch: s, onClose }: { cursor: Cursor; stretch: Stretch; onClose: () => void }) {
  const can = ["GAP", "FAILED", "DISPUTED"].includes(s.state);
  return (
    <section className="card stack tight" aria-label="Chosen stretch">
      <div className="row between"><div className="row"><h2>{span(s)}</h2><StatusBadge state={s.state} /><span className="dim">{meaning(s.state)}</span></div><button type="button" className="plain" onClick={onClose}>close</button></div>
      {s.said ? <p>{sentence(plain(s.said))}</p> : null}
      <Facts items={[
        ["Records", s.records === undefined ? null : count(s.records)], ["Expected", s.expected === undefined ? null : count(s.expected)],
        ["Slice", s.slice_id ? <Link to={`/slices/${s.slice_id}`}>slice {s.slice_id}</Link> : null], ["Task", s.task_id ? <Link to={`/tasks/${s.task_id}`}>task {s.task_id}, its runs and pages</Link> : null],
        ["Pages", s.task_id ? <Link to={`/batches?task=${s.task_id}`}>pages and exchanges</Link> : s.slice_id ? <Link to={`/batches?slice=${s.slice_id}`}>pages and exchanges</Link> : null],
      ]} />
      {s.task_id && s.state !== "SEALED" ? <WhyNote task={s.task_id} /> : null}
      {s.state === "AHEAD" ? <div className="row"><FillGap cursor={cursor} missing={s} label="Read it now" /></div> : null}
      {s.state === "READ" ? (
        <div className="row">
          <FillGap cursor={cursor} missing={s} read label="Read it again" />
          <ConfirmAction label={`Accept READ for ${cursor.source}`} path="/read-acceptances" body={{ source: cursor.source }} reason="required" what={`All windows of ${cursor.source} that were read to their end without a proof are accepted. They stay READ and are no gap; "complete through" does not pass them. The reason stays with them, and it can be taken back.`} />
        </div>
      ) : null}
      {can ? (
        <div className="row">
          {s.state === "FAILED" && s.task_id ? <ConfirmAction label="Retry" variant="filled" path="/controls/retry" body={{ target: `task:${s.task_id}` }} what={`Task ${s.task_id} is put into the queue again, with all its attempts.`} /> : <FillGap cursor={cursor} missing={s} />}
          <ConfirmAction label="Give it up" path="/waivers" body={{ cursor: cursor.id, from: s.from, to: s.to }} reason="required" what={`${span(s)} counts as given up: the watermark may pass it though it was never read. The reason stays with it, and it can be taken back.`} />
        </div>
      ) : null}
    </section>
  );
}
