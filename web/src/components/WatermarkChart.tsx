import { useMemo } from "react";
import uPlot from "uplot";
import type { CursorEvent } from "../api/types";
import { Chart } from "./Chart";

/** WatermarkChart shows how far the watermark was at each time: a staircase that should not stand still. */
export function WatermarkChart({ events }: { events: readonly CursorEvent[] }) {
  const data = useMemo<uPlot.AlignedData>(() => {
    const rows = [...events].filter((e) => e.to).sort((a, b) => a.seq - b.seq);
    return [rows.map((e) => Date.parse(e.created_at) / 1000), rows.map((e) => Date.parse(e.to!) / 1000)];
  }, [events]);
  if (data[0].length < 2) return null;
  const day = (v: number) => new Date(v * 1000).toISOString().slice(0, 10);
  const when = (v: number, span: number) => { const iso = new Date(v * 1000).toISOString(); return span > 4 * 86_400 ? iso.slice(0, 10) : span > 3600 ? iso.slice(5, 16).replace("T", " ") : iso.slice(11, 19); };
  return (
    <Chart label="Watermark over time; the table below has the same steps" data={data} options={(ink) => ({
      tzDate: (ts) => uPlot.tzDate(new Date(ts * 1000), "UTC"), legend: { show: false }, cursor: { y: false },
      scales: { x: { time: true }, y: { time: true } },
      axes: [{ stroke: ink.text, grid: { stroke: ink.grid }, ticks: { stroke: ink.grid }, space: 90, values: (_u, vs) => vs.map((v) => when(v, vs[vs.length - 1]! - vs[0]!)) }, { stroke: ink.text, grid: { stroke: ink.grid }, ticks: { stroke: ink.grid }, size: 84, values: (_u, vs) => vs.map(day) }],
      series: [{}, { label: "watermark", stroke: ink.line, width: 2, points: { show: true, size: 6, fill: ink.line }, paths: uPlot.paths.stepped!({ align: 1 }) }],
    })} />
  );
}
