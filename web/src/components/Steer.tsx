import { ConfirmAction } from "./ConfirmAction";

/** Steer has the actions on one piece of work; which make sense depends on its state. */
export function Steer({ target, name, status }: { target: string; name: string; status: string }) {
  const open = ["QUEUED", "RUNNING", "READY", "PARTIAL", "SLICING", "DRAFT"].includes(status);
  const over = ["FAILED", "CANCELLED"].includes(status);
  return (
    <>
      {over ? <ConfirmAction label="Retry" variant="filled" path="/controls/retry" body={{ target }} what={`${name} is put into the queue again, with all its attempts. What was read already is not read twice.`} /> : null}
      {open ? <ConfirmAction label="Pause" path="/controls/pause" body={{ target }} reason="required" what={`Nothing more of ${name} is begun until somebody resumes it. A page that is being read is read to its end.`} /> : null}
      {open ? <ConfirmAction label="Resume" path="/controls/resume" body={{ target }} what={`${name} goes on, if it was paused or stopped by itself.`} /> : null}
      {open ? <ConfirmAction label="Cancel" color="red" path="/controls/cancel" body={{ target }} reason="required" what={`${name} is called off. What waits of it ends at once, what runs ends before its next request; what was read stays.`} /> : null}
    </>
  );
}
