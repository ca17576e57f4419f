import type { CoverageState, Day, Segment } from "../api/types";

/** What each state of a stretch means, in the order of how much it wants a person's eye: the worst comes first. */
export const meanings: readonly (readonly [CoverageState, string])[] = [
  ["FAILED", "reading it failed"], ["GAP", "nobody has read or planned it"], ["DISPUTED", "the counts do not agree"],
  ["RUNNING", "is being read now"], ["QUEUED", "waits in the queue"], ["OPEN", "not over yet"], ["AHEAD", "the next harvest begins there"],
  ["READ", "read to its end, not proved complete"], ["SHORT", "read to its end, fewer than the provider counts"], ["WAIVED", "a person gave it up"], ["SEALED", "read and proved complete"],
];
const ranks = new Map(meanings.map(([s], i) => [s, i]));
export const rank = (s: CoverageState) => ranks.get(s) ?? 0;
export const worse = (a: CoverageState, b: CoverageState) => (rank(a) <= rank(b) ? a : b);
export const meaning = (s: CoverageState) => meanings.find(([x]) => x === s)?.[1] ?? s.toLowerCase();

/** Stretch is a segment with its times as numbers. */
export interface Stretch extends Segment { start: number; end: number }
export const stretches = (segments: readonly Segment[]): Stretch[] =>
  segments.map((s) => ({ ...s, start: Date.parse(s.from), end: Date.parse(s.to) })).filter((s) => s.end > s.start).sort((a, b) => a.start - b.start || b.end - a.end);

/** ahead is what a harvest has not come to yet. It is no gap, the next harvest begins there. */
export const ahead = <T extends Segment>(segments: readonly T[]): T | undefined => segments.find((s) => s.state === "AHEAD");

/**
 * tiled cuts stretches that lie over each other so that every moment belongs to one of them, the worst: what failed must not
 * hide below the gap that it leaves. A piece keeps the words of the stretch that it is of.
 */
export function tiled(all: readonly Stretch[]): Stretch[] {
  const steps = all.flatMap((s) => [{ at: s.start, s, on: true }, { at: s.end, s, on: false }]).sort((a, b) => a.at - b.at);
  const active = meanings.map(() => new Set<Stretch>());
  const out: Stretch[] = [];
  let of: Stretch | undefined, since = 0;
  for (let i = 0; i < steps.length; ) {
    const at = steps[i]!.at;
    for (; steps[i]?.at === at; i++) { const { s, on } = steps[i]!; const set = active[rank(s.state)]!; if (on) set.add(s); else set.delete(s); }
    const worst = active.find((set) => set.size > 0);
    const next = worst && (of && worst.has(of) ? of : [...worst][0]);
    if (next === of) continue;
    if (of && at > since) out.push({ ...of, start: since, end: at });
    of = next;
    since = at;
  }
  return out;
}

export interface View { from: number; to: number }
/** spliced puts a part that was looked at closely into the whole, in place of what the whole has there. */
export function spliced(whole: readonly Stretch[], part: readonly Stretch[], window: View): Stretch[] {
  const out: Stretch[] = [];
  for (const s of whole) {
    if (s.start < window.from) out.push({ ...s, end: Math.min(s.end, window.from) });
    if (s.end > window.to) out.push({ ...s, start: Math.max(s.start, window.to) });
  }
  return [...out, ...part].sort((a, b) => a.start - b.start);
}

/** around is a round window that has the view and as much again on either side, so that small moves ask nothing new. */
export function around(view: View, all: View): View {
  const grain = 2 ** Math.ceil(Math.log2(Math.max(view.to - view.from, 3_600_000)));
  return { from: Math.max(Math.floor(view.from / grain - 1) * grain, all.from), to: Math.min(Math.ceil(view.to / grain + 1) * grain, all.to) };
}

export interface Bar { left: number; width: number; state: CoverageState; items: Stretch[] }

/**
 * bars lays stretches onto so many pixels. What is narrower than a few pixels is drawn together with its neighbours, in the
 * state of the worst of them: ten years of hours must neither cost ten thousand elements nor hide one failure.
 */
