// Rows as the API gives them: the same fields as `-o json` on the command line. Only what the pages use is named.

export interface Window { from: string; to: string }
export interface Page<T> { items: T[]; next_cursor?: string }

export interface System {
  version: string; engine?: string; store?: string; tokens?: boolean; now?: string; last_claim?: string;
  caller?: { name: string; role: Role; evidence?: boolean };
}
export type Role = "viewer" | "operator" | "admin";

export interface SourceHealth {
  code: string; title?: string; health: string; said?: string; complete_through?: string; lag_seconds?: number;
  gaps?: number; queued?: number; running?: number; failed?: number; quarantine?: number; cursors?: number; last_page_at?: string;
}
export interface Overview {
  totals: { records: number; queued: number; running: number; failed: number; quarantine: number };
  sources: SourceHealth[]; recent: Plan[];
}

/** Fault is how a page, a run or a task failed. */
export interface Fault { level?: string; code?: string; text?: string }
export interface Warning { code: string; path?: string; text: string }
export interface Plan {
  id: number; key: string; generation?: number; source: string; endpoint: string; operation: string; cursor_id?: number;
  window: Window; window_inputs?: Record<string, unknown>; expr_proto?: unknown; expr_proto_hash?: string;
  spec_fingerprint?: string; slice_strategy?: string; slice_params?: Record<string, unknown>; base_url?: string; priority: number;
  slice_count?: number; estimated_records?: number; estimated_requests?: number; status: string; reason?: string; error?: string;
  campaign_id?: number; warnings?: Warning[] | null; created_at: string;
}
export interface Slice {
  id: number; plan_id: number; cursor_id?: number; slice_no: number; purpose: string; part_no?: number; part_count?: number;
  slice_spec?: unknown; expr?: unknown; window: Window; fetch?: Window; estimate?: { records?: number; source?: string };
  status: string; reason?: string; error?: Fault; parent_slice_id?: number; confirmed?: Window; reslice?: unknown; closed_at?: string;
}
export interface Task {
  id: number; plan_id: number; slice_id: number; cursor_id?: number; source: string; endpoint: string; operation: string; priority: number;
  scheduled_at: string; status: string; lease_count: number; lease_owner?: string; leased_until?: string; attempt_count: number; max_attempts: number;
  scan_no: number; window: Window; wait_code?: string; last_error?: Fault; base_url?: string;
}
export interface Counts { insert: number; update: number; same: number; stale: number; dup: number; quarantine: number; outside: number }
export interface Run {
  id: number; task_id: number; attempt_no: number; plan_id: number; slice_id: number; source: string; operation: string; lease_owner?: string;
  window: Window; scan_no: number; exhausted?: boolean; stats?: { counts?: Counts; pages?: number; records?: number };
  status: string; error?: Fault; started_at: string; finished_at?: string;
}
export interface Batch {
  id: number; run_id: number; task_id: number; slice_id: number; plan_id: number; source: string; operation: string; batch_no: number; scan_no: number;
  phase: string; ordinal: number; has_next?: boolean; end_code?: string; provider_total?: number; record_count: number; counts?: Counts;
  body_sha256?: string; status: string; error?: Fault; started_at: string; committed_at?: string;
}
export interface Why { code: string; said: string; next?: string; task?: Task; run?: Run; page?: Batch }
export interface Exchange {
  request?: { method?: string; url?: string; headers?: Record<string, unknown>; body?: string };
  response?: { status?: number; headers?: Record<string, unknown>; body?: string; truncated?: boolean; sha256?: string };
  status?: number; headers?: Record<string, unknown>; body?: string; truncated?: boolean; sha256?: string;
}

export interface Cursor {
  id: number; source: string; endpoint: string; operation: string; cursor_key?: string; scope?: string; namespace_key?: string;
  origin?: string; origin_code?: string; watermark?: string; complete_through?: string; observed_max?: string; version?: number; updated_at?: string;
}
export interface CursorEvent { cursor_id: number; seq: number; cause: string; from?: string; to?: string; slice_id?: number; run_id?: number; reason?: string; actor?: string; created_at: string }
export type CoverageState = "SEALED" | "FETCHED" | "COUNTED" | "OPEN" | "RUNNING" | "QUEUED" | "FAILED" | "DISPUTED" | "WAIVED" | "GAP";
export interface Segment { from: string; to: string; state: CoverageState; slice_id?: number; task_id?: number; records?: number; expected?: number; said?: string }
export interface Day { day: string; state: CoverageState; records?: number; gaps?: number }
export interface Coverage { cursor: Cursor; window: Window; complete_through?: string; segments: Segment[]; days: Day[] }
export interface Gap { source: string; endpoint: string; operation: string; cursor_id: number; window: Window; kind: string; why?: string; next?: string }

export interface Alert {
  kind: string; severity: string; target: string; said: string; since?: string; next?: string;
  link?: { plan?: number; task?: number; cursor?: number; source?: string };
}
export interface Said { said?: string; next?: string; [fact: string]: unknown }
export interface Pulse { topics: string[]; running?: number; queued?: number; records?: number; at?: string }
