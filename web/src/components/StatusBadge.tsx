import { look } from "./state";

export function StatusBadge({ state, title }: { state: string; title?: string }) {
  const { tone, icon: Icon } = look(state);
  return <span className="badge" data-tone={tone} title={title}><Icon size={14} stroke={2.2} aria-hidden />{state.toLowerCase().replaceAll("_", " ")}</span>;
}
