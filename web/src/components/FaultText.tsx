import type { Fault } from "../api/types";

/** FaultText says how something failed: the sentence, and the code that programs know it by. */
export function FaultText({ fault }: { fault?: Fault | null }) {
  if (!fault) return null;
  if (typeof fault === "string") return <span>{fault}</span>;
  return <span>{fault.code ? <code className="dim">{fault.code}</code> : null}{fault.path ? <> at <code>{fault.path}</code>:</> : null} {fault.text ?? ""}</span>;
}
