import { useRef, useState, type FormEvent, type KeyboardEvent } from "react";
import { Button, NativeSelect, Skeleton, Textarea, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconSend } from "@tabler/icons-react";
import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useSearchParams } from "react-router";
import { ApiError, send } from "../api/client";
import { useMay } from "../api/hooks";
import type { Ask, Clause, Explanation, SourceView, Tested, Unread } from "../api/sources";
import { plain, pretty } from "./diff";
import { FieldList } from "./FieldList";
import { bytes, count, instant, plain as inWords, plural } from "./format";
import { HarvestThis } from "./HarvestThis";
import { Next } from "./Command";
import { ErrorNote, Note } from "./Notes";
import { HeaderList, RequestView } from "./RequestView";
import { Title } from "./Title";

const dayBefore = (n: number) => new Date(Date.now() - n * 86_400_000).toISOString().slice(0, 10);

/** QueryTester shows what a question becomes before anything is sent, and then one real page of the answer. */
export function QueryTester({ source }: { source: SourceView }) {
  const [params, set] = useSearchParams();
  const searchable = source.endpoints.filter((e) => e.role === "SEARCH");
  const usual = (searchable.find((e) => e.default) ?? searchable[0])?.name ?? "";
  const [ask, setAsk] = useState<Ask>(() => ({
    endpoint: params.get("endpoint") ?? usual, query: params.get("q") ?? "", from: params.get("from") ?? dayBefore(3), to: params.get("to") ?? dayBefore(2),
    params: Object.fromEntries(source.parameters.map((p) => [p.name, params.get("p." + p.name) ?? ""])),
  }));
  const input = useRef<HTMLTextAreaElement>(null);
  const change = (part: Partial<Ask>) => {
    const next = { ...ask, ...part };
    setAsk(next);
    set((p) => { // so that a question can be sent to somebody
      for (const [k, v] of [["endpoint", next.endpoint === usual ? "" : next.endpoint], ["q", next.query], ["from", next.from], ["to", next.to], ...Object.entries(next.params ?? {}).map(([k, v]) => ["p." + k, v])] as [string, string][]) { if (v) p.set(k, v); else p.delete(k); }
      return p;
    }, { replace: true });
  };
  const body = wire(ask);
  const [asked] = useDebouncedValue(JSON.stringify(body), 350);
  const explained = useQuery<Explanation, ApiError>({
    queryKey: ["/queries/explain", source.code, asked], placeholderData: keepPreviousData, retry: false, staleTime: 60_000, refetchInterval: false,
    queryFn: () => send<Explanation>("POST", "/queries/explain", { source: source.code, ...(JSON.parse(asked) as Ask) }),
  });
  const test = useMutation<Tested, ApiError, Ask>({ mutationFn: (b) => send<Tested>("POST", `/sources/${encodeURIComponent(source.code)}/test`, b) });
  const may = useMay("operator");
  const stale = test.data && test.variables && JSON.stringify(test.variables) !== JSON.stringify(body);
  const submit = (e?: FormEvent) => { e?.preventDefault(); if (may && !explained.error && !test.isPending) test.mutate(body); };
  const keys = (e: KeyboardEvent) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) submit(); };
  const add = (field: string) => { change({ query: `${ask.query ? ask.query.trimEnd() + " " : ""}${field}:` }); input.current?.focus(); };

  if (searchable.length === 0) return <Note tone="warn"><p>This source cannot be searched: it has endpoints for single records only.</p></Note>;
  return (
    <div className="stack">
      <form className="card stack tight" onSubmit={submit} aria-label="A question to the provider">
        <Textarea ref={input} label="Query" description={source.query_fields.length ? "Nothing is everything of that time. Ctrl+Enter asks for a page." : "This provider can only be asked for everything of a time."} placeholder={source.query_fields.length ? `${source.query_fields.find((f) => f.ops.includes("TERM"))?.name ?? source.query_fields[0]!.name}:heart` : ""} autosize minRows={1} maxRows={8} spellCheck={false} value={ask.query} onChange={(e) => change({ query: e.currentTarget.value })} onKeyDown={keys} classNames={{ input: "mono" }} />
        {source.query_fields.length ? <div className="row small"><span className="dim">fields</span>{source.query_fields.map((f) => <button key={f.name} type="button" className="chip" title={`${f.type.toLowerCase()}; ${f.ops.join(", ").toLowerCase()}${f.match.length ? `; ${f.match.join(", ").toLowerCase()}` : ""}`} onClick={() => add(f.name)}>{f.name}</button>)}</div> : null}
        <div className="ask top">
          {searchable.length > 1 ? <NativeSelect label="Endpoint" size="xs" value={ask.endpoint} onChange={(e) => change({ endpoint: e.currentTarget.value })} data={searchable.map((e) => e.name)} /> : null}
          <TextInput label="From" size="xs" placeholder="2026-01-31" value={ask.from} onChange={(e) => change({ from: e.currentTarget.value })} description="inclusive" inputWrapperOrder={["label", "input", "description", "error"]} />
          <TextInput label="To" size="xs" placeholder="2026-02-01" value={ask.to} onChange={(e) => change({ to: e.currentTarget.value })} description="exclusive" inputWrapperOrder={["label", "input", "description", "error"]} />
          {source.parameters.map((p) => <TextInput key={p.name} label={p.name} size="xs" required={p.required} placeholder={p.default} description={p.doc} inputWrapperOrder={["label", "input", "description", "error"]} value={ask.params?.[p.name] ?? ""} onChange={(e) => change({ params: { ...ask.params, [p.name]: e.currentTarget.value } })} />)}
        </div>
        {ask.from || ask.to ? null : <p className="small dim">No time is said: the request shows a day as an example, and a harvest goes on from its watermark.</p>}
      </form>
      <div className="sides even">
        <section className="card stack tight" aria-label="The request">
          <div className="row between"><h2>The request</h2><span className="dim small" role="status">{explained.isFetching ? "reading…" : explained.error ? "" : "as it will be sent; nothing is sent yet"}</span></div>
          {explained.error ? <QueryProblem error={explained.error} query={ask.query ?? ""} /> : explained.data ? <Explained e={explained.data} /> : <Skeleton height={140} role="status" aria-label="Loading" />}
        </section>
        <section className="card stack tight" aria-label="One live page">
          <div className="row between"><h2>One live page</h2>
            <span className="row">
              <Button size="compact-sm" leftSection={<IconSend size={14} />} loading={test.isPending} disabled={!may || !!explained.error} title={may ? undefined : "needs the role operator"} onClick={() => submit()}>Ask for one page</Button>
              <HarvestThis source={source.code} ask={body} disabled={!!explained.error} />
            </span>
          </div>
          {test.error ? <ErrorNote error={test.error} /> : null}
          {test.isPending ? <Skeleton height={120} role="status" aria-label="Waiting for the provider" /> : test.data ? <PageSummary t={test.data} stale={!!stale} /> : test.error ? null : <p className="dim">{may ? "One real request leaves, through the gate that everybody shares. Nothing of the answer is stored." : "To ask a provider needs the role operator. The request on the left is what would be sent."}</p>}
        </section>
      </div>
      {test.data && !test.isPending ? <Answer t={test.data} /> : null}
    </div>
  );
}

