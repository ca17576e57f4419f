import { Command } from "./Command";
import { JsonView } from "./JsonView";

/** unescape writes a part of an address as people read it; what is not valid stays as it is. */
function unescape(text: string): string {
  try { return decodeURIComponent(text.replaceAll("+", " ")); } catch { return text; }
}

/** RequestView shows a request as it is sent: the address cut at its parameters so that it can be read, and whole to copy. */
export function RequestView({ method, url, headers, body, auth, marked }: { method: string; url: string; headers?: Record<string, unknown>; body?: string; auth?: string; marked?: ReadonlySet<string> }) {
  const [head = "", tail] = url.split(/\?(.*)/s);
  const params = (tail ?? "").split("&").filter(Boolean).map((p) => { const i = p.indexOf("="); return i < 0 ? [p, ""] as const : [p.slice(0, i), p.slice(i + 1)] as const; });
  return (
    <div className="stack tight">
      <div className="request" role="group" aria-label="Request">
        <div><span className="verb">{method}</span> <span>{head}</span></div>
        {params.map(([k, v], i) => <div key={i} className="param" data-marked={marked?.has(unescape(k)) || undefined}><span className="dim">{i === 0 ? "?" : "&"}</span><b>{unescape(k)}</b><span className="dim">=</span><bdi>{unescape(v)}</bdi></div>)}
      </div>
      {headers && Object.keys(headers).length ? <HeaderList label="Headers of the request" headers={headers} /> : null}
      {auth ? <p className="small dim">Who we are is added when it leaves: {auth.toLowerCase()}.</p> : null}
      {body ? <JsonView label="Body of the request" value={body} /> : null}
      <details><summary>exactly, byte for byte</summary><Command text={url} /></details>
    </div>
  );
}

export function HeaderList({ headers, label }: { headers: Record<string, unknown>; label: string }) {
  const all = Object.entries(headers).sort(([a], [b]) => a.localeCompare(b));
  return <dl className="headers" aria-label={label}>{all.map(([k, v]) => <div key={k}><dt>{k}</dt><dd><bdi>{Array.isArray(v) ? v.join(", ") : String(v)}</bdi></dd></div>)}</dl>;
}
