import { ConfirmAction } from "./ConfirmAction";

/** Held is what holds a piece of work back. */
export interface Held { kind?: string; scope?: string; key?: string }
const scopes: Record<string, string> = { PLAN: "plan:", SLICE: "slice:", TASK: "task:", CURSOR: "cursor:" };
/** targetOf is whom to resume so that it does not any more. */
export const targetOf = (h: Held) => (scopes[h.scope ?? ""] ?? "") + (h.key ?? "");

/**
 * Steer has the actions on one piece of work; which make sense depends on its state, and on what holds it back: to resume a task
 * does nothing about the halt of its source. held is undefined where nobody knows what does, and null where nothing does.
 */
export function Steer({ target, name, status, held }: { target: string; name: string; status: string; held?: Held | null }) {
  const open = ["QUEUED", "RUNNING", "READY", "PARTIAL", "SLICING", "DRAFT"].includes(status);
  const over = ["FAILED", "CANCELLED"].includes(status);
  const free = held === null && status === "QUEUED", paused = held?.kind === "PAUSE" && targetOf(held) === target;
  const stopped = held?.kind === "HALT" || held?.kind === "BREAKER" || (held?.kind === "PAUSE" && targetOf(held) !== target) ? targetOf(held) : "";
  return (
    <>
      {stopped ? <ConfirmAction label={`Resume ${stopped}`} variant="filled" path="/controls/resume" body={{ target: stopped }} what={`${stopped} goes on, and with it ${name}.${held?.kind === "HALT" ? " Mend first what stopped it, or it stops again. Tasks that failed because of it are queued again." : ""}`} /> : null}
      {over ? <ConfirmAction label="Retry" variant={stopped ? "default" : "filled"} path="/controls/retry" body={{ target }} what={`${name} is put into the queue again, with all its attempts. What was read already is not read twice.`} /> : null}
      {open && !paused ? <ConfirmAction label="Pause" path="/controls/pause" body={{ target }} reason="required" what={`Nothing more of ${name} is begun until somebody resumes it. A page that is being read is read to its end.`} /> : null}
      {open && !stopped && !free ? <ConfirmAction label="Resume" variant={paused ? "filled" : "default"} path="/controls/resume" body={{ target }} what={`${name} goes on, if it was paused or stopped by itself.`} /> : null}
      {open ? <ConfirmAction label="Cancel" color="red" path="/controls/cancel" body={{ target }} reason="required" what={`${name} is called off. What waits of it ends at once, what runs ends before its next request; what was read stays.`} /> : null}
    </>
  );
}
