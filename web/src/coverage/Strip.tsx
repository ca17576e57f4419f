import { useMemo } from "react";
import { useElementSize } from "@mantine/hooks";
import { Link } from "react-router";
import type { Coverage } from "../api/types";
import { plural, span } from "../components/format";
import { wholeOf } from "./CoverageMap";
import { bars, stretches, tiled, type View } from "./state";

/** Strip is a map without hands: one line of time, to be compared with the lines above and below it. */
export function Strip({ coverage: c, view }: { coverage: Coverage; view?: View }) {
  const { ref, width } = useElementSize();
  const all = useMemo(() => stretches(c.segments ?? []), [c.segments]);
  const pieces = useMemo(() => tiled(all), [all]);
  const shown = view ?? wholeOf(c, all);
  if (!shown) return <p className="dim small">Nothing is covered yet.</p>;
  const tally = new Map<string, number>();
  for (const s of all) { const word = s.state.toLowerCase(); tally.set(word, (tally.get(word) ?? 0) + 1); }
  const said = (join: string) => [...tally].map(([s, n]) => (s === "ahead" ? "the rest not read yet" : s === "gap" ? plural(n, "gap") : `${n} ${s}`)).join(join);
  return (
    <div ref={ref} className="axis mini">
      <Link to={`/cursors/${c.cursor.id}`} className="axis-track strip" aria-label={`Map of ${c.cursor.source}/${c.cursor.endpoint}: ${said(", ")}`}>
        {bars(pieces, shown, Math.max(width, 100)).map((b) => <span key={b.items[0]!.start} className="cov" data-state={b.state} title={`${span({ from: b.items[0]!.from, to: b.items[b.items.length - 1]!.to })} ${b.state.toLowerCase()}`} style={{ left: `${b.left}px`, width: `${Math.max(b.width, 1.5)}px` }} />)}
      </Link>
      <div className="row between small dim"><span>{span({ from: new Date(shown.from).toISOString(), to: new Date(shown.to).toISOString() })}</span><span>{said(" · ")}</span></div>
    </div>
  );
}
