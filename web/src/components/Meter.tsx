import type { Tone } from "./state";

/** Meter is a bar of how much of something is used; the words beside it say the same. */
export function Meter({ value, most, label, tone = "busy" }: { value: number; most: number; label: string; tone?: Tone }) {
  const share = most > 0 ? Math.min(1, Math.max(0, value / most)) : 0;
  return <div className="meter" role="meter" aria-label={label} aria-valuemin={0} aria-valuemax={most} aria-valuenow={Math.min(value, most)}><span data-tone={tone} style={{ width: `${share * 100}%` }} /></div>;
}
