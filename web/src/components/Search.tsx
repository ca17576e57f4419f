import { useRef, useState, type FormEvent } from "react";
import { TextInput } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useNavigate } from "react-router";

const places: Record<string, string> = { plan: "/plans/", slice: "/slices/", task: "/tasks/", run: "/runs/", batch: "/batches/", page: "/batches/", cursor: "/cursors/", quarantine: "/quarantine/", source: "/sources/", gate: "/gates/" };

/** placeOf says which page a search means: a noun and its id, and otherwise the id of a record. */
export function placeOf(text: string): string {
  const t = text.trim();
  const m = /^([a-z]+)[:/ ]\s*(\S+)$/i.exec(t);
  const place = m && places[m[1]!.toLowerCase()];
  if (m && place && (/^\d+$/.test(m[2]!) || ["source", "gate"].includes(m[1]!.toLowerCase()))) return place + encodeURIComponent(m[2]!);
  return "/records?id=" + encodeURIComponent(t);
}

export function Search() {
  const [text, setText] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const go = useNavigate();
  useHotkeys([["/", () => input.current?.focus()]]);
  const submit = (e: FormEvent) => { e.preventDefault(); if (text.trim()) { void go(placeOf(text)); setText(""); input.current?.blur(); } };
  return (
    <form role="search" onSubmit={submit}>
      <TextInput ref={input} size="sm" aria-label="Jump to a plan, slice, task, run, batch, cursor or record" placeholder="task:9, plan:3, or a record's id" leftSection={<IconSearch size={16} aria-hidden />} value={text} onChange={(e) => setText(e.currentTarget.value)} title="Press / to search" />
    </form>
  );
}
