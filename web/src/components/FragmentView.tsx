import { useEffect, useMemo, useRef } from "react";
import { elementOf, layOut, placeOf, visible } from "./fragment";

const most = 60_000; // of letters before and after the place; more makes a browser slow

/** FragmentView shows what the provider sent with the failing place marked. Everything in it is text. */
export function FragmentView({ text, path }: { text: string; path?: string }) {
  const mark = useRef<HTMLElement>(null), box = useRef<HTMLPreElement>(null);
  const { before, marked, after, found } = useMemo(() => {
    const laid = layOut(text);
    const whole = laid?.text ?? text;
    const at = path ? (laid ? placeOf(laid, path) : elementOf(text, path)) : undefined;
    if (!at) return { before: whole.slice(0, most), marked: "", after: "", found: false };
    return { before: whole.slice(Math.max(0, at.start - most), at.start), marked: whole.slice(at.start, at.end), after: whole.slice(at.end, at.end + most), found: true };
  }, [text, path]);
  useEffect(() => { // to the place, within the box only
    if (mark.current && box.current) box.current.scrollTop = mark.current.offsetTop - box.current.offsetTop - box.current.clientHeight / 3;
  }, [marked]);
  return (
    <>
      {path && !found ? <p className="small dim">There is nothing at <code>{path}</code> in it.</p> : null}
      <pre className="json tall fragment" ref={box} tabIndex={0} aria-label="What the provider sent">{visible(before)}{marked ? <mark ref={mark}>{visible(marked)}</mark> : null}{visible(after)}</pre>
    </>
  );
}
