// Rows about records, as `patra records ... -o json` prints them.
import type { Cursor, Window } from "./types";

export interface RecordRow {
  source: string; repository?: string; record_type: string; id: string; rev: number; updated_at?: string | null; changed_at?: string; first_seen?: string; last_seen?: string;
  deleted: boolean; merged_into?: string; retracted?: boolean; missing_since?: string; refusals?: number; gone_at?: string; fields?: Record<string, unknown> | null; raw?: unknown; lineage?: Lineage;
}
export interface Lineage { schedule_instance?: number; plan?: number; slice?: number; task?: number; run?: number; batch?: number }
export interface Version {
  rev: number; change: string; content_sha256?: string; updated_at?: string | null; observed_at: string; batch_id?: number; why?: string; lineage?: Lineage | null;
}
export interface Signal { id: number; source: string; repository?: string; record_type: string; record_id: string; reason: string; by?: string; plan_id?: number; status: string; created_at: string }
export interface SetAside {
  id: number; source: string; repository?: string; record_type: string; record_id?: string; code: string; path?: string; bytes?: number; status: string; reason?: string; met: number;
  first_seen: string; last_seen: string; batch_id: number; lineage?: Lineage | null; fragment?: string; error?: string | { text?: string }; truncated?: boolean;
}
export interface Place { cursor: Cursor; state: string; text: string; answer?: { slice_id: number; window: Window } | null }
export interface Account { source: string; id: string; date?: string; record?: RecordRow; versions?: Version[] | null; quarantine?: SetAside[] | null; signals?: Signal[] | null; windows?: Place[] | null; verdict: string }

/** Named is a record; the repository is said where its source has several. */
export interface Named { source: string; record_type: string; id: string; repository?: string }
export const recordPath = (r: Named) => `/records/${encodeURIComponent(r.source)}/${encodeURIComponent(r.record_type)}/${encodeURIComponent(r.id)}`;
/** recordLink is the page of a record; several repositories of a source may have its id. */
export const recordLink = (r: Named) => recordPath(r) + (r.repository ? `?repository=${encodeURIComponent(r.repository)}` : "");
/** subjectLink is the page of the record that an event is about: SOURCE/TYPE/ID, and behind a blank the repository. */
export const subjectLink = (subject?: string): string | undefined => {
  const r = /^([^/]+)\/([^/]+)\/(.+?)(?: (https?:\/\/\S+))?$/s.exec(subject ?? "");
  return r ? recordLink({ source: r[1]!, record_type: r[2]!, id: r[3]!, repository: r[4] }) : undefined;
};
