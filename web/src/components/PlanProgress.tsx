import { Link } from "react-router";
import { useList } from "../api/hooks";
import type { Plan, Slice } from "../api/types";
import { plural } from "./format";
import { look } from "./state";

const states = ["SUCCEEDED", "SPLIT", "READY", "PARTIAL", "FAILED", "CANCELLED"] as const;
const words: Record<string, string> = { READY: "to be read", SUCCEEDED: "read", PARTIAL: "left early", SPLIT: "cut smaller", FAILED: "failed", CANCELLED: "called off" };

/** PlanProgress says how much of a plan is done, by its slices. */
export function PlanProgress({ plan }: { plan: Plan }) {
  const slices = useList<Slice>(["plans", "tasks"], "/slices", { plan: plan.id }, { limit: 1000 });
  const rows = slices.data ?? [];
  if (rows.length === 0) return null;
  const parts = states.map((s) => [s, rows.filter((r) => r.status === s).length] as const).filter(([, n]) => n > 0);
  return (
    <section className="card stack tight" aria-label="Progress">
      <div className="bar" role="img" aria-label={parts.map(([s, n]) => `${n} ${words[s]}`).join(", ")}>
        {parts.map(([s, n]) => <span key={s} data-tone={look(s).tone} style={{ flexGrow: n }} />)}
      </div>
      <div className="row small">{parts.map(([s, n]) => <Link key={s} to={`/slices?plan=${plan.id}&status=${s}`}>{plural(n, "slice")} {words[s]}</Link>)}{slices.hasNextPage ? <span className="dim">of the newest 1,000</span> : null}</div>
    </section>
  );
}