/** wire leaves out what was not said. */
function wire(a: Ask): Ask {
  const params = Object.fromEntries(Object.entries(a.params ?? {}).filter(([, v]) => v));
  return { ...(a.endpoint ? { endpoint: a.endpoint } : {}), ...(a.query?.trim() ? { query: a.query } : {}), ...(a.from ? { from: a.from.trim() } : {}), ...(a.to ? { to: a.to.trim() } : {}), ...(Object.keys(params).length ? { params } : {}) };
}

/** short leaves out of times what says nothing. */
const short = (text: string) => text.replace(/T00:00:00(\.0+)?Z/g, "");

function became(c: Clause) {
  if (c.fragment) return <code>{c.fragment}</code>;
  const params = Object.entries(c.params ?? {});
  if (params.length) return <>{params.map(([k, v]) => <div key={k}><code><b>{k}</b>={v.join(", ")}</code></div>)}</>;
  return <span className="dim">{c.note ?? "–"}</span>;
}

function Explained({ e }: { e: Explanation }) {
  const clauses = e.clauses ?? [];
  return (
    <>
      <RequestView method={e.method} url={e.url} body={e.body} headers={e.headers} fragments={clauses.map((c) => c.fragment ?? "").filter(Boolean)} marked={new Set(clauses.flatMap((c) => Object.keys(c.params ?? {}).flatMap((p) => [p, "query." + p])))} />
      <h3>What became of each clause</h3>
      {clauses.length === 0 ? <p className="dim small">There is none: everything is asked for.</p> : (
        <ul className="clauses">{clauses.map((c, i) => <li key={i}><div><code className="clause"><bdi>{c.negated ? "NOT " : ""}{short(c.text)}</bdi></code>{c.rule ? <div className="dim small" title="the rule of the source file that did it">by {c.rule}</div> : null}</div><span className="dim" aria-hidden>→</span><div><span className="visually-hidden">becomes </span>{became(c)}</div></li>)}</ul>
      )}
      <p className="small dim">{e.query ? <>Understood as <code>{e.query}</code>. </> : null}Another query has a watermark of its own; this one's is <code title={e.expr_proto_hash}>{e.expr_proto_hash.slice(0, 8)}</code>.</p>
    </>
  );
}

