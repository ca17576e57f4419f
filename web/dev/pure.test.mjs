// What is worked out in the browser and can be wrong without anybody seeing it. Run by `npm test`.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import ts from "typescript";

async function load(name) {
  const text = readFileSync(new URL("../src/" + name, import.meta.url), "utf8");
  const { outputText } = ts.transpileModule(text, { compilerOptions: { module: "ESNext", target: "ES2022" } });
  return import("data:text/javascript," + encodeURIComponent(outputText));
}
const { compare, differ, itemOf } = await load("components/diff.ts");
const { counted } = await load("components/format.ts");
const { turn } = await load("api/due.ts");
const { subjectLink } = await load("api/records.ts");
const { layOut, placeOf, elementOf, visible } = await load("components/fragment.ts");

test("two values are compared field by field", () => {
  assert.deepEqual(compare({ a: 1, b: { c: "x", d: [1] } }, { a: 1, b: { c: "y", d: [1, 2] }, e: null }), [
    { path: "b.c", was: "x", is: "y" }, { path: "b.d", was: [1], is: [1, 2] }, { path: "e", was: undefined, is: null },
  ]);
  assert.deepEqual(compare({ a: [{ b: 1 }] }, { a: [{ b: 1 }] }), []);
});

test("what texts share is told apart from what changed, and nothing is lost", () => {
  for (const [was, is] of [["heart failure in mice", "heart failure in rats"], ["", "new"], ["same", "same"], ["aaa", "aaaa"], ["abcdef", "abdef"], ["x", "y"]]) {
    const [a, b] = differ(was, is);
    assert.equal(a.map((p) => p.text).join(""), was);
    assert.equal(b.map((p) => p.text).join(""), is);
  }
  assert.deepEqual(differ("heart failure in mice", "heart failure in rats")[1], [{ text: "heart failure in ", changed: false }, { text: "rats", changed: true }]);
});

const sent = '{"id":12345678901234567890,"a":{"b-c":[1,{"d":"x, y: {z}"},[]],"e":{}},"t":"data\\"set","u":true}';
const marked = (path) => { const laid = layOut(sent), at = placeOf(laid, path); return at && laid.text.slice(at.start, at.end); };

test("JSON is indented without touching its words", () => {
  const { text } = layOut(sent);
  assert.deepEqual(JSON.parse(text), JSON.parse(sent));
  assert.match(text, /"id": 12345678901234567890,/);
  assert.equal(layOut("<a>1</a>"), undefined);
});

test("the failing place is found in JSON", () => {
  assert.equal(marked("$.id"), "12345678901234567890");
  assert.equal(marked("$.a['b-c'][1].d"), '"x, y: {z}"');
  assert.equal(marked("$.a['b-c'][1].d | lower"), '"x, y: {z}"');
  assert.equal(marked("$.a['b-c'][2]"), "[]");
  assert.equal(marked("$.a.e"), "{}");
  assert.equal(marked(`$[?@ == 'data"set']`), '"data\\"set"');
  assert.equal(JSON.parse(marked("$.a['b-c'][*].d")).length, 3, "of all members, the list");
  assert.equal(marked("$.nothing"), undefined);
  assert.equal(marked("$"), undefined, "all of it is no place");
});

test("the failing place is found in XML", () => {
  const xml = '<r><m:PMID Version="1">7</m:PMID><Date><Year>x</Year></Date><Empty/></r>';
  const at = (path) => { const f = elementOf(xml, path); return f && xml.slice(f.start, f.end); };
  assert.equal(at("MedlineCitation/PMID"), '<m:PMID Version="1">7</m:PMID>');
  assert.equal(at("Date[1]/Year/@x"), "<Year>x</Year>");
  assert.equal(at("//Empty"), "<Empty/>");
  assert.equal(at("Yea"), undefined);
  assert.equal(at("("), undefined);
});

test("signs that turn text around are seen", () => assert.equal(visible("a\u202eb"), "a\\u202eb"));

test("an item is found in its page", () => {
  const page = { status: "ok", message: { items: [{ DOI: "10.1/A", title: ["x"] }, { DOI: "10.1/B", update: { DOI: "10.1/a" } }] } };
  assert.deepEqual(itemOf(page, "10.1/a"), { DOI: "10.1/A", title: ["x"] });
  assert.equal(itemOf(page, "10.1/b").DOI, "10.1/B");
  assert.equal(itemOf(page, "10.1/c"), undefined);
});

test("sentences of the server name inputs, and say times as the page does", async () => {
  const { plain } = await load("components/format.ts");
  assert.equal(plain('--from 2026-10-03 does not lie before --to 2026-10-01'), "from 2026-10-03 does not lie before to 2026-10-01");
  assert.equal(plain("it goes on at 2026-11-16T00:05:00.000Z; patra harvest x --from 2026-11-01"), "it goes on at 2026-11-16 00:05; patra harvest x --from 2026-11-01");
});

test("a number at which counting ended says that there are more", () => {
  const said = [[3, true], [9_999, true], [10_000, false], [10_000, true], [12_345, true], [10_000, undefined]].map(([n, capped]) => counted(n, capped));
  assert.deepEqual(said, ["3", "9,999", "10,000", "10,000+", "12,345+", "10,000"]);
});

test("the page of a record names its repository, where an event does", () => {
  assert.equal(subjectLink("crossref/work/10.1/a b"), "/records/crossref/work/10.1%2Fa%20b");
  assert.equal(subjectLink("oai/work/oai:x:1 https://x.org/oai"), "/records/oai/work/oai%3Ax%3A1?repository=https%3A%2F%2Fx.org%2Foai");
  assert.equal(subjectLink("plan/1"), undefined);
});

test("the last answer is from after the last change, also where the server keeps answers for a moment", () => {
  const keeps = 5_000, every = 5_000;
  for (let seed = 1; seed <= 300; seed++) {
    let state = seed;
    const random = (n) => { state = (state * 48271) % 2147483647; return state % n; };
    const changes = Array.from({ length: 1 + random(5) }, () => random(20_000)).sort((a, b) => a - b);
    let kept = -random(keeps), named, q = { active: true, fetching: false, answered: kept, every }, seen = kept, asked = 0, other = random(8_000);
    for (let now = 0; now < 60_000; now += 100) {
      if (now >= other) { if (now - kept >= keeps) kept = now; other += 1_000 + random(8_000); } // somebody else asks, too
      if (changes.some((c) => c <= now - 700 && c > now - 800)) named = now; // a pulse comes a little later
      if (now % 1_500 || named === undefined) continue;
      const what = turn({ ...q, named }, now);
      if (what === "wait") continue;
      if (what === "ask") named = undefined;
      if (now - kept >= keeps) kept = now;
      seen = kept;
      q = { ...q, answered: now };
      asked++;
    }
    assert.ok(seen >= changes.at(-1), `seed ${seed}: what is seen is from ${seen}, but it changed at ${changes.at(-1)}`);
    assert.ok(asked <= changes.length * 2, `seed ${seed}: asked ${asked} times for ${changes.length} changes`);
    assert.equal(named, undefined, "it is asked for ever");
  }
});
