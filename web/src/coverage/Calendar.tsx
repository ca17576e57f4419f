import { useMemo, useState, type KeyboardEvent } from "react";
import { ActionIcon } from "@mantine/core";
import { IconChevronLeft, IconChevronRight } from "@tabler/icons-react";
import type { Day } from "../api/types";
import { count, plural } from "../components/format";
import { monthsOf, worse } from "./state";

interface Props { days: readonly Day[]; onPick: (date: string) => void; picked?: string }

/** say begins with the number that the cell shows, so that whoever speaks to the page can name the cell. */
const say = (no: number, month: string, d: Day) => `${no} ${month}: ${d.state.toLowerCase()}${d.records ? `, ${count(d.records)} records` : ""}${d.gaps ? `, ${plural(d.gaps, "gap")}` : ""}`;

/** Calendar shows one cell a day, in the state of the worst that the day has, a year at a time. */
export function Calendar({ days, onPick, picked }: Props) {
  const byDate = useMemo(() => new Map(days.map((d) => [d.day.slice(0, 10), d])), [days]);
  const dates = useMemo(() => [...byDate.keys()].sort(), [byDate]);
  const first = dates[0] ?? "", last = dates[dates.length - 1] ?? "";
  const years = [...new Set(dates.map((d) => +d.slice(0, 4)))];
  const [chosen, setChosen] = useState<number>();
  const year = chosen ?? years[years.length - 1];
  if (year === undefined) return <p className="dim">No day is covered yet.</p>;
  const months = monthsOf(year, byDate, first, last);
  const inYear = months.flatMap((m) => m.days).filter((d) => d.day).map((d) => d.date);
  const entry = picked && inYear.includes(picked) ? picked : inYear[inYear.length - 1];
  const keys = (e: KeyboardEvent<HTMLElement>) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }[e.key];
    const date = (e.target as HTMLElement).dataset.date;
    if (!step || !date) return;
    e.preventDefault();
    const to = new Date(Date.parse(date) + step * 86_400_000).toISOString().slice(0, 10);
    e.currentTarget.querySelector<HTMLElement>(`[data-date="${to}"]`)?.focus();
  };
  const worstOf = (y: number) => days.filter((d) => d.day.startsWith(String(y))).map((d) => d.state).reduce(worse);
  return (
    <div className="stack tight">
      <div className="row">
        <ActionIcon variant="default" aria-label="The year before" disabled={!years.includes(year - 1)} onClick={() => setChosen(year - 1)}><IconChevronLeft size={16} /></ActionIcon>
        <b className="num">{year}</b>
        <ActionIcon variant="default" aria-label="The year after" disabled={!years.includes(year + 1)} onClick={() => setChosen(year + 1)}><IconChevronRight size={16} /></ActionIcon>
        <span className="dim small">the worst of the year: {worstOf(year).toLowerCase()}</span>
      </div>
      <div className="months" onKeyDown={keys}>
        {months.map((m) => (
          <section key={m.key} aria-label={`${m.name} ${year}`}>
            <h3>{m.name}</h3>
            <div className="month">
              {["M", "T", "W", "T", "F", "S", "S"].map((d, i) => <span key={i} className="weekday" aria-hidden>{d}</span>)}
              {m.days.map((d, i) => (
                d.day
                  ? <button key={d.date} type="button" className="cov day" data-state={d.day.state} data-date={d.date} data-lead={i === 0 ? m.lead : undefined} data-picked={d.date === picked || undefined} tabIndex={d.date === entry ? 0 : -1} title={say(d.no, `${m.name} ${year}`, d.day)} aria-label={say(d.no, `${m.name} ${year}`, d.day)} onClick={() => onPick(d.date)}><span>{d.no}</span></button>
                  : <span key={d.date} className="day off" data-lead={i === 0 ? m.lead : undefined}>{d.no}</span>
              ))}
            </div>
          </section>
        ))}
      </div>
    </div>
  );
}
