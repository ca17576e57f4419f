import { useGet } from "../api/hooks";
import type { Why } from "../api/types";
import { Next } from "./Command";
import { plain } from "./format";
import { Note } from "./Notes";

/** WhyNote says in a sentence why a task waits, what it does, or how it ended. */
export function WhyNote({ task }: { task: number }) {
  const why = useGet<Why>(["tasks", "batches", "controls", "gates"], `/tasks/${task}/why`).data;
  if (!why) return null;
  const tone = why.task?.status === "FAILED" ? "bad" : why.task?.status === "SUCCEEDED" ? "good" : why.task?.status === "QUEUED" ? "warn" : "busy";
  return <Note tone={tone} state={why.task?.status === "SUCCEEDED" ? "OK" : undefined}><p>{plain(why.said)}</p><Next text={why.next} /></Note>;
}
