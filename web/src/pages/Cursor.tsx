import { lazy, Suspense } from "react";
import { Link, useParams } from "react-router";
import { useCoverage } from "../api/coverage";
import { useGet, useList } from "../api/hooks";
import type { Cursor as Row, CursorEvent, Waiver } from "../api/types";
import { Async } from "../components/Async";
import { ConfirmAction } from "../components/ConfirmAction";
import { DataList } from "../components/DataList";
import { Facts } from "../components/Facts";
import { instant, lasting, plural, span } from "../components/format";
import { PageHead } from "../components/PageHead";
import { Time, useNow } from "../components/Time";
import { sourceCell } from "../components/work";
import { CoverageMap } from "../coverage/CoverageMap";
import { FillGap } from "../coverage/Picked";
import { ahead } from "../coverage/state";

const WatermarkChart = lazy(() => import("../components/WatermarkChart").then((m) => ({ default: m.WatermarkChart })));

export default function Cursor() {
  const { id = "" } = useParams();
  const now = useNow();
  const cursor = useGet<Row>(["cursors"], `/cursors/${id}`);
  const coverage = useCoverage(id, 5_000);
  const events = useList<CursorEvent>(["cursors"], `/cursors/${id}/timeline`, undefined, { limit: 100 });
  const c = cursor.data ?? coverage.data?.cursor;
  const rest = ahead(coverage.data?.segments ?? []);
  const gaps = coverage.data?.segments?.filter((s) => s.state === "GAP") ?? [];
  return (
    <div className="stack">
      <PageHead title={c ? `${c.source}/${c.endpoint}, ${c.operation.toLowerCase()}` : `Cursor ${id}`} crumbs={[["Coverage", "/coverage"], ["Cursors", "/cursors"]]}
        actions={c && gaps.length > 1 ? <FillGap cursor={c} missing={{ from: gaps[0]!.from, to: gaps[gaps.length - 1]!.to }} label={`Fill ${plural(gaps.length, "gap")}`} /> : null}>
        {c ? <>cursor {c.id}{c.repository ? <> of <span className="mono">{c.repository}</span></> : null}, complete through {instant(c.complete_through)}{gaps.length ? `, ${plural(gaps.length, "gap")}` : ""}{rest ? `, not read yet: ${span(rest)}` : ""}</> : null}
      </PageHead>
      {c ? (
        <section className="card" aria-label="Facts">
          <Facts items={[
            ["Source", sourceCell(c)], ["Query", c.query ? <code>{c.query}</code> : "everything"], ["Campaign", c.campaign], ["By", c.cursor_key], ["Watermark", instant(c.watermark)], ["Complete through", instant(c.complete_through)],
            ["Behind now", c.complete_through && c.operation === "HARVEST" ? lasting((now - Date.parse(c.complete_through)) / 1000) : null], ["Begins", c.origin ? `${instant(c.origin)}${c.origin_code ? ` (${c.origin_code.toLowerCase()})` : ""}` : null],
            ["Latest record seen", c.observed_max ? instant(c.observed_max) : null], ["Moved", <Time key="m" at={c.updated_at} />], ["Plans", <Link key="p" to={`/plans?watermark=${c.id}`}>of this cursor</Link>],
          ]} />
        </section>
      ) : null}
      <Async query={coverage} height={420}>{(d) => <CoverageMap coverage={d} />}</Async>
      <Waivers cursor={id} />
      {events.data && events.data.length > 1 ? <section className="card stack tight"><h2>Watermark over time</h2><Suspense fallback={null}><WatermarkChart events={events.data} /></Suspense></section> : null}
      <DataList label="Steps of the watermark" list={events} id={(e) => e.seq} noun="step" head={<h2>Steps of the watermark</h2>} empty={{ title: "The watermark did not move yet", text: "It moves when everything before it is read." }} columns={[
        { label: "Step", cell: (e) => e.seq }, { label: "When", cell: (e) => <Time at={e.created_at} /> }, { label: "Cause", cell: (e) => e.cause.toLowerCase() }, { label: "From", cell: (e) => instant(e.from), nowrap: true }, { label: "To", cell: (e) => instant(e.to), nowrap: true },
        { label: "Slice", cell: (e) => (e.slice_id ? <Link to={`/slices/${e.slice_id}`}>{e.slice_id}</Link> : "–") }, { label: "Run", cell: (e) => (e.run_id ? <Link to={`/runs/${e.run_id}`}>{e.run_id}</Link> : "–") }, { label: "Reason", cell: (e) => e.reason ?? "" },
      ]} />
    </div>
  );
}

/** Waivers are the stretches that somebody gave up; where nobody did, nothing is said. */
function Waivers({ cursor }: { cursor: string }) {
  const list = useList<Waiver>(["cursors", "audit"], "/waivers", { watermark: cursor });
  if (!list.data?.length) return null;
  return <DataList label="Given up" list={list} id={(w) => w.id} noun="waiver" head={<h2>Given up</h2>} empty={{ title: "Nothing was given up" }} columns={[
    { label: "Window", cell: (w) => span(w.window), nowrap: true }, { label: "Reason", cell: (w) => w.reason }, { label: "By", cell: (w) => w.approved_by }, { label: "When", cell: (w) => <Time at={w.at} /> },
    { label: "Taken back", cell: (w) => (w.revoked_at ? <Time at={w.revoked_at} /> : <ConfirmAction label="Take it back" path={`/waivers/${w.id}/revoke`} body={{}} reason="required" what={`${span(w.window)} counts as missing again.`} />) },
  ]} />;
}
