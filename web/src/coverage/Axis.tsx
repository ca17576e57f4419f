import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type PointerEvent } from "react";
import { ActionIcon } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { IconArrowLeft, IconArrowRight, IconArrowsMaximize, IconZoomIn, IconZoomOut } from "@tabler/icons-react";
import { count, span } from "../components/format";
import { bars, moved, rank, ticks, tiled, zoomed, type Bar, type Stretch, type View } from "./state";

interface Props { all: readonly Stretch[]; whole: View; view: View; onView: (v: View) => void; picked?: Stretch; onPick: (s: Stretch) => void; through?: string; label: string }

export const describe = (s: Stretch) => `${span(s)}: ${s.state.toLowerCase()}${s.records !== undefined ? `, ${count(s.records)} records` : ""}${s.expected !== undefined ? ` of ${count(s.expected)} expected` : ""}`;

function say(b: Bar): string {
  if (b.items.length === 1) return describe(b.items[0]!);
  const tally = new Map<string, number>();
  for (const s of b.items) tally.set(s.state, (tally.get(s.state) ?? 0) + 1);
  return `${span({ from: b.items[0]!.from, to: b.items[b.items.length - 1]!.to })}: ${[...tally].map(([s, n]) => `${n} ${s.toLowerCase()}`).join(", ")}; zoom in to see each`;
}

