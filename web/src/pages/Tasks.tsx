import { TaskList } from "../components/work";
import { Narrowed, SourceFilter, StatusFilter, useFilters } from "../components/Filters";
import { PageHead } from "../components/PageHead";

const states = ["QUEUED", "RUNNING", "SUCCEEDED", "PARTIAL", "FAILED", "CANCELLED"];

export default function Tasks() {
  const filters = useFilters("source", "status", "plan", "slice");
  return (
    <div className="stack">
      <PageHead title="Tasks" />
      <TaskList params={filters} head={<div className="filters"><SourceFilter /><StatusFilter options={states} /><Narrowed names={["plan", "slice"]} /></div>} empty={Object.values(filters).some(Boolean) ? { title: "Nothing is like that", text: "Choose less to see more." } : undefined} />
    </div>
  );
}
