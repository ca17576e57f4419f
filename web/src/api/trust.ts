// Rows about evidence, people and events.
import type { Fault } from "./types";

export interface Difference { field: string; was: string; is: string }
export interface Fresh { status: [number, number]; same_body: boolean; items: [number, number]; added?: string[] | null; removed?: string[] | null; changed?: string[] | null; differences?: Difference[] | null; error?: string; note?: string }
export interface ReplayedPage { page: number; batch_no: number; phase: string; ordinal: number; status: string; verdict: string; items: number; body_sha256?: string; note?: string; differences?: Difference[] | null; live?: Fresh | null }
export interface Replayed { run: number; source: string; window: string; spec_fingerprint: string; live: boolean; pages: ReplayedPage[]; same: number; differs: number; no_body: number; asked: number; changed: number; said?: string; next?: string }

export interface AuditEntry { seq: number; at: string; actor: string; action: string; target: string; reason?: string; detail?: unknown; prev_hash?: string; hash: string }
export interface Token { id: number; name: string; role: string; evidence: boolean; parent?: number; created_at: string; created_by: string; expires_at: string; revoked_at?: string | null; last_used_at?: string | null }
export interface Schedule {
  name: string; cron: string; source: string; endpoint?: string; operation: string; query?: string; origin?: string; campaign?: string; by?: string; every?: string; paused?: boolean; next?: string;
  last?: { id: number; triggered_at: string; status: string; error?: Fault | string | null; plan_id?: number } | null;
}
export interface Sink { name: string; position: number; owner?: string; leased_until?: string; lag: number; waiting: number; aside: number; capped?: boolean; oldest?: string; attempts: number; held: boolean; new?: boolean; last_error?: string; notes?: { failures?: number; failed_at?: string; last_error?: string } | null }
export interface CloudEvent { id: string; source: string; type: string; subject?: string; time: string; data?: Record<string, unknown> | null }