export function bars(all: readonly Stretch[], view: View, pixels: number): Bar[] {
  const scale = pixels / (view.to - view.from), narrow = 3;
  const out: Bar[] = [];
  for (const s of all) {
    if (s.end <= view.from || s.start >= view.to) continue;
    const left = (Math.max(s.start, view.from) - view.from) * scale, right = (Math.min(s.end, view.to) - view.from) * scale;
    const last = out[out.length - 1];
    const tiny = right - left < narrow;
    if (last && ((tiny && last.width < narrow * 2 && left - (last.left + last.width) < narrow) || left < last.left + last.width - narrow)) {
      last.width = Math.max(last.left + last.width, right) - last.left;
      last.state = worse(last.state, s.state);
      last.items.push(s);
    } else out.push({ left, width: Math.max(right - left, 1.5), state: s.state, items: [s] });
  }
  return out;
}

const minute = 60_000, hour = 3_600_000, day = 86_400_000;
const steps = [minute, 5 * minute, 15 * minute, hour, 3 * hour, 6 * hour, 12 * hour, day, 2 * day, 7 * day];

/** ticks gives about `most` round times within view, with short words for them. */
export function ticks(view: View, most: number): { at: number; label: string }[] {
  const span = view.to - view.from;
  const step = steps.find((s) => span / s <= most);
  const out: { at: number; label: string }[] = [];
  if (step) {
    for (let t = Math.ceil(view.from / step) * step; t < view.to; t += step) {
      const iso = new Date(t).toISOString();
      out.push({ at: t, label: step >= day || t % day === 0 ? iso.slice(0, 10) : iso.slice(11, 16) });
    }
    return out;
  }
  const months = [1, 2, 3, 6, 12, 24, 60, 120, 240].find((m) => span / (30 * day * m) <= most) ?? 600;
  const first = new Date(view.from);
  for (let y = first.getUTCFullYear(), m = Math.floor(first.getUTCMonth() / Math.min(months, 12)) * Math.min(months, 12); ; m += months) {
    const t = Date.UTC(y, m, 1);
    if (t >= view.to) return out;
    if (t >= view.from) out.push({ at: t, label: new Date(t).toISOString().slice(0, months >= 12 ? 4 : 7) });
  }
}

/** zoomed is view, larger or smaller around a point, and never outside of all. */
export function zoomed(view: View, all: View, factor: number, around: number): View {
  const span = Math.min(Math.max((view.to - view.from) * factor, 10 * minute), all.to - all.from);
  const share = (around - view.from) / (view.to - view.from);
  return moved({ from: around - span * share, to: around + span * (1 - share) }, all, 0);
}

/** moved is view, further left or right by so many milliseconds, and never outside of all. */
export function moved(view: View, all: View, by: number): View {
  const span = Math.min(view.to - view.from, all.to - all.from);
  const from = Math.min(Math.max(view.from + by, all.from), all.to - span);
  return { from, to: from + span };
}

export interface Month { key: string; name: string; lead: number; days: { date: string; no: number; day?: Day }[] }

/** monthsOf lays the days of one year into months; weeks begin on Monday. */
export function monthsOf(year: number, days: ReadonlyMap<string, Day>, from: string, to: string): Month[] {
  const out: Month[] = [];
  for (let m = 0; m < 12; m++) {
    const key = `${year}-${String(m + 1).padStart(2, "0")}`;
    if (key < from.slice(0, 7) || key > to.slice(0, 7)) continue;
    const first = new Date(Date.UTC(year, m, 1)), count = new Date(Date.UTC(year, m + 1, 0)).getUTCDate();
    out.push({
      key, name: first.toLocaleDateString("en", { month: "long", timeZone: "UTC" }), lead: (first.getUTCDay() + 6) % 7,
      days: Array.from({ length: count }, (_, i) => { const date = `${key}-${String(i + 1).padStart(2, "0")}`; return { date, no: i + 1, day: days.get(date) }; }),
    });
  }
  return out;
}
