import { Link } from "react-router";
import { useList } from "../api/hooks";
import type { Cursor } from "../api/types";
import { DataList } from "../components/DataList";
import { SourceFilter, useFilters } from "../components/Filters";
import { instant, lasting } from "../components/format";
import { PageHead } from "../components/PageHead";
import { Time, useNow } from "../components/Time";
import { sourceCell } from "../components/work";

export default function Cursors() {
  const { source } = useFilters("source");
  const now = useNow();
  const list = useList<Cursor>(["cursors"], "/cursors", { source });
  return (
    <div className="stack">
      <PageHead title="Cursors">How far each query of each source is read, and how far that is proved.</PageHead>
      <DataList label="Cursors" list={list} id={(c) => c.id} noun="cursor" head={<div className="filters"><SourceFilter /></div>}
        empty={{ title: "No cursor yet", text: "A cursor is made by the first harvest of a query:", command: "patra harvest crossref --from 2026-11-01 --to 2026-11-03" }}
        columns={[
          { label: "Cursor", cell: (c) => <Link to={`/cursors/${c.id}`}>{c.id}</Link> }, { label: "Source", cell: sourceCell }, { label: "Operation", cell: (c) => c.operation.toLowerCase() }, { label: "Query", cell: (c) => (c.query ? <code>{c.query}</code> : <span className="dim">everything</span>) }, { label: "By", cell: (c) => c.cursor_key },
          { label: "Watermark", cell: (c) => instant(c.watermark), nowrap: true }, { label: "Complete through", cell: (c) => instant(c.complete_through), nowrap: true },
          { label: "Behind", cell: (c) => (c.complete_through && c.operation === "HARVEST" ? lasting((now - Date.parse(c.complete_through)) / 1000) : "–"), nowrap: true },
          { label: "Moved", cell: (c) => <Time at={c.updated_at} /> },
        ]} />
    </div>
  );
}
