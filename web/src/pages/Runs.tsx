import { RunList } from "../components/work";
import { Narrowed, SourceFilter, StatusFilter, useFilters } from "../components/Filters";
import { PageHead } from "../components/PageHead";

const states = ["RUNNING", "SUCCEEDED", "PARTIAL", "RELEASED", "FAILED", "LOST", "CANCELLED"];

export default function Runs() {
  const filters = useFilters("source", "status", "plan", "slice", "task");
  return (
    <div className="stack">
      <PageHead title="Runs" />
      <RunList params={filters} head={<div className="filters"><SourceFilter /><StatusFilter options={states} /><Narrowed names={["plan", "slice", "task"]} /></div>} empty={Object.values(filters).some(Boolean) ? { title: "Nothing is like that", text: "Choose less to see more." } : undefined} />
    </div>
  );
}
