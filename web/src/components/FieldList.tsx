import { LinkOut } from "./LinkOut";
import { plain } from "./diff";

const isText = (v: unknown): v is string => typeof v === "string";
const isNamed = (v: unknown): v is { family?: string; given?: string; name?: string } => typeof v === "object" && v !== null && ("family" in v || "given" in v || "name" in v);

function Value({ value }: { value: unknown }) {
  if (isText(value)) return /^https?:\/\/\S+$/.test(value) ? <LinkOut href={value} /> : <bdi className="value-text">{value}</bdi>;
  if (Array.isArray(value) && value.length > 0 && value.every(isNamed)) return <span>{value.map((v, i) => <bdi key={i}>{i ? "; " : ""}{v.name ?? [v.family, v.given].filter(Boolean).join(", ")}</bdi>)}</span>;
  if (Array.isArray(value) && value.every(isText)) return <span>{value.map((v, i) => <bdi key={i}>{i ? "; " : ""}{v}</bdi>)}</span>;
  return <code className="value-json">{plain(value)}</code>;
}

/** FieldList shows the fields of a record; each value is text in its own direction, however odd it is. */
export function FieldList({ fields }: { fields: Record<string, unknown> }) {
  const names = Object.keys(fields).sort((a, b) => Number(b === "title") - Number(a === "title") || a.localeCompare(b));
  if (names.length === 0) return <p className="dim">It has no fields.</p>;
  return <dl className="fields">{names.map((n) => <div key={n}><dt>{n}</dt><dd><Value value={fields[n]} /></dd></div>)}</dl>;
}
