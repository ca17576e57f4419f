// Rows about sources, and what a query becomes at one.
import type { RecordRow } from "./records";
import type { Plan, Slice, Warning, Window } from "./types";

export interface Listed { code: string; name: string; endpoints: string[]; paging?: string[] | null; rate?: string; from?: string; in_force: string; since?: string; file?: string; problem?: string }
export interface Endpoint {
  name: string; role: string; default: boolean; method?: string; path: string; parameters: string[]; paging?: string; page_size?: number; format: string; window_field?: string; strategy?: string; by_id: boolean; auth: string;
}
export interface QueryField { name: string; type: string; ops: string[]; match: string[]; case_sensitive?: boolean; once?: boolean; precision?: string; open: string[] }
export interface SourceView {
  code: string; name: string; docs?: string; record_type: string; in_force: string; since?: string; file?: string; standing: string; per_second: number;
  parameters: { name: string; default?: string; required?: boolean; doc?: string }[]; endpoints: Endpoint[]; query_fields: QueryField[];
  secrets: { name: string; required: boolean; set: boolean; broken?: boolean }[]; not_shown: string[]; yaml: string;
}
export interface RegistryRow { id: number; source: string; dimension: string; endpoint?: string; operation?: string; effective_from: string; effective_to?: string | null; lifecycle: string; version: number; body: unknown; source_file_sha256?: string }
export interface SourceDiff { a: State; b: State; differences: { path: string; a?: unknown; b?: unknown }[] }
export interface State { from: string; name: string; at?: string }
export interface Spec { endpoint: string; operation: string; spec_fingerprint: string; fields?: { path: string; value: unknown; layer?: { name: string; dimension?: string } }[] | null; snapshot?: unknown }

/** Ask is a question to a provider, as the tester puts it. */
export interface Ask { endpoint?: string; query?: string; from?: string; to?: string; params?: Record<string, string> }
export interface Clause { text: string; rule?: string; fragment?: string; params?: Record<string, string[]> | null; note?: string; negated?: boolean }
export interface Explanation { source: string; query: string; expr_proto_hash: string; clauses: Clause[] | null; method: string; url: string; body?: string; headers?: Record<string, string> }
export interface Sent { method: string; url: string; headers: Record<string, string>; body?: string; auth?: string }
export interface Received { status: number; headers: Record<string, string>; bytes: number; body: string; truncated: boolean }
/** Unread is an item of a page that cannot become a record. */
export interface Unread { item: number; id?: string; code: string; path?: string; text: string }
export interface Tested {
  request: Sent; response: Received; detail?: { request: Sent; response: Received }; items: number; has_next: boolean; next?: string; end?: string; total?: number;
  records: RecordRow[]; problems: Unread[]; error?: string; error_code?: string;
}
export interface Draft {
  said?: string; next?: string; plan?: Plan; id?: number; decision?: { window: Window; reason?: string; now_safe?: string; cursor?: string }; warnings?: Warning[] | null; existing?: Plan | null;
  price?: { slices: number; records: number; requests: number; bytes: number; seconds: number; finish?: string }; probes?: number; slices?: Slice[] | null; quota?: { window: string; said?: string }[] | null; nothing?: boolean;
}
