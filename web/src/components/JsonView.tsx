/** JsonView shows a value as text and nothing but text. */
export function JsonView({ value, label }: { value: unknown; label: string }) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return <pre className="json" tabIndex={0} aria-label={label}>{text}</pre>;
}
