// Rows about rates, quotas and the queue, as `patra gate ... -o json` and `patra queue -o json` print them.
import type { Fault } from "./types";

export interface Quota { key: string; window: string; from: string; to: string; limit: number; usable: number; used: number; lasts_until?: string; lasts: boolean; again?: string }
export interface GateChange { id: number; key: string; action: string; value?: string; reason?: string; actor: string; at: string }
export interface Gate {
  key: string; shared_by?: string[] | null; credential?: string; used: boolean;
  permitted: { per_second: number; burst: number; concurrency?: number; warmup?: string; cost?: number }; per_second: number;
  slower?: { code: string; per_second?: number; since?: string }[] | null;
  cooldown_until?: string; cooldown_left_seconds?: number; cooldown_by?: GateChange | null;
  on_the_way: number; concurrency?: number; ahead_seconds: number;
  last_minute: { requests: number; refused: number }; last_hour: { requests: number; refused: number }; tasks: { waiting: number; running: number };
  keeper?: string; lent_until?: string; quotas?: Quota[] | null; changes?: GateChange[] | null; remarks?: string[] | null; said?: string[] | string | null;
}
export interface Manners {
  key: string; shared_by?: string[] | null; identity?: { where: string; name: string; value: string }[] | null; from: string; to: string;
  requests: number; kinds?: Record<string, number> | null; answered: number; refused_429: number; refused_503: number; other_errors: number; bytes: number;
  peak_second: number; peak_second_at?: string; peak_minute: number; peak_minute_at?: string; cooldowns: number; sent_inside_cooldown: number; refused_share: number;
  waited_seconds: number; waited_mean_seconds: number; waited_95th_seconds: number;
  permitted_per_second: number; permitted_burst: number; permitted_in_a_second: number; permitted_in_a_minute: number;
}
export interface Control {
  scope?: string; key?: string; target?: string; source?: string; endpoint?: string; operation?: string; kind: string; state: string; until?: string; failures?: number; reason?: string; actor?: string;
  detail?: { since?: string; fault?: Fault; trips?: number; limit?: number; of?: number };
}
export interface ErrorGroup { source: string; endpoint?: string; code: string; level?: string; count: number; last_at?: string; example?: { task?: number; run?: number; batch?: number; text?: string } }

export const gatePath = (key: string) => `/gates/${encodeURIComponent(key)}`;
