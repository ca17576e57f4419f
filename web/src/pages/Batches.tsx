import { BatchList } from "../components/work";
import { Narrowed, SourceFilter, StatusFilter, useFilters } from "../components/Filters";
import { PageHead } from "../components/PageHead";

const states = ["RUNNING", "SUCCEEDED", "SKIPPED", "FAILED"];

export default function Batches() {
  const filters = useFilters("source", "status", "plan", "slice", "task", "run");
  return (
    <div className="stack">
      <PageHead title="Pages read" />
      <BatchList params={filters} head={<div className="filters"><SourceFilter /><StatusFilter options={states} /><Narrowed names={["plan", "slice", "task", "run"]} /></div>} empty={Object.values(filters).some(Boolean) ? { title: "Nothing is like that", text: "Choose less to see more." } : undefined} />
    </div>
  );
}
