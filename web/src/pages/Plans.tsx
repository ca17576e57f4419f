import { PlanList } from "../components/work";
import { Narrowed, SourceFilter, StatusFilter, useFilters } from "../components/Filters";
import { PageHead } from "../components/PageHead";

const states = ["DRAFT", "SLICING", "READY", "PARTIAL", "FAILED", "CANCELLED"];

export default function Plans() {
  const filters = useFilters("source", "status", "watermark");
  return (
    <div className="stack">
      <PageHead title="Plans">One window of a source, with its query and configuration frozen.</PageHead>
      <PlanList params={filters} head={<div className="filters"><SourceFilter /><StatusFilter options={states} /><Narrowed names={["watermark"]} /></div>} empty={filters.source || filters.status || filters.watermark ? { title: "No plan is like that", text: "Choose less to see more." } : undefined} />
    </div>
  );
}
