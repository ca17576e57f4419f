import { Link, useParams } from "react-router";
import { useGet } from "../api/hooks";
import { recordLink, type SetAside } from "../api/records";
import type { Spec } from "../api/sources";
import { Async } from "../components/Async";
import { ConfirmAction } from "../components/ConfirmAction";
import { plain } from "../components/diff";
import { Facts } from "../components/Facts";
import { bytes, count } from "../components/format";
import { FragmentView } from "../components/FragmentView";
import { LineageLinks } from "../components/LineageLinks";
import { Empty, Note } from "../components/Notes";
import { PageHead } from "../components/PageHead";
import { StatusBadge } from "../components/StatusBadge";
import { Time } from "../components/Time";

/** What each reason means, and what one does about it. */
const meanings: Record<string, [string, string]> = {
  MISSING_ID: ["It has no id, so nobody could find it again.", "Look whether the source file reads the id from the right place."],
  BAD_TEXT: ["Its id is no valid text: it has bytes that are not UTF-8, or half of a surrogate pair.", "The provider has to correct it; look whether the source file can read another id."],
  DUPLICATE_KEY: ["A key occurs twice in one of its objects, so that it says two things.", "The provider has to correct it; then try again."],
  BAD_TIME: ["Its time cannot be read.", "Look at the marked place: is this a spelling of dates that the source file should know?"],
  MAPPING: ["One of its fields cannot be read as the source file says.", "Mend the mapping in the source file, apply it, and try again."],
  XML_BROKEN: ["Its element is no XML, also after what can be repaired was.", "The provider has to correct it; then try again."],
  TOO_DEEP: ["It nests more deeply than a record may.", "The provider has to correct it; then try again."],
  TOO_LARGE: ["It is larger than a record (16 MiB) or an answer (http.maxBody) may be.", "Raise http.maxBody in the source file if the answer was too large."],
};

export default function QuarantineItem() {
  const { id = "" } = useParams();
  const got = useGet<SetAside>(["quarantine"], `/quarantine/${id}`);
  const q = got.data;
  return (
    <div className="stack">
      <PageHead title={`Item ${id} in quarantine`} crumbs={[["Quarantine", "/quarantine"], ...(q ? [[q.source, `/quarantine?source=${encodeURIComponent(q.source)}`]] as const : [])]} badge={q ? <StatusBadge state={q.status} /> : null}
        actions={q && ["OPEN", "RETRYING"].includes(q.status) ? (
          <>
            <ConfirmAction label="Try again" variant="filled" path={`/quarantine/${id}/retry`} body={{}} reason="none" what={q.record_id ? "The record is fetched again by its id, or its window is read again where the provider cannot be asked for ids. If it can be read then, the item is resolved by itself." : "Its window is read again. If it can be read then, the item is resolved by itself."}
              result={(r) => <>{typeof r.text === "string" ? <p>{r.text}</p> : null}{typeof r.plan_id === "number" && r.plan_id > 0 ? <Link to={`/plans/${r.plan_id}`}>plan {r.plan_id}</Link> : null}</>} />
            <ConfirmAction label="Discard" color="red" path={`/quarantine/${id}/discard`} body={{}} reason="required" what="The item is given up: it stays here with your reason, and nobody is reminded of it any more." />
          </>
        ) : null}>
        {q ? <>of {q.source}{q.record_id ? <>, <span className="mono">{q.record_id}</span></> : null}</> : null}
      </PageHead>
      <Async query={got} height={300}>{(q) => <Whole q={q} />}</Async>
    </div>
  );
}

function Whole({ q }: { q: SetAside }) {
  const rule = useRule(q);
  const meaning = meanings[q.code];
  const error = typeof q.error === "string" ? q.error : q.error?.text;
  return (
    <>
      <Note tone={q.status === "RESOLVED" ? "good" : "warn"}>
        <p><code>{q.code}</code>{q.path ? <> at <code>{q.path}</code></> : null}{meaning ? <>: {meaning[0]}</> : null}</p>
        {error ? <p>{error}</p> : null}
        {q.path?.startsWith("mapping.") && rule === undefined ? <p className="small dim">The source file as it counts now has no such field: the place is not known any more.</p> : null}
        {rule ? <p className="small">The source file says <code>{q.path}: {rule}</code></p> : null}
        {meaning && q.status === "OPEN" ? <p className="small dim">{meaning[1]}</p> : null}
        {q.status === "DISCARDED" && q.reason ? <p>Given up: {q.reason}</p> : null}
      </Note>
      <section className="card" aria-label="Facts">
        <Facts items={[
          ["Source", <Link key="s" to={`/sources/${encodeURIComponent(q.source)}#file`}>{q.source}</Link>], ["Repository", q.repository ? <span className="mono">{q.repository}</span> : null], ["Record", q.record_id ? <Link className="mono" to={recordLink({ source: q.source, record_type: q.record_type, id: q.record_id, repository: q.repository })}>{q.record_id}</Link> : "without an id"],
          ["Met", `${count(q.met)} ${q.met === 1 ? "time" : "times"}`], ["First seen", <Time key="f" at={q.first_seen} />], ["Last seen", <Time key="l" at={q.last_seen} />], ["Size", q.bytes === undefined ? null : bytes(q.bytes)], ["Came with", <LineageLinks key="g" lineage={q.lineage ?? { batch: q.batch_id }} />],
        ]} />
      </section>
      <section className="card stack tight" aria-label="What the provider sent">
        <div className="row between"><h2>What the provider sent</h2>{q.truncated ? <span className="dim small">the beginning</span> : null}</div>
        {q.fragment ? <FragmentView text={q.fragment} path={rule ?? (q.path?.startsWith("mapping.") ? undefined : q.path)} /> : <Empty title="Not shown" command={`patra quarantine show ${q.id}`}>The answer does not have the item itself.</Empty>}
      </section>
    </>
  );
}

/** useRule is the expression behind a mapped field: an item names the field, and the place is where that reads from. */
function useRule(q: SetAside): string | undefined {
  const named = !!q.path?.startsWith("mapping.");
  const spec = useGet<Spec>([], `/sources/${encodeURIComponent(q.source)}/spec`, undefined, { enabled: named, staleTime: 300_000, retry: false }).data;
  const value = named ? spec?.fields?.find((f) => f.path === q.path)?.value : undefined;
  return value === undefined ? undefined : plain(value);
}
