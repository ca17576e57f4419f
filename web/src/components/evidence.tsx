import type { ReactNode } from "react";
import { useSystem } from "../api/hooks";
import { Note } from "./Notes";

/** useEvidence says whether the caller may see what providers answered; while it is not known, yes: the server refuses anyway. */
export const useEvidence = (): boolean => useSystem().data?.caller?.evidence !== false;

/** NeedsEvidence stands in for what the caller may not see, with the reason. */
export function NeedsEvidence({ children }: { children: ReactNode }) {
  return useEvidence() ? <>{children}</> : <Note tone="warn"><p>To see what providers answered, a token needs the grant evidence, and yours does not have it.</p><p className="small dim">Whoever runs the server gives it: <code>patra token create NAME --evidence</code></p></Note>;
}
