import { Command } from "./Command";
import { pretty } from "./diff";
import { JsonView } from "./JsonView";

/** unescape writes a part of an address as people read it; what is not valid stays as it is. */
function unescape(text: string): string {
  try { return decodeURIComponent(text.replaceAll("+", " ")); } catch { return text; }
}

/** RequestView shows a request as it is sent: the address cut at its parameters so that it can be read, and whole to copy. */
export function RequestView({ method, url, headers, body, auth, marked, fragments }: { method: string; url: string; headers?: Record<string, unknown>; body?: string; auth?: string; marked?: ReadonlySet<string>; fragments?: readonly string[] }) {
  const [head = "", tail] = url.split(/\?(.*)/s);
  const form = body && /^[\w.%-]+=[^\s{]*$/.test(body) ? body : ""; // sent as a form: the same, in another place
  return (
    <div className="stack tight">
      <div className="request" role="group" aria-label="Request">
        <div><span className="verb">{method}</span> <span>{head}</span></div>
        <Params text={tail ?? ""} first="?" marked={marked} fragments={fragments} />
        {form ? <><div className="dim">body, as a form</div><Params text={form} first=" " marked={marked} fragments={fragments} /></> : null}
      </div>
      {headers && Object.keys(headers).length ? <HeaderList label="Headers of the request" headers={headers} /> : null}
      {auth ? <p className="small dim">Who we are is added when it leaves: {auth.toLowerCase()}.</p> : null}
      {body && !form ? <JsonView label="Body of the request" value={pretty(body)} /> : null}
      <details><summary>exactly, byte for byte</summary><Command text={url} />{form ? <Command text={form} /> : null}</details>
    </div>
  );
}

function Params({ text, first, marked, fragments = [] }: { text: string; first: string; marked?: ReadonlySet<string>; fragments?: readonly string[] }) {
  return <>{text.split("&").filter(Boolean).map((p, i) => {
    const [, k = p, v = ""] = /^([^=]*)=(.*)$/s.exec(p) ?? [];
    return <div key={i} className="param" data-marked={marked?.has(unescape(k)) || fragments.some((f) => unescape(v).includes(f)) || undefined}><span className="dim">{i === 0 ? first : "&"}</span><b>{unescape(k)}</b><span className="dim">=</span><bdi>{unescape(v)}</bdi></div>;
  })}</>;
}

export function HeaderList({ headers, label }: { headers: Record<string, unknown>; label: string }) {
  const all = Object.entries(headers).sort(([a], [b]) => a.localeCompare(b));
  return <dl className="headers" aria-label={label}>{all.map(([k, v]) => <div key={k}><dt>{k}</dt><dd><bdi>{Array.isArray(v) ? v.join(", ") : String(v)}</bdi></dd></div>)}</dl>;
}
