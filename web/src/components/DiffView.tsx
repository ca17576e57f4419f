import type { ReactNode } from "react";
import { differ, plain, type Change, type Part } from "./diff";

const show = (parts: Part[], as: "del" | "ins") => parts.map((p, i) => (p.changed ? (as === "del" ? <del key={i}>{p.text}</del> : <ins key={i}>{p.text}</ins>) : <span key={i}>{p.text}</span>));

/** DiffView shows changes field by field, what was on the left and what is on the right; on a phone one below the other. */
export function DiffView({ changes, label, was = "before", is = "after", none }: { changes: readonly Change[]; label: string; was?: ReactNode; is?: ReactNode; none?: ReactNode }) {
  if (changes.length === 0) return <p className="dim">{none ?? "No field differs."}</p>;
  return (
    <div className="diff" role="table" aria-label={label}>
      <div className="diff-head" role="row"><span role="columnheader">field</span><span role="columnheader">{was}</span><span role="columnheader">{is}</span></div>
      {changes.map((c) => {
        const a = plain(c.was), b = plain(c.is);
        const [left, right] = c.was === undefined || c.is === undefined ? [[{ text: a, changed: true }], [{ text: b, changed: true }]] : differ(a, b);
        return (
          <div key={c.path} className="diff-row" role="row">
            <code role="rowheader">{c.path || "(all)"}</code>
            <div role="cell" data-side="was" dir="auto">{c.was === undefined ? <span className="dim">not there</span> : show(left, "del")}</div>
            <div role="cell" data-side="is" dir="auto">{c.is === undefined ? <span className="dim">gone</span> : show(right, "ins")}</div>
          </div>
        );
      })}
    </div>
  );
}
