import { Link } from "react-router";
import { useList } from "../api/hooks";
import type { Schedule } from "../api/trust";
import { DataList, type Column } from "../components/DataList";
import { FaultText } from "../components/FaultText";
import { instant } from "../components/format";
import { PageHead } from "../components/PageHead";
import { StatusBadge } from "../components/StatusBadge";
import { Time } from "../components/Time";
import { sourceCell } from "../components/work";

const by: Record<string, string> = { TIME: "by time", ALL: "all known records", STALE: "records not seen for long", SIGNALS: "records that signals ask for", MAPPING: "records read by an older mapping" };

const columns: Column<Schedule>[] = [
  { label: "Schedule", cell: (s) => <><b>{s.name}</b>{s.paused ? <> <StatusBadge state="PAUSED" /></> : null}</> },
  { label: "Fires", cell: (s) => <><code>{s.cron}</code><div className="dim small">UTC</div></>, nowrap: true },
  { label: "Source", cell: sourceCell },
  { label: "Does", cell: (s) => <>{s.operation.toLowerCase()}{s.by && s.by !== "TIME" ? <span className="dim">, {by[s.by] ?? s.by.toLowerCase()}{s.every ? ` (${s.every})` : ""}</span> : null}{s.campaign ? <span className="dim">, campaign {s.campaign}</span> : null}{s.query ? <div className="small mono"><bdi>{s.query}</bdi></div> : null}</> },
  { label: "Next", cell: (s) => s.next ? <><Time at={s.next} /><div className="dim small">{instant(s.next)}</div></> : <span className="dim">not while it is paused</span> },
  { label: "Last", cell: (s) => <Time at={s.last?.triggered_at} /> },
  { label: "Came of it", cell: (s) => s.last ? <><StatusBadge state={s.last.status} />{s.last.error ? <div className="small">{typeof s.last.error === "string" ? s.last.error : <FaultText fault={s.last.error} />}</div> : null}</> : <span className="dim">–</span> },
  { label: "See", cell: (s) => <Link to={`/plans?source=${encodeURIComponent(s.source)}`}>plans</Link> },
];

export default function Schedules() {
  const list = useList<Schedule>(["plans"], "/schedules", undefined, { limit: 0 });
  return (
    <div className="stack">
      <PageHead title="Schedules">What is planned by itself. Schedules stand in patra.yaml; <code>patra serve</code> fires them.</PageHead>
      <DataList label="Schedules" list={list} columns={columns} id={(s) => s.name} noun="schedule" sort={(a, b) => Number(!!a.paused) - Number(!!b.paused) || (a.next ?? "").localeCompare(b.next ?? "")} empty={{ title: "Nothing is scheduled", text: <>Write one into patra.yaml: <code className="value-json">schedules: [{"{"}name: daily, cron: "15 2 * * *", source: crossref{"}"}]</code></> }} />
    </div>
  );
}
