// Rows as the API gives them: the same fields as `-o json` on the command line. What docs/openapi.json describes is taken from
// there (schema.d.ts is made of it by `npm run types`, which every build does first), so that a change of the API which the
// pages do not follow stops the build.
import type { components } from "./schema";

type S = components["schemas"];
export type Window = S["Window"];
export interface Page<T> { items: T[]; next_cursor?: string }

export interface System {
  version: string; engine?: string; store?: string; tokens?: boolean; now?: string; last_claim?: string;
  caller?: { name: string; role: Role; evidence?: boolean };
}
export type Role = "viewer" | "operator" | "admin";

export type Verdict = S["Verdict"];
export type Reason = S["Reason"];
export interface SourceHealth {
  code: string; title?: string; health: string; complete: boolean; disputed?: number; reasons: Reason[]; said?: string; complete_through?: string; lag_seconds?: number;
  gaps?: number; queued?: number; running?: number; failed?: number; quarantine?: number; capped?: boolean; cursors?: number; last_page_at?: string;
}
export interface Overview {
  verdict: Verdict;
  totals: { records: number; queued: number; running: number; failed: number; quarantine: number; capped?: boolean };
  sources: SourceHealth[]; recent: Plan[];
}

/** Columns that the API gives as plain JSON, because their form is the business of whoever writes them, are named here. */
export interface Warning { code: string; path?: string; text: string }
export type Fault = Partial<S["Fault"]>;
export type Counts = S["Counts"];
export type Plan = Omit<S["Plan"], "warnings"> & { warnings?: Warning[] | null };
export type Slice = S["Slice"];
export type Task = Omit<S["Task"], "last_error"> & { last_error?: Fault };
export type Run = Omit<S["Run"], "stats" | "error"> & { stats?: { counts?: Counts; pages?: number; records?: number }; error?: Fault };
export type Batch = Omit<S["Batch"], "error"> & { error?: Fault };
export type Why = S["TaskExplanation"];
export interface Exchange {
  request?: { method?: string; url?: string; headers?: Record<string, unknown>; body?: string };
  response?: { status?: number; headers?: Record<string, unknown> };
  body?: string; truncated?: boolean; said?: string; content_type?: string;
}

export interface Cursor {
  id: number; source: string; repository?: string; endpoint: string; operation: string; cursor_key?: string; scope?: string; namespace_key?: string;
  query?: string; campaign?: string; origin?: string; origin_code?: string; watermark?: string; complete_through?: string; observed_max?: string; version?: number; updated_at?: string;
}
export interface CursorEvent { cursor_id: number; seq: number; cause: string; from?: string; to?: string; slice_id?: number; run_id?: number; reason?: string; actor?: string; created_at: string }
export type CoverageState = "SEALED" | "SHORT" | "READ" | "AHEAD" | "OPEN" | "RUNNING" | "QUEUED" | "FAILED" | "DISPUTED" | "WAIVED" | "GAP";
export interface Segment { from: string; to: string; state: CoverageState; slice_id?: number; task_id?: number; records?: number; expected?: number; said?: string }
export interface Day { day: string; state: CoverageState; records?: number; gaps?: number }
export interface Coverage { cursor: Cursor; window: Window; complete_through?: string; segments: Segment[]; days: Day[]; merged?: number; cut?: boolean }
export interface Waiver { id: number; cursor_id: number; window: Window; reason: string; approved_by: string; at: string; revoked_at?: string }
export interface Gap { source: string; endpoint: string; operation: string; cursor_id: number; window: Window; kind: string; why?: string; next?: string }

export interface Alert {
  id?: number; kind: string; severity: string; target: string; said: string; since?: string; next?: string;
  link?: { plan?: number; task?: number; cursor?: number; source?: string };
  state?: string; first_at?: string; fired_at?: string; resolved_at?: string; silenced?: boolean;
  ack?: { by: string; at: string; reason?: string; until?: string };
  notices?: { receiver: string; kind: string; state: string; at?: string; tries: number; last_error?: string }[];
}
/** Alerts is what needs a person, and where that is known from. */
export interface Alerts { items: Alert[]; watched: boolean; looked_at?: string; said: string }
export interface AlertReceiver { name: string; waiting: number; failures: number; last_error?: string; failed_at?: string; sent_at?: string }
export interface Said { said?: string; next?: string; [fact: string]: unknown }
export interface Pulse { topics: string[]; running?: number; pages?: number; at?: string }
