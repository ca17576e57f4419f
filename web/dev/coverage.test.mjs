// The arithmetic of the coverage map. Run by `npm test`.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { transformWithOxc } from "vite";

const file = new URL("../src/coverage/state.ts", import.meta.url).pathname;
const { code } = await transformWithOxc(readFileSync(file, "utf8"), file);
const { ahead, around, bars, meanings, monthsOf, moved, spliced, stretches, ticks, tiled, worse, zoomed } = await import("data:text/javascript," + encodeURIComponent(code));

const hour = 3_600_000, day = 24 * hour, t0 = Date.UTC(2020, 0, 1);
const iso = (t) => new Date(t).toISOString();
const hours = (n, state = () => "SEALED") => stretches(Array.from({ length: n }, (_, i) => ({ from: iso(t0 + i * hour), to: iso(t0 + (i + 1) * hour), state: state(i) })));

test("ten years by the hour are few bars, and one failure among them is seen", () => {
  const n = 10 * 365 * 24, all = hours(n, (i) => (i === 54_321 ? "FAILED" : "SEALED"));
  const drawn = bars(all, { from: t0, to: t0 + n * hour }, 1000);
  assert.ok(drawn.length <= 1000, `${drawn.length} bars`);
  assert.equal(drawn.filter((b) => b.state === "FAILED").length, 1);
  assert.equal(drawn.reduce((sum, b) => sum + b.items.length, 0), n, "every stretch is in one bar");
});

test("what is wide enough stands alone, and nothing is drawn outside the view", () => {
  const drawn = bars(hours(48), { from: t0 + 12 * hour, to: t0 + 24 * hour }, 600);
  assert.equal(drawn.length, 12);
  for (const b of drawn) assert.ok(b.items.length === 1 && b.left >= 0 && b.left + b.width <= 600.001);
});

test("of stretches that lie over each other the worst is seen", () => {
  const w = { from: iso(t0), to: iso(t0 + day) };
  const drawn = bars(stretches([{ ...w, state: "SEALED" }, { ...w, state: "QUEUED" }]), { from: t0, to: t0 + day }, 600);
  assert.equal(drawn.length, 1);
  assert.equal(drawn[0].state, "QUEUED");
  for (const [a] of meanings) assert.equal(worse(a, "FAILED"), "FAILED");
});

test("every moment belongs to the worst stretch that covers it, and to no other", () => {
  const at = (a, b, state) => ({ from: iso(t0 + a * hour), to: iso(t0 + b * hour), state });
  const said = (list) => stretches(list).length && tiled(stretches(list)).map((s) => `${(s.start - t0) / hour}-${(s.end - t0) / hour} ${s.state}`);
  assert.deepEqual(said([at(0, 10, "GAP"), at(2, 4, "FAILED"), at(4, 5, "FAILED"), at(9, 12, "SEALED")]), ["0-2 GAP", "2-4 FAILED", "4-5 FAILED", "5-10 GAP", "10-12 SEALED"]);
  assert.deepEqual(said([at(0, 2, "SEALED"), at(3, 4, "SEALED")]), ["0-2 SEALED", "3-4 SEALED"], "what nobody covers stays empty");
  assert.equal(tiled(hours(1000)).length, 1000);
});

test("a part that is looked at closely takes the place of what was there, and nothing else changes", () => {
  const whole = hours(3), part = hours(12).map((s, i) => ({ ...s, start: t0 + hour + i * 300_000, end: t0 + hour + (i + 1) * 300_000 }));
  const got = spliced(whole, part, { from: t0 + hour, to: t0 + 2 * hour });
  assert.equal(got.length, 14);
  for (let i = 1; i < got.length; i++) assert.equal(got[i].start, got[i - 1].end, "no hole and no overlap");
  assert.equal(spliced(hours(1), hours(1).map((s) => ({ ...s, start: t0 + 60_000, end: t0 + 120_000 })), { from: t0 + 60_000, to: t0 + 120_000 }).length, 3, "in the middle of one");
  const all = { from: t0, to: t0 + 3650 * day }, view = { from: t0 + 500 * day, to: t0 + 501 * day }, w = around(view, all);
  assert.ok(w.from <= view.from && w.to >= view.to && w.to - w.from < 10 * day);
  assert.deepEqual(around({ from: view.from + hour, to: view.to + hour }, all), w, "a small move asks nothing new");
});

test("zooming keeps the point under the pointer and never leaves the whole", () => {
  const whole = { from: t0, to: t0 + 365 * day };
  let view = whole;
  const at = t0 + 100 * day;
  for (let i = 0; i < 60; i++) {
    const share = (at - view.from) / (view.to - view.from), next = zoomed(view, whole, 0.8, at);
    assert.ok(Math.abs((at - next.from) / (next.to - next.from) - share) < 1e-6);
    view = next;
  }
  assert.equal(view.to - view.from, 10 * 60_000);
  for (let i = 0; i < 100; i++) view = zoomed(view, whole, 1.5, view.from);
  assert.deepEqual(view, whole);
  assert.deepEqual(moved({ from: t0, to: t0 + day }, whole, -5 * day), { from: t0, to: t0 + day });
  assert.deepEqual(moved({ from: t0, to: t0 + day }, whole, 1000 * day), { from: t0 + 364 * day, to: t0 + 365 * day });
});

test("ticks are within the view, in order, and few", () => {
  for (const span of [hour, day, 10 * day, 100 * day, 1000 * day, 30 * 365 * day]) {
    const view = { from: t0 + 1234567, to: t0 + 1234567 + span }, got = ticks(view, 8);
    assert.ok(got.length >= 1 && got.length <= 10, `${got.length} ticks for ${span}`);
    for (let i = 0; i < got.length; i++) assert.ok(got[i].at >= view.from && got[i].at < view.to && (i === 0 || got[i].at > got[i - 1].at));
  }
});

test("months have their days, and begin on their weekday", () => {
  const [feb] = monthsOf(2024, new Map([["2024-02-29", { day: "2024-02-29", state: "GAP" }]]), "2024-02-10", "2024-02-29");
  assert.equal(feb.days.length, 29);
  assert.equal(feb.lead, 3, "a Thursday");
  assert.equal(feb.days[28].day.state, "GAP");
});

test("what a harvest has not come to yet is no gap", () => {
  const seg = (from, to, state) => ({ from: iso(t0 + from * day), to: iso(t0 + to * day), state });
  const rest = seg(3, 9, "AHEAD");
  assert.equal(ahead([seg(0, 1, "SEALED"), seg(1, 2, "GAP"), seg(2, 3, "SEALED"), rest]), rest);
  assert.equal(ahead([seg(0, 1, "SEALED"), seg(1, 2, "GAP")]), undefined);
  assert.equal(worse("AHEAD", "QUEUED"), "QUEUED");
  assert.equal(worse("AHEAD", "GAP"), "GAP");
});

test("a window with fewer records than counted is drawn in a state of its own, and no exact match hides it", () => {
  assert.ok(meanings.some(([s]) => s === "SHORT"), "the legend has it");
  assert.equal(worse("SHORT", "SEALED"), "SHORT");
  const css = readFileSync(new URL("../src/coverage/coverage.css", import.meta.url), "utf8");
  for (const [s] of meanings) assert.ok(css.includes(`.cov[data-state="${s}"]`), `${s} has a look`);
  const look = (s) => css.match(new RegExp(`\\.cov\\[data-state="${s}"\\] \\{([^}]*)\\}`))[1];
  assert.notEqual(look("SHORT"), look("SEALED"));
});
