import { meanings } from "./state";
import type { CoverageState } from "../api/types";

/** Legend says what the patterns mean; with `only`, just those that are there. */
export function Legend({ only }: { only?: ReadonlySet<CoverageState> }) {
  return (
    <ul className="legend" aria-label="Legend">
      {meanings.filter(([s]) => !only || only.has(s)).map(([s, what]) => <li key={s}><span className="cov swatch" data-state={s} aria-hidden /><b>{s.toLowerCase()}</b> <span className="dim">{what}</span></li>)}
    </ul>
  );
}
