// Sentences about how fast a provider is asked, the same as on the command line.
import type { Gate, Quota } from "../api/gates";
import { count, instant, lasting } from "./format";

export const rate = (n: number): string => String(Number(n.toPrecision(3)));
const clock = (at: string) => instant(at.replace(/\.\d+Z$/, "Z"));

/** remarks says why a key is not given out faster; nothing to say means full speed. */
export function remarks(g: Gate): string[] {
  const all: string[] = [];
  if (g.cooldown_until) {
    const until = `until ${clock(g.cooldown_until)} (${lasting(g.cooldown_left_seconds ?? 0)})`;
    all.push(g.cooldown_by ? `Nobody sends ${until}: ${g.cooldown_by.actor} said so${g.cooldown_by.reason ? ` (${g.cooldown_by.reason})` : ""}.` : `The provider asked to be left alone ${until}.`);
  }
  for (const s of g.slower ?? []) {
    const n = rate(s.per_second ?? 0);
    if (s.code === "REFUSED") all.push(`Slowed down to ${n} a second, because it refused us${s.since ? ` at ${clock(s.since)}` : ""}; answers bring the rate back.`);
    else if (s.code === "TOLD") all.push(`The provider says that it permits ${n} a second.`);
    else if (s.code === "SET") { const c = g.changes?.find((c) => c.action === "SET_RATE"); all.push(`The rate was lowered to ${n} a second by ${c ? c.actor + (c.reason ? ` (${c.reason})` : "") : "a person"}.`); }
    else all.push(`Coming to full speed${s.since ? ` since ${clock(s.since)}` : ""}, after a pause.`);
  }
  for (const q of g.quotas ?? []) if (!q.lasts || q.used >= q.usable) all.push(quotaText(q));
  if (g.concurrency && g.on_the_way >= g.concurrency) all.push(`${g.on_the_way} of ${g.concurrency} requests are on their way; the next leaves when one of them is back.`);
  return all;
}

const windows: Record<string, string> = { HOUR: "this hour", DAY: "today", MONTH: "this month" };

export function quotaText(q: Quota): string {
  const said = `${count(q.used)} of ${count(q.usable)} usable requests ${windows[q.window] ?? "of this window"} ${q.used === 1 ? "is" : "are"} used${q.limit > q.usable ? ` (the provider permits ${count(q.limit)}, ${count(q.limit - q.usable)} are kept in reserve)` : ""}`;
  if (q.used >= q.usable) return `${said}; nothing leaves until ${clock(q.again ?? q.to)}.`;
  if (!q.lasts && q.lasts_until) return `${said}; at this pace that lasts until ${clock(q.lasts_until)}, and it begins anew at ${clock(q.to)}.`;
  return `${said}; at this pace it lasts until it begins anew at ${clock(q.to)}.`;
}

/** waiting says in a sentence who waits at a key, and why. */
export function waiting(g: Gate, held: readonly string[] = []): string {
  const { waiting: due, running } = g.tasks;
  if (due + running === 0) return "No task is due.";
  const who = `${count(running)} ${running === 1 ? "task runs" : "tasks run"}, ${count(due)} ${due === 1 ? "is" : "are"} due`;
  const stopped = held.filter((h) => (g.shared_by ?? []).some((s) => s === h || s.startsWith(h + "/") || h.startsWith(s + "/")));
  if (stopped.length) return `${who}; ${stopped.join(", ")} is held back, see the queue.`;
  if (g.cooldown_until) return `${who}; all of them wait for the cooldown.`;
  if ((g.quotas ?? []).some((q) => q.used >= q.usable)) return `${who}; all of them wait for the quota.`;
  if (g.ahead_seconds > 0.1) return `${who}; whoever asks now waits about ${g.ahead_seconds < 10 ? g.ahead_seconds.toFixed(1) + " seconds" : lasting(g.ahead_seconds)} for the gate.`;
  return `${who}; whoever asks now is let through.`;
}
