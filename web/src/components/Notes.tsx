import type { ReactNode } from "react";
import { Button } from "@mantine/core";
import { IconAlertTriangle, IconInfoCircle } from "@tabler/icons-react";
import { ApiError } from "../api/client";
import { Command, Next } from "./Command";
import { plain, sentence } from "./format";
import { look, type Tone } from "./state";

/** Note is a sentence that matters, with the tone of a state. */
export function Note({ tone = "busy", state, children }: { tone?: Tone; state?: string; children: ReactNode }) {
  const seen = state ? look(state) : undefined;
  const Icon = seen?.icon ?? (tone === "bad" || tone === "warn" ? IconAlertTriangle : IconInfoCircle);
  return <div className="note" data-tone={seen?.tone ?? tone}><Icon size={18} aria-hidden /><div className="stack tight grow">{children}</div></div>;
}

/** ErrorNote shows what went wrong as a sentence, with the next step and the id that finds it in the log. */
export function ErrorNote({ error, retry }: { error: unknown; retry?: () => void }) {
  const problem = error instanceof ApiError ? error.problem : undefined;
  const gone = problem?.status === 404 || problem?.status === 422; // asking again changes nothing
  const lost = problem?.errors?.some((e) => e.location?.startsWith("path.")); // an address that somebody mistyped
  const text = lost ? "There is nothing under this address." : error instanceof Error ? error.message : String(error);
  return (
    <div className="note" data-tone="bad" role="alert">
      <IconAlertTriangle size={18} aria-hidden />
      <div className="stack tight grow">
        <p>{sentence(plain(text))}</p>
        {problem?.errors?.filter((e) => !lost && !text.toLowerCase().includes(e.message.toLowerCase())).map((e, i) => <p key={i} className="small">{e.location ? <code>{e.location}</code> : null} {e.message}</p>)}
        <Next text={problem?.next} />
        {problem?.code || problem?.id ? <p className="small dim">{problem.code}{problem.code && problem.id ? " · " : ""}{problem.id ? `in the log: ${problem.id}` : ""}</p> : null}
        {retry && !gone ? <div><Button size="compact-sm" variant="default" onClick={retry}>Try again</Button></div> : null}
      </div>
    </div>
  );
}

/** Empty is what a list says when it has nothing: why, and the one next command. */
export function Empty({ title, children, command }: { title: string; children?: ReactNode; command?: string }) {
  return <div className="empty"><p><b>{title}</b></p>{children ? <div className="dim">{children}</div> : null}{command ? <Command text={command} /> : null}</div>;
}
