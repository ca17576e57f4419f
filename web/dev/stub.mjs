// For development only, until the API has all its routes: serves the built app with the server's policy, asks a real
// `patra serve --role api` first (API=http://...), and makes up from the command line (-o json) what it does not have yet.
//   PATRA=bin/patra STORE=sqlite:patra.db API=http://127.0.0.1:8080 node dev/stub.mjs 8400
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import http from "node:http";
import { extname, join, normalize } from "node:path";

const { PATRA, STORE, API } = process.env;
const app = new URL("../../internal/web/dist/app", import.meta.url).pathname;
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const kinds = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

function cli(...args) {
  let out;
  try { out = execFileSync(PATRA, [...args, "--store", STORE, "-o", "json"], { stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 28 }).toString(); } catch (e) { out = e.stdout?.toString() ?? ""; }
  return out ? JSON.parse(out) : null;
}
const list = (items) => ({ items: items ?? [] });
const coverage = () => cli("coverage", "show") ?? [];

function coverageOf(id) {
  const c = coverage().find((c) => c.cursor.id === id);
  if (!c) return undefined;
  const tasks = Object.fromEntries((cli("tasks", "--limit", "1000") ?? []).map((t) => [t.slice_id, t]));
  const segs = [];
  for (const l of c.ledger ?? []) segs.push({ ...l.window, state: l.state, slice_id: l.slice_id, task_id: tasks[l.slice_id]?.id, records: l.stored, expected: l.counted, said: `${l.stored} stored of ${l.counted} counted` });
  for (const t of Object.values(tasks)) if (t.cursor_id === id && ["QUEUED", "RUNNING", "FAILED"].includes(t.status)) segs.push({ ...t.window, state: t.status, slice_id: t.slice_id, task_id: t.id, said: t.last_error?.text ?? "waits" });
  for (const g of (cli("coverage", "gaps") ?? []).filter((g) => g.cursor_id === id)) segs.push({ ...g.window, state: "GAP", said: g.why });
  segs.sort((a, b) => (a.from < b.from ? -1 : 1));
  const worst = ["FAILED", "GAP", "DISPUTED", "RUNNING", "QUEUED", "OPEN", "COUNTED", "FETCHED", "WAIVED", "SEALED"];
  const days = {};
  for (const s of segs) for (let t = Date.parse(s.from.slice(0, 10)); t < Date.parse(s.to); t += 864e5) {
    const day = new Date(t).toISOString().slice(0, 10);
    const d = (days[day] ??= { day, state: s.state, records: 0, gaps: 0 });
    if (worst.indexOf(s.state) < worst.indexOf(d.state)) d.state = s.state;
    d.records += s.records ?? 0; if (s.state === "GAP") d.gaps++;
  }
  return { cursor: c.cursor, window: { from: segs[0]?.from, to: segs.at(-1)?.to }, complete_through: c.cursor.complete_through, segments: segs, days: Object.values(days) };
}

function overview() {
  const cursors = cli("cursor", "list") ?? [], tasks = cli("tasks", "--limit", "1000") ?? [], gaps = cli("coverage", "gaps") ?? [];
  const n = (code, st) => tasks.filter((t) => (!code || t.source === code) && t.status === st).length;
  const sources = (cli("source", "list") ?? []).map((s) => {
    const cs = cursors.filter((c) => c.source === s.code);
    const through = cs.map((c) => c.complete_through).filter(Boolean).sort()[0];
    const f = n(s.code, "FAILED"), r = n(s.code, "RUNNING"), q = n(s.code, "QUEUED");
    return { code: s.code, title: s.name, health: f ? "FAILED" : r ? "RUNNING" : q ? "WAITING" : cs.length ? "OK" : "IDLE", said: f ? `${f} tasks failed` : cs.length ? "" : "nothing was ever planned", complete_through: through, lag_seconds: through ? (Date.now() - Date.parse(through)) / 1000 : undefined, gaps: gaps.filter((g) => g.source === s.code).length, queued: q, running: r, failed: f, quarantine: s.code === "europepmc" ? 72 : 0, cursors: cs.length, last_page_at: cs[0]?.updated_at };
  });
  return { totals: { records: 18123, queued: n("", "QUEUED"), running: n("", "RUNNING"), failed: n("", "FAILED"), quarantine: 72 }, sources, recent: (cli("plans") ?? []).slice(0, 8) };
}

