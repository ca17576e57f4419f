import { SliceList } from "../components/work";
import { Narrowed, SourceFilter, StatusFilter, useFilters } from "../components/Filters";
import { PageHead } from "../components/PageHead";

const states = ["READY", "SUCCEEDED", "PARTIAL", "SPLIT", "FAILED", "CANCELLED"];

export default function Slices() {
  const filters = useFilters("source", "status", "plan");
  return (
    <div className="stack">
      <PageHead title="Slices" />
      <SliceList params={filters} head={<div className="filters"><SourceFilter /><StatusFilter options={states} /><Narrowed names={["plan"]} /></div>} empty={Object.values(filters).some(Boolean) ? { title: "Nothing is like that", text: "Choose less to see more." } : undefined} />
    </div>
  );
}
