import { NativeSelect } from "@mantine/core";
import { Link, useSearchParams } from "react-router";
import { useGet } from "../api/hooks";

/** useFilters reads the named filters from the address, so that a list can be linked to and the back button works. */
export function useFilters<K extends string>(...names: K[]): Record<K, string> {
  const [params] = useSearchParams();
  return Object.fromEntries(names.map((n) => [n, params.get(n) ?? ""])) as Record<K, string>;
}

function Choice({ name, label, options }: { name: string; label: string; options: readonly string[] }) {
  const [params, set] = useSearchParams();
  const now = params.get(name) ?? "";
  const all = now && !options.includes(now) ? [now, ...options] : options;
  return (
    <NativeSelect label={label} size="xs" value={now} onChange={(e) => { const v = e.currentTarget.value; set((p) => { if (v) p.set(name, v); else p.delete(name); return p; }, { replace: true }); }}
      data={[{ value: "", label: "all" }, ...all.map((v) => ({ value: v, label: v }))]} />
  );
}

interface Named { code: string }
export function SourceFilter() {
  const got = useGet<{ items?: Named[] } | Named[]>([], "/sources", undefined, { staleTime: 300_000 }).data;
  const rows = Array.isArray(got) ? got : (got?.items ?? []);
  return <Choice name="source" label="Source" options={rows.map((s) => s.code)} />;
}
export function StatusFilter({ options }: { options: readonly string[] }) { return <Choice name="status" label="State" options={options} />; }

/** Narrowed names the filters that came with a link, each with a way out. */
export function Narrowed({ names }: { names: readonly string[] }) {
  const [params] = useSearchParams();
  const set = names.filter((n) => params.get(n));
  return <>{set.map((n) => {
    const rest = new URLSearchParams(params);
    rest.delete(n);
    return <span key={n} className="badge" data-tone="busy">only of {n === "watermark" ? "cursor" : n} {params.get(n)} <Link to={{ search: rest.toString() }} aria-label={`Show more than ${n} ${params.get(n)}`} className="num">×</Link></span>;
  })}</>;
}
