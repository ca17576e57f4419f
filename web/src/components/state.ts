import {
  IconAlertTriangle, IconBan, IconCircleCheck, IconCircleDashed, IconClock, IconCut, IconHelpCircle, IconLoader, IconPlayerPause, IconPointFilled, IconX, IconScale, IconHandStop,
  type Icon,
} from "@tabler/icons-react";

export type Tone = "good" | "busy" | "wait" | "warn" | "bad" | "odd";

/** How each state looks, wherever it is shown: a word and an icon say it, the colour only repeats it. */
const states: Record<string, [Tone, Icon]> = {
  OK: ["good", IconCircleCheck], SUCCEEDED: ["good", IconCircleCheck], SEALED: ["good", IconCircleCheck], DONE: ["good", IconCircleCheck], RESOLVED: ["good", IconCircleCheck], ACTIVE: ["good", IconCircleCheck],
  RUNNING: ["busy", IconLoader], SLICING: ["busy", IconLoader], READ: ["warn", IconPointFilled],
  QUEUED: ["wait", IconClock], READY: ["wait", IconClock], WAITING: ["wait", IconClock], DRAFT: ["warn", IconCircleDashed], IDLE: ["wait", IconCircleDashed], AHEAD: ["wait", IconCircleDashed], OPEN: ["wait", IconCircleDashed], SPLIT: ["wait", IconCut], PLANNED: ["wait", IconClock], ACCEPTED: ["wait", IconClock],
  CANCELLED: ["wait", IconBan], RELEASED: ["wait", IconPlayerPause], SKIPPED: ["wait", IconBan], INFO: ["busy", IconPointFilled], WAIVED: ["wait", IconHandStop], DISCARDED: ["wait", IconBan], REVOKED: ["wait", IconBan],
  PARTIAL: ["warn", IconCircleDashed], PENDING: ["wait", IconClock], FIRING: ["bad", IconAlertTriangle], ACKNOWLEDGED: ["wait", IconHandStop], PAUSED: ["warn", IconPlayerPause], STOPPED: ["warn", IconPlayerPause], GAP: ["warn", IconAlertTriangle], WARNING: ["warn", IconAlertTriangle], QUARANTINED: ["warn", IconAlertTriangle],
  FAILED: ["bad", IconX], REJECTED: ["bad", IconX], CRITICAL: ["bad", IconAlertTriangle], ERROR: ["bad", IconX], LOST: ["bad", IconX],
  DISPUTED: ["odd", IconScale], SHORT: ["warn", IconScale], UNPROVED: ["warn", IconScale], INCOMPLETE: ["bad", IconAlertTriangle], LATE: ["warn", IconClock], HALTED: ["bad", IconHandStop], REFUSED: ["bad", IconBan], PLAN_FAILED: ["bad", IconX], TASKS_FAILED: ["bad", IconX], UNCUT: ["bad", IconCut], UNPLANNED: ["bad", IconAlertTriangle], BEHIND: ["warn", IconClock],
  DELETED: ["wait", IconBan], MERGED: ["wait", IconCut], RETRACTED: ["bad", IconAlertTriangle], MISSING: ["warn", IconHelpCircle], GONE: ["wait", IconBan], NEW: ["wait", IconClock], RETRYING: ["busy", IconLoader],
  SAME: ["good", IconCircleCheck], DIFFERS: ["bad", IconX], NO_BODY: ["warn", IconHelpCircle], NO_ANSWER: ["wait", IconBan], NOTICE: ["busy", IconPointFilled], PAUSE: ["warn", IconPlayerPause], BREAKER: ["bad", IconHandStop], HALT: ["bad", IconHandStop], LIMIT: ["wait", IconScale], QUOTA: ["warn", IconScale], EXPIRED: ["wait", IconBan], INVALID: ["bad", IconX],
};

export function look(state: string): { tone: Tone; icon: Icon } {
  const [tone, icon] = states[state.toUpperCase()] ?? ["wait", IconHelpCircle];
  return { tone, icon };
}
