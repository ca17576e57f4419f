// Comparing two values field by field, for people: what was, and what is.

export interface Change { path: string; was?: unknown; is?: unknown }

const isTree = (v: unknown): v is Record<string, unknown> => typeof v === "object" && v !== null && !Array.isArray(v);

/** compare names every field that differs. Lists are compared as a whole: which member became which is a guess. */
export function compare(was: unknown, is: unknown, path = ""): Change[] {
  if (isTree(was) && isTree(is)) {
    return [...new Set([...Object.keys(was), ...Object.keys(is)])].sort().flatMap((k) => compare(was[k], is[k], path ? `${path}.${k}` : k));
  }
  return JSON.stringify(was) === JSON.stringify(is) ? [] : [{ path, was, is }];
}

/** plain writes a value for reading: a text as it is, everything else as JSON. */
export const plain = (v: unknown): string => (v === undefined ? "" : typeof v === "string" ? v : JSON.stringify(v, null, Array.isArray(v) && v.every((x) => typeof x !== "object") ? 0 : 2));

/** pretty indents JSON; anything else is shown as it came. */
export function pretty(text: string): string {
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
}

export interface Part { text: string; changed: boolean }

/** differ cuts two texts into what they share at both ends and what is between: enough to see one changed word in a long title. */
export function differ(was: string, is: string): [Part[], Part[]] {
  let a = 0, z = 0;
  const most = Math.min(was.length, is.length);
  while (a < most && was[a] === is[a]) a++;
  while (z < most - a && was[was.length - 1 - z] === is[is.length - 1 - z]) z++;
  if (a + z < 3) return [[{ text: was, changed: true }], [{ text: is, changed: true }]];
  const cut = (t: string): Part[] => [{ text: t.slice(0, a), changed: false }, { text: t.slice(a, t.length - z), changed: true }, { text: t.slice(t.length - z), changed: false }].filter((p) => p.text);
  return [cut(was), cut(is)];
}

/** itemOf finds the item with an id in a page of JSON: the smallest object that names it. Undefined: there is none. */
export function itemOf(page: unknown, id: string): unknown {
  const wanted = id.toLowerCase();
  const names = (v: unknown) => (typeof v === "string" || typeof v === "number") && String(v).toLowerCase() === wanted;
  if (Array.isArray(page)) {
    for (const v of page) { const found = itemOf(v, id); if (found !== undefined) return found; }
    return undefined;
  }
  if (!isTree(page)) return undefined;
  if (Object.values(page).some(names)) return page;
  for (const v of Object.values(page)) { const found = itemOf(v, id); if (found !== undefined) return found; }
  return undefined;
}
