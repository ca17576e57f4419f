import { useState } from "react";
import { NativeSelect, Tabs, TextInput } from "@mantine/core";
import { Link, useLocation, useNavigate, useParams } from "react-router";
import { useGet, useList } from "../api/hooks";
import type { Endpoint, RegistryRow, SourceDiff, SourceView, Spec } from "../api/sources";
import type { Control } from "../api/gates";
import type { Page } from "../api/types";
import { Async } from "../components/Async";
import { ConfirmAction } from "../components/ConfirmAction";
import { Rows } from "../components/DataList";
import { plain } from "../components/diff";
import { DiffView } from "../components/DiffView";
import { Facts } from "../components/Facts";
import { instant, plain as inWords, plural } from "../components/format";
import { JsonView } from "../components/JsonView";
import { LinkOut } from "../components/LinkOut";
import { Empty, ErrorNote, Note } from "../components/Notes";
import { PageHead } from "../components/PageHead";
import { QueryTester } from "../components/QueryTester";
import { StatusBadge } from "../components/StatusBadge";
import { Time } from "../components/Time";
import { PlanList } from "../components/work";

const tabs = [["try", "Try a query"], ["facts", "What it is"], ["work", "Plans"], ["file", "File"], ["history", "History"], ["fields", "Where settings come from"]] as const;

export default function Source() {
  const { code = "" } = useParams();
  const { hash, search } = useLocation();
  const go = useNavigate();
  const source = useGet<SourceView>(["controls"], `/sources/${encodeURIComponent(code)}`);
  const tab = tabs.find(([t]) => "#" + t === hash)?.[0] ?? "try";
  const s = source.data;
  return (
    <div className="stack">
      <PageHead title={code} crumbs={[["Sources", "/sources"]]} badge={<Held code={code} />} actions={s ? <Steering code={code} /> : null}>
        {s ? <>{s.name}{s.docs ? <> · <LinkOut href={s.docs}>its documentation</LinkOut></> : null}</> : null}
      </PageHead>
      <Stopped code={code} />
      <Async query={source} height={400}>
        {(s) => (
          <>
            {s.secrets.filter((x) => (x.required && !x.set) || x.broken).map((x) => <Note key={x.name} tone="warn"><p>The secret <code>{x.name}</code> {x.broken ? "cannot be read" : "is not set, and this source cannot do without it"}.</p><p className="small dim">Write where it is into <code>secrets</code> of patra.yaml; <code>patra source show {code}</code> says more on the machine itself.</p></Note>)}
            <Tabs value={tab} onChange={(t) => void go({ search, hash: "#" + t }, { replace: true })} keepMounted={false}>
              <Tabs.List>{tabs.map(([t, label]) => <Tabs.Tab key={t} value={t}>{label}</Tabs.Tab>)}</Tabs.List>
              <Tabs.Panel value="try" className="panel"><QueryTester source={s} /></Tabs.Panel>
              <Tabs.Panel value="facts" className="panel"><About source={s} /></Tabs.Panel>
              <Tabs.Panel value="work" className="panel"><PlanList params={{ source: code }} label={`Plans of ${code}`} empty={{ title: "Nothing was planned yet", text: "Try a query and harvest it, or:", command: `patra plan harvest ${code} --dry-run` }} /></Tabs.Panel>
              <Tabs.Panel value="file" className="panel"><section className="card stack tight" aria-label="File"><div className="row between"><h2>The source as it counts now</h2><span className="dim small">{s.standing}</span></div>{s.not_shown.length ? <p className="small">The registry also has what a file cannot say: {s.not_shown.join("; ")}</p> : null}<JsonView label="Source file" value={s.yaml} /></section></Tabs.Panel>
              <Tabs.Panel value="history" className="panel"><Versions code={code} source={s} /></Tabs.Panel>
              <Tabs.Panel value="fields" className="panel"><Origins code={code} endpoints={s.endpoints} /></Tabs.Panel>
            </Tabs>
          </>
        )}
      </Async>
    </div>
  );
}

