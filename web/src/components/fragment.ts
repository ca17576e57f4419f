// Finding the place in what a provider sent: JSON by a path, XML by the name of an element.

export interface Laid { text: string; nodes: Node[] }
interface Node { path: (string | number)[]; start: number; end: number; raw: string }

/** layOut indents JSON and remembers where each value stands. Its words stay as they were sent, also numbers that we could not hold. */
export function layOut(text: string): Laid | undefined {
  try { JSON.parse(text); } catch { return undefined; }
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  const nodes: Node[] = [];
  const open: { node: Node; list: boolean; index: number; key?: string }[] = [];
  let out = "";
  const line = () => { out += "\n" + "  ".repeat(open.length); };
  const begin = (): Node => {
    const top = open.at(-1);
    const node = { path: top ? [...top.node.path, top.list ? top.index : (top.key ?? "")] : [], start: out.length, end: 0, raw: "" };
    nodes.push(node);
    return node;
  };
  for (let i = 0; i < tokens.length; i++) {
    const t = tokens[i]!, top = open.at(-1);
    if (t === "{" || t === "[") {
      const node = begin();
      out += t;
      open.push({ node, list: t === "[", index: 0 });
      if (tokens[i + 1] !== "}" && tokens[i + 1] !== "]") line();
    } else if (t === "}" || t === "]") {
      const done = open.pop()!;
      if (tokens[i - 1] !== "{" && tokens[i - 1] !== "[") line();
      out += t;
      done.node.end = out.length;
    } else if (t === ",") {
      out += ",";
      if (top?.list) top.index++;
      line();
    } else if (t === ":") out += ": ";
    else if (top && !top.list && tokens[i + 1] === ":") { top.key = JSON.parse(t) as string; out += t; }
    else { const node = begin(); out += t; node.end = out.length; node.raw = t; }
  }
  return { text: out, nodes };
}

const step = /^(?:\.([A-Za-z_][\w-]*)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\[\?@\s*==\s*'([^']*)'\])/;

/** placeOf finds the value that a path such as $.a['b-c'][0] means, or the nearest around it; undefined is that there is nothing. */
export function placeOf(laid: Laid, path: string): { start: number; end: number } | undefined {
  const found = /\$[^|{]*/.exec(path);
  if (!found) return undefined;
  let rest = found[0].trim().slice(1), at: (string | number)[] = [], node = laid.nodes[0];
  while (rest && node) {
    const m = step.exec(rest);
    if (!m) break; // all members, or a condition: what is around them is near enough
    rest = rest.slice(m[0].length);
    const same = (n: Node) => n.path.length === at.length + 1 && at.every((p, i) => n.path[i] === p);
    node = laid.nodes.find((n) => same(n) && (m[4] !== undefined ? n.raw === JSON.stringify(m[4]) : n.path[at.length] === (m[1] ?? (m[2] !== undefined ? Number(m[2]) : m[3]))));
    if (node) at = node.path;
  }
  return node && at.length > 0 ? node : undefined;
}

/** elementOf finds the first element in XML that a path ends at. */
export function elementOf(text: string, path: string): { start: number; end: number } | undefined {
  const name = path.split(/[|{]/)[0]!.trim().split("/").filter((s) => s && !s.startsWith("@") && !s.startsWith(".")).at(-1)?.replace(/\[.*$/, "").replace(/\(.*$/, "");
  if (!name || !/^[\w:.*-]+$/.test(name)) return undefined;
  const word = name.replace(/^.*:/, "").replace(/[.*+-]/g, "\\$&");
  const m = new RegExp(`<(?:[\\w-]+:)?${word}(?:\\s[^>]*)?(?:/>|>[\\s\\S]*?</(?:[\\w-]+:)?${word}>)`).exec(text);
  return m ? { start: m.index, end: m.index + m[0].length } : undefined;
}

/** visible writes the signs that turn the direction of text around as people can see them. */
export const visible = (text: string) => text.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`);
