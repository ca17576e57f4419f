import type { ReactNode } from "react";
import { Skeleton } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { ErrorNote } from "./Notes";

/** Async shows what was asked for when it is there, and until then that it is on its way, or why it is not. */
export function Async<T>({ query, children, height = 120 }: { query: Pick<UseQueryResult<T>, "data" | "error" | "refetch">; children: (data: T) => ReactNode; height?: number }) {
  if (query.data === undefined) return query.error ? <ErrorNote error={query.error} retry={() => void query.refetch()} /> : <Skeleton height={height} radius="sm" role="status" aria-label="Loading" />;
  return <>{query.error ? <ErrorNote error={query.error} retry={() => void query.refetch()} /> : null}{children(query.data)}</>;
}
