import { createContext, use, useEffect, useState, type ReactNode } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { turn } from "./due";
import type { Pulse } from "./types";

export type Link = "connecting" | "live" | "reconnecting";
const Context = createContext<{ link: Link; pulse?: Pulse }>({ link: "connecting" });
export const useStream = () => use(Context);

/** A harvest commits many pages a second; asking for everything again more often than this helps nobody's eyes. */
const quiet = 1500;

/** StreamProvider holds the one connection on which the server tells what changed. */
export function StreamProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const [link, setLink] = useState<Link>("connecting");
  const [pulse, setPulse] = useState<Pulse>();

  useEffect(() => {
    let source: EventSource | undefined, again: number | undefined, flush: number | undefined;
    let opened = false, ended = false;
    let last = 0;
    const due = new Map<string, number>(); // queries that are to be asked again, by hash, and when a pulse last named them

    const ask = () => {
      flush = undefined;
      last = Date.now();
      for (const q of client.getQueryCache().getAll()) {
        const named = due.get(q.queryHash);
        if (named === undefined) continue;
        const what = turn({ active: q.isActive(), fetching: q.state.fetchStatus === "fetching", answered: q.state.dataUpdatedAt, named, every: (q.meta?.every as number | undefined) ?? 0 }, last);
        if (what === "wait") continue;
        if (what === "ask") due.delete(q.queryHash);
        void client.invalidateQueries({ queryKey: q.queryKey, exact: true });
      }
      if (due.size > 0) later();
    };
    const later = () => { flush ??= window.setTimeout(ask, Math.max(0, last + quiet - Date.now())); };
    const note = (topics: readonly string[]) => {
      for (const q of client.getQueryCache().getAll()) if (((q.meta?.topics ?? []) as string[]).some((t) => topics.includes(t))) due.set(q.queryHash, Date.now());
      if (due.size > 0) later();
    };

    const open = () => {
      source = new EventSource("/api/v1/stream");
      source.onopen = () => {
        setLink("live");
        if (opened) void client.invalidateQueries(); // what happened meanwhile nobody told
        opened = true;
      };
      source.addEventListener("pulse", (e) => {
        let p: Pulse;
        try { p = JSON.parse((e as MessageEvent<string>).data) as Pulse; } catch { return; }
        setPulse(p);
        note(p.topics ?? []);
      });
      source.onerror = () => {
        if (ended) return;
        setLink(opened ? "reconnecting" : "connecting");
        // After a refusal (not a broken line) the browser gives up, so this asks again, a little later each time is not needed.
        if (source?.readyState === EventSource.CLOSED) { source.close(); again = window.setTimeout(open, 5000); }
      };
    };
    open();
    return () => { ended = true; source?.close(); window.clearTimeout(again); window.clearTimeout(flush); };
  }, [client]);

  return <Context value={{ link, pulse }}>{children}</Context>;
}
