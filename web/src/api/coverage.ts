import { useEffect } from "react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { get, type ApiError } from "./client";
import type { Coverage } from "./types";

/** A map of many years comes in parts: one that is cut says where it ends, and the next begins there. No more than this many. */
const mostParts = 40;

function joined(parts: Coverage[]): Coverage {
  const first = parts[0]!, last = parts[parts.length - 1]!;
  const days = new Map(parts.flatMap((p) => p.days ?? []).map((d) => [d.day, d])); // where two parts meet, the later one has the whole day
  return { ...last, window: { from: first.window.from, to: last.window.to }, segments: parts.flatMap((p) => p.segments ?? []), days: [...days.values()], merged: parts.reduce((n, p) => n + (p.merged ?? 0), 0) };
}

/** useCoverage reads the map of a cursor, all its parts one after the other, and shows what is there already. */
export function useCoverage(id: number | string, every: number) {
  const path = `/cursors/${id}/coverage`;
  const q = useInfiniteQuery<Coverage, ApiError, Coverage, unknown[], string>({
    queryKey: [path, "parts"], initialPageParam: "",
    queryFn: ({ pageParam, signal }) => get<Coverage>(path, { from: pageParam }, signal),
    getNextPageParam: (last, all, from) => (last.cut && last.window.to > from && all.length < mostParts ? last.window.to : undefined),
    select: (d) => joined(d.pages), meta: { topics: ["cursors", "tasks", "plans"], every },
  });
  const { hasNextPage, isFetching, isError, fetchNextPage } = q;
  useEffect(() => { if (hasNextPage && !isFetching && !isError) void fetchNextPage(); }, [hasNextPage, isFetching, isError, fetchNextPage]);
  return q;
}