/** controlsOf are those that hold this source back, or a part of it. */
const controlsOf = (all: readonly (Control & { key?: string })[] | undefined, code: string) => (all ?? []).filter((c) => { const t = c.target ?? c.key ?? c.source ?? ""; return t === code || t.startsWith(code + "/"); });

function Held({ code }: { code: string }) {
  const held = controlsOf(useGet<Page<Control>>(["controls"], "/controls").data?.items, code).filter((c) => c.state !== "CLOSED" && stops[c.kind]);
  return held.length ? <StatusBadge state="STOPPED" title={held.map((c) => `${c.kind.toLowerCase()}: ${c.reason ?? ""}`).join("; ")} /> : null;
}

const stops: Record<string, string> = { HALT: "is halted, because only a person can mend this", PAUSE: "is paused", BREAKER: "did not answer, and is left alone", QUOTA: "has used up a quota" };

/** Stopped says why a source stands still, or a part of it. */
function Stopped({ code }: { code: string }) {
  const held = controlsOf(useGet<Page<Control>>(["controls"], "/controls").data?.items, code).filter((c) => c.state !== "CLOSED" && stops[c.kind]);
  return held.map((c) => (
    <Note key={c.kind + (c.target ?? c.key)} tone={c.kind === "HALT" ? "bad" : "warn"}>
      <p>{c.target ?? c.key} {stops[c.kind]}{c.actor && c.kind === "PAUSE" ? ` by ${c.actor}` : ""}{c.reason ? <>: <bdi>{inWords(c.reason)}</bdi></> : "."}</p>
      <p className="small"><Time at={c.detail?.since} none="" />{c.until ? <>, it goes on <Time at={c.until} /></> : null}{c.kind === "HALT" ? <> · <Link to={`/tasks?source=${encodeURIComponent(code)}&status=FAILED`}>what failed</Link></> : null}</p>
    </Note>
  ));
}

/** Steering lets a source go on that stands still, and pauses one that nobody has paused; fewer tasks at once for a while are neither. */
function Steering({ code }: { code: string }) {
  const held = controlsOf(useGet<Page<Control>>(["controls"], "/controls").data?.items, code).filter((c) => c.state !== "CLOSED" && stops[c.kind]);
  const paused = held.some((c) => c.kind === "PAUSE" && (c.target ?? c.key) === code);
  return (
    <>
      {held.length ? <ConfirmAction label="Resume" path="/controls/resume" body={{ target: code }} what={`${code} goes on, if it was paused or stopped by itself.`} /> : null}
      {paused ? null : <ConfirmAction label="Pause" path="/controls/pause" body={{ target: code }} reason="required" what={`Nothing more of ${code} is planned or begun until somebody resumes it. A page that is being read is read to its end.`} />}
    </>
  );
}