/** QueryProblem shows where in the query something is wrong, and what to write in its place. */
function QueryProblem({ error, query }: { error: ApiError; query: string }) {
  const { hint, line, column } = placeIn(error.problem.next);
  const problems = error.problem.errors?.length ? error.problem.errors : [{ message: error.message, location: undefined, code: error.problem.code }];
  return (
    <div className="stack tight" role="alert">
      {problems.map((p, i) => <div key={i} className="note" data-tone="bad"><div className="stack tight grow"><Marked query={query} location={p.location} line={i === 0 ? line : undefined} column={i === 0 ? column : undefined} /><p>{sentence(inWords(p.message))}</p><p className="small dim">{p.code}{p.location ? ` at ${p.location}` : ""}</p></div></div>)}
      <Next text={sentence(hint)} />
    </div>
  );
}

const sentence = (t = "") => (t && !t.startsWith("patra ") ? t[0]!.toUpperCase() + t.slice(1) + (/[.?!:]$/.test(t) ? "" : ".") : t);

/** placeIn takes the drawing of the place out of a hint: the line of the query, and below it a caret. */
function placeIn(next = ""): { hint: string; line?: string; column?: number } {
  const [hint = "", line, caret] = next.split("\n");
  const column = caret?.indexOf("^") ?? -1;
  return line !== undefined && column >= 2 ? { hint, line: line.slice(2), column: column - 2 } : { hint: next };
}

/** Marked is the query with the place marked: where the caret stands, or the clause that is named. */
function Marked({ query, location, line, column }: { query: string; location?: string; line?: string; column?: number }) {
  let from = -1, to = -1;
  if (line !== undefined && column !== undefined) {
    const at = query.indexOf(line);
    if (at >= 0) {
      from = at + [...line].slice(0, column).join("").length;
      to = from + (/^[^\s()]+/.exec(query.slice(from))?.[0].length ?? 1);
    }
  } else if (location) {
    from = query.indexOf(location);
    to = from + location.length;
  }
  if (from < 0) return null;
  return <pre className="marked"><bdi>{query.slice(0, from)}<mark>{query.slice(from, to).trim() || "\u00a0"}</mark>{query.slice(to)}</bdi></pre>;
}

