import { PlanList } from "../components/work";
import { SourceFilter, StatusFilter, useFilters } from "../components/Filters";
import { PageHead } from "../components/PageHead";

const states = ["DRAFT", "SLICING", "READY", "PARTIAL", "FAILED", "CANCELLED"];

export default function Plans() {
  const filters = useFilters("source", "status");
  return (
    <div className="stack">
      <PageHead title="Plans">One window of a source, with its query and configuration frozen.</PageHead>
      <PlanList params={filters} head={<div className="filters"><SourceFilter /><StatusFilter options={states} /></div>} empty={filters.source || filters.status ? { title: "No plan is like that", text: "Choose less to see more." } : undefined} />
    </div>
  );
}
