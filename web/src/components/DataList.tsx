import type { ReactNode } from "react";
import { Button, Skeleton } from "@mantine/core";
import type { List } from "../api/hooks";
import { plural } from "./format";
import { Empty, ErrorNote } from "./Notes";

export interface Column<T> { label: string; cell: (row: T) => ReactNode; right?: boolean; nowrap?: boolean }

/** Rows is a table; on a phone every row becomes a card with the column's name before each value. */
export function Rows<T>({ label, rows, columns, id }: { label: string; rows: readonly T[]; columns: readonly Column<T>[]; id: (row: T) => string | number }) {
  return (
    <div className="list-wrap" tabIndex={0} role="group" aria-label={`${label}, table`}>
      <table className="list">
        <caption className="visually-hidden">{label}</caption>
        <thead><tr>{columns.map((c) => <th key={c.label} scope="col" data-align={c.right ? "right" : undefined}>{c.label}</th>)}</tr></thead>
        <tbody>
          {rows.map((r) => (
            <tr key={id(r)}>{columns.map((c) => <td key={c.label} data-label={c.label} data-align={c.right ? "right" : undefined} data-nowrap={c.nowrap || undefined}><div>{c.cell(r)}</div></td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface Props<T> {
  label: string; list: List<T>; columns: readonly Column<T>[]; id: (row: T) => string | number; noun: string; nouns?: string;
  empty: { title: string; text?: ReactNode; command?: string }; sort?: (a: T, b: T) => number; head?: ReactNode;
}

/** DataList is a list of the API: rows, "more" while there are more, and a helpful word when there are none. */
export function DataList<T>({ label, list, columns, id, noun, nouns, empty, sort, head }: Props<T>) {
  const rows = list.data ? (sort ? [...list.data].sort(sort) : list.data) : undefined;
  return (
    <section className="card flush" aria-label={label}>
      {head ? <div className="card-head">{head}</div> : null}
      {list.error ? <ErrorNote error={list.error} retry={() => void list.refetch()} /> : null}
      {rows === undefined && !list.error ? <Skeleton height={160} radius={0} role="status" aria-label="Loading" /> : null}
      {rows?.length === 0 ? <Empty title={empty.title} command={empty.command}>{empty.text}</Empty> : null}
      {rows && rows.length > 0 ? (
        <>
          <Rows label={label} rows={rows} columns={columns} id={id} />
          <div className="list-foot">
            <span>{plural(rows.length, noun, nouns)}{list.hasNextPage ? " shown" : ""}</span>
            {list.hasNextPage ? <Button size="compact-sm" variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>Show more</Button> : null}
          </div>
        </>
      ) : null}
    </section>
  );
}