function PageSummary({ t, stale }: { t: Tested; stale: boolean }) {
  const ok = t.response.status >= 200 && t.response.status < 300 && !t.error;
  return (
    <div className="stack tight" role="status">
      {stale ? <p className="small dim">The question has changed since: this is the answer to the one before.</p> : null}
      <div className="row"><span className="badge" data-tone={ok ? "good" : "bad"}>{t.response.status || "no answer"}</span><span>{bytes(t.response.bytes)}, {plural(t.items, "item")}{t.total !== undefined ? ` of ${count(t.total)}` : ""}</span></div>
      {t.error ? <Note tone="bad"><p>{t.error}</p>{t.error_code ? <p className="small dim"><code>{t.error_code}</code></p> : null}</Note> : null}
      <p className="small">{t.problems.length ? <b>{plural(t.problems.length, "item")} of this page cannot become a record. </b> : t.items ? "Every item of this page can become a record. " : ""}{t.has_next ? <>There is more. <span className="clip" title={t.next}>next: <code>{t.next}</code></span></> : t.error ? null : <>This is the end{t.end ? ` (${t.end.toLowerCase().replaceAll("_", " ")})` : ""}.</>}</p>
      <details><summary>request as it was sent</summary><RequestView {...t.request} /></details>
      <details><summary>{plural(Object.keys(t.response.headers).length, "header")} of the answer</summary><HeaderList label="Headers of the answer" headers={t.response.headers} /></details>
    </div>
  );
}

/** Answer is what came beside what it becomes. */
function Answer({ t }: { t: Tested }) {
  return (
    <div className="sides even">
      <section className="card stack tight" aria-label="The answer">
        <div className="row between"><h2>What came</h2>{t.response.truncated ? <span className="dim small">the beginning of {bytes(t.response.bytes)}</span> : null}</div>
        <Body body={t.response.body} />
        {t.detail ? <><h3>What came for the ids</h3><RequestView {...t.detail.request} /><Body body={t.detail.response.body} /></> : null}
      </section>
      <section className="card stack tight" aria-label="The records">
        <div className="row between"><h2>What it becomes</h2><span className="dim small">{t.records.length < t.items ? `the first ${t.records.length} of ${plural(t.items, "item")}` : plural(t.records.length, "record")}</span></div>
        {t.problems.map((p, i) => <Unreadable key={i} p={p} />)}
        {t.records.length === 0 && t.problems.length === 0 && !t.error ? <p className="dim">No record: nothing fits the question in this time.</p> : null}
        <div className="tried">{t.records.map((r, i) => <details key={r.id} open={i === 0}><summary><b className="mono">{r.id}</b> <span className="dim small nowrap">{r.updated_at ? instant(r.updated_at) : "no time"}{r.deleted ? ", deleted" : ""}</span>{r.fields?.title ? <div className="small one-line"><Title text={plain(r.fields.title)} /></div> : null}</summary><FieldList fields={r.fields ?? {}} /></details>)}</div>
      </section>
    </div>
  );
}

function Body({ body }: { body: string }) {
  const [whole, setWhole] = useState(false);
  const text = pretty(body);
  const most = 40_000; // more than this makes a browser slow, and nobody reads it
  if (!body) return <p className="dim">without a body</p>;
  return <><pre className="json tall" tabIndex={0} aria-label="Body of the answer">{whole ? text : text.slice(0, most)}</pre>{text.length > most && !whole ? <div><Button size="compact-sm" variant="default" onClick={() => setWhole(true)}>Show all {count(text.length)} letters</Button></div> : null}</>;
}

/** Unreadable says why an item cannot become a record. */
function Unreadable({ p }: { p: Unread }) {
  return <Note tone="warn"><p>Item {p.item}{p.id ? ` (${p.id})` : ""} cannot become a record: <code>{p.code}</code>{p.path ? <> at <code>{p.path}</code></> : null}</p>{p.text ? <p className="small">{p.text}</p> : null}</Note>;
}