/** Axis draws stretches on a line of time that can be zoomed (wheel, buttons, + and -) and moved (drag, buttons, arrows). */
export function Axis({ all, whole, view, onView, picked, onPick, through, label }: Props) {
  const { ref: sizer, width } = useElementSize();
  const track = useRef<HTMLDivElement>(null);
  const [hover, setHover] = useState<string>();
  const drag = useRef<{ x: number; view: View; moved: boolean } | undefined>(undefined);
  const pixels = Math.max(width, 100), perPixel = (view.to - view.from) / pixels;
  const pieces = useMemo(() => tiled(all), [all]);
  const drawn = bars(pieces, view, pixels);
  const marks = ticks(view, Math.max(2, Math.floor(pixels / 95)));
  const middle = (view.from + view.to) / 2;

  // React listens to the wheel passively; only a listener of our own may keep the page from scrolling.
  const now = useRef({ view, whole, onView });
  now.current = { view, whole, onView };
  useEffect(() => {
    const el = track.current;
    if (!el) return;
    const wheel = (e: WheelEvent) => {
      const { view, whole, onView } = now.current;
      const box = el.getBoundingClientRect();
      const at = view.from + ((e.clientX - box.left) / box.width) * (view.to - view.from);
      const next = Math.abs(e.deltaX) > Math.abs(e.deltaY) ? moved(view, whole, (e.deltaX / box.width) * (view.to - view.from)) : zoomed(view, whole, Math.exp(e.deltaY * 0.002), at);
      if (next.from === view.from && next.to === view.to) return; // nothing left to zoom: the page may scroll
      e.preventDefault();
      onView(next);
    };
    el.addEventListener("wheel", wheel, { passive: false });
    return () => el.removeEventListener("wheel", wheel);
  }, []);

  const down = (e: PointerEvent) => { if (e.button === 0) drag.current = { x: e.clientX, view, moved: false }; };
  const move = (e: PointerEvent<HTMLDivElement>) => {
    const d = drag.current;
    if (!d) return;
    if (!d.moved && Math.abs(e.clientX - d.x) < 4) return;
    if (!d.moved) { d.moved = true; e.currentTarget.setPointerCapture(e.pointerId); }
    onView(moved(d.view, whole, (d.x - e.clientX) * perPixel));
  };
  const up = () => { const d = drag.current; setTimeout(() => { if (drag.current === d) drag.current = undefined; }); };
  const step = (view.to - view.from) / 5;
  const keys = (e: KeyboardEvent) => {
    const onBar = e.target !== e.currentTarget;
    const act: Record<string, () => void> = {
      "+": () => onView(zoomed(view, whole, 0.6, middle)), "=": () => onView(zoomed(view, whole, 0.6, middle)), "-": () => onView(zoomed(view, whole, 1 / 0.6, middle)), "0": () => onView(whole),
      ArrowLeft: () => (onBar ? beside(-1) : onView(moved(view, whole, -step))), ArrowRight: () => (onBar ? beside(1) : onView(moved(view, whole, step))),
      Home: () => onView(moved(view, whole, whole.from - view.from)), End: () => onView(moved(view, whole, whole.to - view.to)),
    };
    const f = act[e.key];
    if (f && !e.ctrlKey && !e.metaKey && !e.altKey) { e.preventDefault(); f(); }
  };
  const beside = (by: number) => {
    const buttons = [...(track.current?.querySelectorAll<HTMLButtonElement>("button") ?? [])];
    buttons[buttons.indexOf(document.activeElement as HTMLButtonElement) + by]?.focus();
  };
  const click = (b: Bar) => {
    if (drag.current?.moved) return;
    const first = b.items[0]!, last = b.items[b.items.length - 1]!;
    const apart = b.items.some((s) => s.start !== first.start || s.end !== first.end);
    if (!apart || b.width > pixels * 0.8) onPick([...b.items].sort((x, y) => rank(x.state) - rank(y.state))[0]!); // zooming in would not part them
    else onView(moved(zoomed({ from: first.start, to: last.end }, whole, 1.2, (first.start + last.end) / 2), whole, 0));
  };
  const chosen = drawn.findIndex((b) => picked && b.items.some((s) => s.from === picked.from && s.to === picked.to && s.state === picked.state));
  const at = through ? (Date.parse(through) - view.from) / perPixel : -1;

  return (
    <div className="stack tight">
      <div className="row between">
        <span className="small num">{span({ from: new Date(view.from).toISOString(), to: new Date(view.to).toISOString() })}</span>
        <span className="row tight-row">
          <ActionIcon variant="default" aria-label="Earlier" onClick={() => onView(moved(view, whole, -step))}><IconArrowLeft size={16} /></ActionIcon>
          <ActionIcon variant="default" aria-label="Later" onClick={() => onView(moved(view, whole, step))}><IconArrowRight size={16} /></ActionIcon>
          <ActionIcon variant="default" aria-label="Zoom in" onClick={() => onView(zoomed(view, whole, 0.6, middle))}><IconZoomIn size={16} /></ActionIcon>
          <ActionIcon variant="default" aria-label="Zoom out" onClick={() => onView(zoomed(view, whole, 1 / 0.6, middle))}><IconZoomOut size={16} /></ActionIcon>
          <ActionIcon variant="default" aria-label="Show everything" onClick={() => onView(whole)}><IconArrowsMaximize size={16} /></ActionIcon>
        </span>
      </div>
      <div ref={sizer} className="axis">
        <div ref={track} className="axis-track" tabIndex={0} role="group" aria-label={`${label}: time axis. Plus and minus zoom, arrows move, Tab leads to the stretches`} onKeyDown={keys} onPointerDown={down} onPointerMove={move} onPointerUp={up} onPointerCancel={up}>
          {drawn.map((b, i) => (
            <button key={b.items[0]!.start} type="button" className="cov" data-state={b.state} data-picked={i === chosen || undefined} tabIndex={i === Math.max(chosen, 0) ? 0 : -1} aria-label={say(b)}
              style={{ left: `${b.left}px`, width: `${Math.max(b.width - (b.width > 6 ? 1 : 0), 1)}px` }} onClick={() => click(b)} onPointerEnter={() => setHover(say(b))} onPointerLeave={() => setHover(undefined)} onFocus={() => setHover(say(b))} onBlur={() => setHover(undefined)} />
          ))}
          {at >= 0 && at <= pixels ? <span className="axis-through" style={{ left: `${at}px` }} title={`complete through ${through}`} /> : null}
        </div>
        <div className="axis-ticks" aria-hidden>
          {marks.map((t) => { const x = (t.at - view.from) / perPixel; return <span key={t.at} style={{ left: `${x}px` }}>{x < pixels - 70 ? t.label : ""}</span>; })}
        </div>
      </div>
      <p className="small axis-say" aria-live="polite">{hover ?? <span className="dim">Point at a stretch to read it, click it for its slice. Wheel, + and − zoom; drag and arrows move.</span>}</p>
    </div>
  );
}
