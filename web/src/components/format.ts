import type { Window } from "../api/types";

const grouped = new Intl.NumberFormat("en");
export const count = (n: number | undefined | null) => (n === undefined || n === null ? "–" : grouped.format(n));
/** counted writes a number of which the server may have stopped counting: at ten thousand it says that there are more. */
export const counted = (n: number, capped?: boolean) => count(n) + (capped && n >= 10_000 ? "+" : "");
export const plural = (n: number, one: string, many = one + "s") => `${count(n)} ${n === 1 ? one : many}`;

/** The store writes the beginning of time where it has none. */
export const noTime = (at?: string | null): boolean => !at || at.startsWith("0001-") || at.startsWith("1970-01-01T00:00:00");

const steps: [number, string][] = [[60, "second"], [3600, "minute"], [86400, "hour"], [86400 * 30, "day"], [86400 * 365, "month"], [Infinity, "year"]];

/** lasting says a number of seconds with one unit; that is as much as an eye takes in. */
export function lasting(seconds: number): string {
  const s = Math.abs(seconds);
  let unit = 1;
  for (const [limit, name] of steps) {
    if (s < limit) return plural(Math.max(0, Math.floor(s / unit)), name);
    unit = limit;
  }
  return "";
}

export function relative(at: string, now: number): string {
  const seconds = (now - Date.parse(at)) / 1000;
  if (Number.isNaN(seconds)) return at;
  if (Math.abs(seconds) < 5) return "just now";
  return seconds > 0 ? lasting(seconds) + " ago" : "in " + lasting(seconds);
}

/** instant writes a time as short as it can be without losing anything: a midnight is its day. */
export function instant(at?: string | null): string {
  if (!at) return "…";
  const m = /^(\d{4,}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)?(?:\.\d+)?Z$/.exec(at);
  if (!m) return at;
  if (m[2] === "00:00" && (m[3] ?? ":00") === ":00") return m[1]!;
  return `${m[1]} ${m[2]}${m[3] && m[3] !== ":00" ? m[3] : ""}`;
}
/** plain writes the exact times within a sentence of the server as short as times are written elsewhere on the page, and names inputs as the page does and not as flags, except in commands. */
export const plain = (text: string) => (/\bpatra [a-z]/.test(text) ? text : text.replace(/(^|\s)--(from|to|query|reason)\b/g, "$1$2")).replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, instant);
/** sentence lets a text begin as a sentence does. */
export const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
export const span = (w?: Window | null) => (w ? `${instant(w.from)} ~ ${instant(w.to)}` : "–");
export const seconds = (from?: string, to?: string): number | undefined => (from && to ? (Date.parse(to) - Date.parse(from)) / 1000 : undefined);

/** took writes a short stretch of time exactly enough to compare pages. */
export function took(from?: string, to?: string): string {
  const s = seconds(from, to);
  if (s === undefined || Number.isNaN(s)) return "–";
  if (s < 1) return `${Math.round(s * 1000)} ms`;
  if (s < 60) return `${s.toFixed(1)} s`;
  return lasting(s);
}
export const bytes = (n: number) => (n < 1024 ? `${n} B` : n < 1048576 ? `${(n / 1024).toFixed(1)} KiB` : `${(n / 1048576).toFixed(1)} MiB`);
