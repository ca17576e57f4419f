import { useEffect, useMemo, useRef, useState } from "react";
import { useDebouncedValue } from "@mantine/hooks";
import { useSearchParams } from "react-router";
import { useGet } from "../api/hooks";
import type { Coverage } from "../api/types";
import { Empty } from "../components/Notes";
import { Axis } from "./Axis";
import { Calendar } from "./Calendar";
import { Legend } from "./Legend";
import { Picked } from "./Picked";
import { SegmentTable } from "./SegmentTable";
import { around, moved, rank, spliced, stretches, type Stretch, type View } from "./state";

const day = 86_400_000;

/** wholeOf is the stretch of time that a map shows when it is not zoomed. */
export function wholeOf(c: Coverage, all: readonly Stretch[]): View | undefined {
  const from = Math.min(Date.parse(c.window?.from ?? ""), ...all.map((s) => s.start)), to = Math.max(Date.parse(c.window?.to ?? ""), ...all.map((s) => s.end));
  if (Number.isFinite(from) && to > from) return { from, to };
  const first = all[0], last = Math.max(...all.map((s) => s.end));
  return first ? { from: first.start, to: last } : undefined;
}

/** useCloser asks for a part of a map anew where the server had to join stretches, once somebody looks closely. */
function useCloser(c: Coverage, base: Stretch[], view?: View, whole?: View): Stretch[] {
  const [still] = useDebouncedValue(view, 250);
  const close = !!c.merged && !!still && !!whole && still.to - still.from < (whole.to - whole.from) / 2;
  const part = close ? around(still, whole) : undefined;
  const got = useGet<Coverage>(["cursors", "tasks", "plans"], `/cursors/${c.cursor.id}/coverage`, part && { from: new Date(part.from).toISOString(), to: new Date(part.to).toISOString() }, { enabled: close, every: 5_000, placeholderData: (before) => before });
  const seen = close ? got.data : undefined;
  return useMemo(() => (seen ? spliced(base, stretches(seen.segments ?? []), { from: Date.parse(seen.window.from), to: Date.parse(seen.window.to) }) : base), [base, seen]);
}

/** CoverageMap is the proof of what was covered: a calendar, a line of time, and the same as a table. */
export function CoverageMap({ coverage: c }: { coverage: Coverage }) {
  const base = useMemo(() => stretches(c.segments ?? []), [c.segments]);
  const whole = useMemo(() => wholeOf(c, base), [c, base]);
  const [params, setParams] = useSearchParams();
  const [view, setView] = useState<View | undefined>(() => {
    const from = Date.parse(params.get("from") ?? ""), to = Date.parse(params.get("to") ?? "");
    return to > from && whole ? moved({ from: from - (to - from), to: to + (to - from) }, whole, 0) : undefined;
  });
  const all = useCloser(c, base, view, whole);
  const states = useMemo(() => new Set(all.map((s) => s.state)), [all]);
  const [picked, setPicked] = useState<Stretch>();
  const box = useRef<HTMLDivElement>(null);

  // The place on the map is in the address, so that it can be sent to somebody; not at every turn of a wheel.
  useEffect(() => {
    const t = setTimeout(() => setParams((p) => {
      if (picked) { p.set("from", picked.from); p.set("to", picked.to); } else { p.delete("from"); p.delete("to"); }
      return p;
    }, { replace: true, preventScrollReset: true }), 400);
    return () => clearTimeout(t);
  }, [picked, setParams]);
  const wanted = params.get("from");
  useEffect(() => { if (wanted && !picked) setPicked(all.find((s) => s.from === wanted && s.to === params.get("to"))); }, []); // eslint-disable-line

  if (!whole) return <section className="card"><Empty title="Nothing is covered yet" command={`patra harvest ${c.cursor.source}`}>The map fills while windows are read.</Empty></section>;
  const shown = view ?? whole;
  const current = picked && (all.find((s) => s.from === picked.from && s.to === picked.to) ?? picked);
  const pick = (s: Stretch) => { setPicked(s); setTimeout(() => box.current?.scrollIntoView({ block: "nearest" })); };
  const pickDay = (date: string) => {
    const start = Date.parse(date);
    setView(moved({ from: start - day, to: start + 2 * day }, whole, 0));
    const worst = all.filter((s) => s.start < start + day && s.end > start).sort((a, b) => rank(a.state) - rank(b.state))[0];
    if (worst) setPicked(worst);
  };
  return (
    <div className="stack">
      <section className="card stack" aria-label="Map">
        <Axis label={`${c.cursor.source}/${c.cursor.endpoint}`} all={all} whole={whole} view={shown} onView={setView} picked={current} onPick={pick} through={c.complete_through ?? c.cursor.complete_through} />
        <Legend only={states} />
      </section>
      <div ref={box}>{current ? <Picked cursor={c.cursor} stretch={current} onClose={() => setPicked(undefined)} /> : null}</div>
      <section className="card stack tight" aria-label="Calendar"><h2>Calendar</h2><Calendar days={c.days ?? []} onPick={pickDay} picked={current?.from.slice(0, 10)} /></section>
      <SegmentTable all={all} view={shown} onPick={pick} />
    </div>
  );
}
