import { useState } from "react";
import { Button, Switch } from "@mantine/core";
import { Link } from "react-router";
import { Rows } from "../components/DataList";
import { count, plural, span } from "../components/format";
import { Empty } from "../components/Notes";
import { StatusBadge } from "../components/StatusBadge";
import type { Stretch, View } from "./state";

/** SegmentTable is the map as a table: for those who do not see it, and for exact numbers. */
export function SegmentTable({ all, view, onPick }: { all: readonly Stretch[]; view: View; onPick: (s: Stretch) => void }) {
  const [open, setOpen] = useState(false);
  const [most, setMost] = useState(20);
  const within = all.filter((s) => s.end > view.from && s.start < view.to && (!open || s.state !== "SEALED"));
  return (
    <section className="card flush" aria-label="Stretches">
      <div className="card-head"><h2>Stretches within the view</h2><Switch size="sm" label="only what is not sealed" checked={open} onChange={(e) => setOpen(e.currentTarget.checked)} /></div>
      {within.length === 0 ? <Empty title={open ? "Everything here is sealed" : "Nothing is here"} /> : (
        <>
          <Rows label="Stretches within the view" rows={within.slice(0, most)} id={(s) => `${s.from}${s.to}${s.state}${s.slice_id ?? ""}`} columns={[
            { label: "Window", cell: (s) => <button type="button" className="plain" onClick={() => onPick(s)}>{span(s)}</button>, nowrap: true },
            { label: "State", cell: (s) => <StatusBadge state={s.state} /> },
            { label: "Records", cell: (s) => count(s.records), right: true }, { label: "Expected", cell: (s) => count(s.expected), right: true },
            { label: "Slice", cell: (s) => s.slice_id ? <Link to={`/slices/${s.slice_id}`}>{s.slice_id}</Link> : "–" }, { label: "Task", cell: (s) => s.task_id ? <Link to={`/tasks/${s.task_id}`}>{s.task_id}</Link> : "–" },
            { label: "Says", cell: (s) => s.said ?? "" },
          ]} />
          <div className="list-foot"><span>{plural(within.length, "stretch", "stretches")}</span>{within.length > most ? <Button size="compact-sm" variant="default" onClick={() => setMost(most + 200)}>Show more</Button> : null}</div>
        </>
      )}
    </section>
  );
}