const made = [
  [/^\/system$/, () => ({ version: "dev", engine: "sqlite", tokens: false, caller: { name: "you", role: "admin", evidence: true }, now: new Date().toISOString() })],
  [/^\/overview$/, overview],
  [/^\/cursors$/, () => list(cli("cursor", "list"))],
  [/^\/cursors\/(\d+)$/, (id) => (cli("cursor", "list") ?? []).find((c) => c.id === +id)],
  [/^\/cursors\/(\d+)\/coverage$/, (id) => coverageOf(+id)],
  [/^\/cursors\/(\d+)\/timeline$/, (id) => { const p = (cli("plans") ?? []).filter((p) => p.cursor_id === +id); return list(p.flatMap((p) => cli("lineage", "plan/" + p.id).cursor_events ?? []).sort((a, b) => b.seq - a.seq)); }],
  [/^\/gaps$/, () => list(cli("coverage", "gaps"))],
  [/^\/plans\/(\d+)\/lineage$/, (id) => cli("lineage", "plan/" + id)],
  [/^\/sources$/, () => list(cli("source", "list"))],
  [/^\/gates$/, () => list(cli("gate", "status"))],
  [/^\/controls$/, () => list(cli("controls"))],
  [/^\/alerts$/, () => list([{ kind: "TASK_FAILED", severity: "CRITICAL", target: "datacite/dois", said: "The breaker of datacite/dois is open: the provider does not answer.", since: new Date(Date.now() - 6e5).toISOString(), next: "patra resume datacite/dois", link: { source: "datacite" } }])],
  [/^\/batches\/(\d+)\/exchange$/, () => ({ request: { method: "GET", url: "https://api.example.org/works?filter=from-index-date:2026-10-01&cursor=*", headers: { Accept: ["application/json"], Authorization: ["(hidden)"] } }, response: { status: 200, headers: { "Content-Type": ["application/json"], "X-Rate-Limit-Limit": ["5"] }, body: '{"status":"ok","message":{"items":[{"DOI":"10.1000/<script>alert(1)</script>"}]}}', sha256: "de7e75" } })],
];

function serveFile(res, path) {
  let file = join(app, normalize(path));
  if (!file.startsWith(app) || !existsSync(file) || statSync(file).isDirectory()) file = join(app, "index.html");
  res.writeHead(200, { "Content-Type": kinds[extname(file)] ?? "text/plain", "Content-Security-Policy": policy });
  res.end(readFileSync(file));
}
const json = (res, status, v) => { res.writeHead(status, { "Content-Type": status < 400 ? "application/json" : "application/problem+json" }); res.end(JSON.stringify(v)); };

http.createServer((req, res) => {
  const u = new URL(req.url, "http://x");
  if (!u.pathname.startsWith("/api/")) return serveFile(res, decodeURIComponent(u.pathname));
  const path = u.pathname.replace("/api/v1", "");
  const up = http.request(API + req.url, { method: req.method, headers: { ...req.headers, host: new URL(API).host } }, (r) => {
    if (r.statusCode !== 404) { res.writeHead(r.statusCode, r.headers); r.pipe(res); return; }
    r.resume();
    for (const [p, make] of made) {
      const m = p.exec(path);
      if (m && req.method === "GET") { try { const v = make(...m.slice(1)); if (v !== undefined) return json(res, 200, v); } catch (e) { return json(res, 500, { detail: String(e) }); } }
    }
    if (req.method === "POST") return json(res, 200, { said: "The stub did nothing, but it would have.", next: "patra tasks" });
    json(res, 404, { status: 404, title: "Not Found", detail: "There is no such thing here.", code: "NOT_FOUND", next: "See /api/openapi.json for what there is." });
  });
  up.on("error", () => json(res, 502, { detail: "the API is not there" }));
  res.on("close", () => up.destroy());
  req.pipe(up);
}).listen(Number(process.argv[2] ?? 8400), "127.0.0.1");