function About({ source: s }: { source: SourceView }) {
  return (
    <div className="stack">
      <section className="card" aria-label="Facts">
        <Facts items={[["Code", <code key="c">{s.code}</code>], ["Records", s.record_type], ["Permitted", <Link key="p" to={`/gates?source=${encodeURIComponent(s.code)}`}>{s.per_second} requests a second</Link>], ["What counts", s.standing], ["Coverage", <Link key="m" to={`/coverage?source=${encodeURIComponent(s.code)}`}>on the map</Link>], ["Stored", <Link key="r" to={`/records?source=${encodeURIComponent(s.code)}`}>its records</Link>], ["In quarantine", <Link key="q" to={`/quarantine?source=${encodeURIComponent(s.code)}`}>what could not be read</Link>]]} />
      </section>
      <section className="card flush">
        <div className="card-head"><h2>Endpoints</h2></div>
        <Rows label="Endpoints" rows={s.endpoints} id={(e) => e.name} columns={[
          { label: "Endpoint", cell: (e) => <><b>{e.name}</b>{e.default ? <span className="dim"> (usual)</span> : null}</> }, { label: "For", cell: (e) => e.role.toLowerCase() + (e.by_id ? ", by id" : "") }, { label: "Request", cell: (e) => <code>{e.method ?? "GET"} {e.path}</code> },
          { label: "Paging", cell: (e) => e.paging ? `${e.paging.toLowerCase()}${e.page_size ? `, ${e.page_size} a page` : ""}` : "–" }, { label: "Window by", cell: (e) => e.window_field ? <>{e.window_field}{e.strategy ? <span className="dim"> ({e.strategy.toLowerCase()})</span> : null}</> : "–" }, { label: "Format", cell: (e) => e.format }, { label: "We say who we are by", cell: (e) => e.auth.toLowerCase().replaceAll("_", " ") },
        ]} />
      </section>
      <div className="columns">
        <section className="card flush">
          <div className="card-head"><h2>Secrets</h2></div>
          {s.secrets.length === 0 ? <Empty title="It needs none">Anybody may ask this provider.</Empty> : <Rows label="Secrets" rows={s.secrets} id={(x) => x.name} columns={[{ label: "Name", cell: (x) => <code>{x.name}</code> }, { label: "Needed", cell: (x) => x.required ? "yes" : "no, it only makes things faster" }, { label: "State", cell: (x) => <span className="badge" data-tone={x.broken ? "bad" : x.set ? "good" : x.required ? "bad" : "wait"}>{x.broken ? "cannot be read" : x.set ? "set" : "not set"}</span> }]} />}
        </section>
        <section className="card flush">
          <div className="card-head"><h2>Parameters</h2></div>
          {s.parameters.length === 0 ? <Empty title="It has none" /> : <Rows label="Parameters" rows={s.parameters} id={(p) => p.name} columns={[{ label: "Name", cell: (p) => <code>{p.name}</code> }, { label: "Usually", cell: (p) => p.default || (p.required ? "must be given" : "–") }, { label: "What it is", cell: (p) => p.doc ?? "–" }]} />}
        </section>
      </div>
      <section className="card flush">
        <div className="card-head"><h2>What queries can ask</h2></div>
        {s.query_fields.length === 0 ? <Empty title="Nothing">This provider can only be asked for everything of a time.</Empty> : <Rows label="Query fields" rows={s.query_fields} id={(f) => f.name} columns={[{ label: "Field", cell: (f) => <code>{f.name}</code> }, { label: "Type", cell: (f) => f.type.toLowerCase() }, { label: "Can be asked by", cell: (f) => f.ops.join(", ").toLowerCase() }, { label: "Compared by", cell: (f) => f.match.join(", ").toLowerCase() || "–" }, { label: "Remarks", cell: (f) => [f.once ? "once in a query" : "", f.precision ? `to the ${f.precision.toLowerCase()}` : "", f.case_sensitive ? "upper and lower case differ" : ""].filter(Boolean).join(", ") || "–" }]} />}
      </section>
    </div>
  );
}

/** Versions is the history of what was applied; two moments of it can be compared. */
function Versions({ code, source }: { code: string; source: SourceView }) {
  const list = useList<RegistryRow>([], `/sources/${encodeURIComponent(code)}/history`, undefined, { limit: 0 });
  const rows = [...(list.data ?? [])].sort((a, b) => b.effective_from.localeCompare(a.effective_from) || a.dimension.localeCompare(b.dimension));
  const moments = [...new Set(rows.map((r) => r.effective_from))];
  return (
    <div className="stack">
      {list.error ? <ErrorNote error={list.error} retry={() => void list.refetch()} /> : null}
      {list.data && rows.length === 0 ? <section className="card"><Empty title="It was never applied" command={`patra source apply ${code}.yaml`}>It counts as its file says. Applied to the registry, every version of it is kept, and the next change can be compared with this one:</Empty></section> : null}
      {moments.length ? <CompareMoments key={code + moments[0]} code={code} moments={moments} file={source.file} /> : null}
      {rows.length ? (
        <section className="card flush">
          <div className="card-head"><h2>Versions of its parts</h2><span className="dim small">{plural(moments.length, "time")} applied</span></div>
          <Rows label="Versions" rows={rows} id={(r) => r.id} columns={[
            { label: "Part", cell: (r) => <>{r.dimension}{r.endpoint ? <span className="dim"> of {r.endpoint}</span> : null}</> }, { label: "Version", cell: (r) => r.version, right: true }, { label: "From", cell: (r) => instant(r.effective_from) }, { label: "To", cell: (r) => r.effective_to ? instant(r.effective_to) : <span className="badge" data-tone="good">in force</span> },
            { label: "Applied", cell: (r) => <Time at={r.effective_from} /> }, { label: "File", cell: (r) => r.source_file_sha256 ? <code title={r.source_file_sha256}>{r.source_file_sha256.slice(0, 8)}</code> : "–", nowrap: true },
            { label: "Content", cell: (r) => <details><summary>show</summary><JsonView label="Content" value={r.body} /></details> },
          ]} />
        </section>
      ) : null}
    </div>
  );
}

