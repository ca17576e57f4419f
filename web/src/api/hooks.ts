import { useInfiniteQuery, useMutation, useQuery, useQueryClient, type UseQueryOptions } from "@tanstack/react-query";
import { get, send, type ApiError, type Params } from "./client";
import type { Alert, Alerts, Page, Said, System } from "./types";

/** Topic is what a pulse of the stream can name; a query says which of them can change its answer. */
export type Topic = "tasks" | "batches" | "cursors" | "plans" | "records" | "controls" | "gates" | "audit" | "events" | "quarantine" | "healing";
export const allTopics: readonly Topic[] = ["tasks", "batches", "cursors", "plans", "records", "controls", "gates", "audit", "events", "quarantine", "healing"];

type Extra<T> = Omit<UseQueryOptions<T, ApiError>, "queryKey" | "queryFn" | "meta">;

/** useGet reads one thing and keeps it fresh while pulses name one of its topics; what is dear to answer, not more often than every so many milliseconds. */
export function useGet<T>(topics: readonly Topic[], path: string, params?: Params, extra?: Extra<T> & { every?: number }) {
  const { every, ...rest } = extra ?? {};
  return useQuery<T, ApiError>({
    queryKey: [path, params ?? {}],
    queryFn: ({ signal }) => get<T>(path, params, signal),
    meta: { topics, every }, ...rest,
  });
}

/** useList reads a list page by page. Some lists of the API are bare arrays; they are one page. Some know no pages: limit 0 is for them. */
export function useList<T>(topics: readonly Topic[], path: string, params?: Params, options?: { enabled?: boolean; limit?: number }) {
  const q = useInfiniteQuery<Page<T>, ApiError, T[], unknown[], string>({
    queryKey: [path, "list", params ?? {}, options?.limit ?? 50],
    initialPageParam: "",
    queryFn: async ({ pageParam, signal }) => {
      const got = await get<Page<T> | T[] | null>(path, { ...params, limit: options?.limit === 0 ? undefined : (options?.limit ?? 50), cursor: pageParam }, signal);
      return Array.isArray(got) ? { items: got } : { items: got?.items ?? [], next_cursor: got?.next_cursor };
    },
    getNextPageParam: (last) => last.next_cursor || undefined,
    select: (d) => d.pages.flatMap((p) => p.items),
    meta: { topics }, enabled: options?.enabled,
  });
  return q;
}

export type List<T> = ReturnType<typeof useList<T>>;

/** useAct sends an action; afterwards everything visible is asked again, because an action can change any of it. */
export function useAct(path: string, method: "POST" | "DELETE" | "PUT" = "POST") {
  const client = useQueryClient();
  return useMutation<Said, ApiError, unknown>({
    mutationFn: (body) => send<Said>(method, path, body),
    onSuccess: () => void client.invalidateQueries(),
  });
}

/** useAlerts reads what needs a person. The frame, the overview and the page of alerts share the answer, so they must agree on what changes it: the topics of whoever asks last count for all. The server keeps its answer for five seconds. */
export const useAlerts = (extra?: Extra<Alerts>) => useGet<Alerts>(["tasks", "controls", "cursors", "gates", "quarantine", "events", "audit"], "/alerts", undefined, { ...extra, every: 5_000 });
/** calling is of an alert that a person should see to and nobody has said to. */
export const calling = (a: Alert) => a.state !== "PENDING" && !a.silenced;

export const useSystem = () => useGet<System>([], "/system", undefined, { staleTime: 60_000 });

/** useMay says whether the caller may do what needs this role; while it is not known, yes: the server refuses anyway. */
export function useMay(role: "viewer" | "operator" | "admin"): boolean {
  const caller = useSystem().data?.caller;
  const order = ["viewer", "operator", "admin"];
  return !caller?.role || order.indexOf(caller.role) >= order.indexOf(role);
}
