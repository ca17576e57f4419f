// Providers send titles with a little markup in them; of it, what changes the meaning of a formula is shown as it is meant, as
// elements of our own and never as HTML. Whatever else there is stays the text that it is.
const marked = /<(sup|sub|i|b|em)>([^<>]*)<\/\1>/;

export function Title({ text }: { text: string }) {
  const out = [];
  for (let rest = text; rest; ) {
    const m = marked.exec(rest);
    if (!m) { out.push(rest); break; }
    const Tag = m[1] as "sup" | "sub" | "i" | "b" | "em";
    out.push(rest.slice(0, m.index), <Tag key={out.length}>{m[2]}</Tag>);
    rest = rest.slice(m.index + m[0].length);
  }
  return <bdi>{out}</bdi>;
}

/** unmarked is a title without that markup, where only text can stand. */
export const unmarked = (text: string) => text.replace(/<\/?(sup|sub|i|b|em)>/g, "");