function CompareMoments({ code, moments, file }: { code: string; moments: string[]; file?: string }) {
  const [from, setFrom] = useState(moments[1] ?? (file === "DIFFERS" ? "" : moments[0]!));
  const [to, setTo] = useState(from ? moments[0]! : "");
  const same = from !== "" && from === to;
  const got = useGet<SourceDiff>([], `/sources/${encodeURIComponent(code)}/diff`, { from, to: from ? to : "" }, { enabled: !same });
  const options = moments.map((m, i) => ({ value: m, label: `${instant(m)}${i === 0 ? " (newest)" : ""}` }));
  return (
    <section className="card stack tight" aria-label="Compare">
      <div className="card-head"><h2>Compare</h2></div>
      <div className="filters">
        <NativeSelect label="As applied at" size="xs" value={from} onChange={(e) => setFrom(e.currentTarget.value)} data={[{ value: "", label: "the registry now, with the file" }, ...options]} />
        {from ? <NativeSelect label="with" size="xs" value={to} onChange={(e) => setTo(e.currentTarget.value)} data={[{ value: "", label: "what counts now" }, ...options]} /> : null}
      </div>
      {same ? <p className="dim">{moments.length === 1 ? "It was applied once: there is nothing older to compare it with." : "Choose two different moments."}</p> : <Async query={got}>{(d) => <DiffView label="Differences" was={side(d.a)} is={side(d.b)} changes={d.differences.map((x) => ({ path: x.path, was: x.a ?? undefined, is: x.b ?? undefined }))} none="They say the same." />}</Async>}
    </section>
  );
}
const side = (s: { from: string; name: string; at?: string }) => `${s.from === "REGISTRY" ? "registry" : "file"}${s.at ? `, ${instant(s.at)}` : ""}`;

/** Origins says of every setting in force where it came from. */
function Origins({ code, endpoints }: { code: string; endpoints: Endpoint[] }) {
  const [endpoint, setEndpoint] = useState((endpoints.find((e) => e.default) ?? endpoints.find((e) => e.role === "SEARCH") ?? endpoints[0])?.name ?? "");
  const [text, setText] = useState("");
  const got = useGet<Spec>([], `/sources/${encodeURIComponent(code)}/spec`, { endpoint });
  return (
    <section className="card flush">
      <div className="card-head">
        <div className="filters"><NativeSelect label="Endpoint" size="xs" value={endpoint} onChange={(e) => setEndpoint(e.currentTarget.value)} data={endpoints.map((e) => e.name)} /><TextInput label="Only settings with" size="xs" value={text} onChange={(e) => setText(e.currentTarget.value)} placeholder="rate" /></div>
        {got.data ? <span className="dim small">fingerprint <code title={got.data.spec_fingerprint}>{got.data.spec_fingerprint.slice(0, 12)}</code></span> : null}
      </div>
      <Async query={got}>
        {(s) => {
          const rows = (s.fields ?? []).filter((f) => !text || f.path.toLowerCase().includes(text.toLowerCase()));
          return rows.length === 0 ? <Empty title="No setting is like that" /> : <Rows label="Settings" rows={rows} id={(f) => f.path} columns={[{ label: "Setting", cell: (f) => <code>{f.path}</code> }, { label: "Value", cell: (f) => <code className="value-json">{plain(f.value)}</code> }, { label: "From", cell: (f) => <>{f.layer?.name}{f.layer?.dimension ? <span className="dim"> ({f.layer.dimension})</span> : null}</> }]} />;
        }}
      </Async>
    </section>
  );
}
