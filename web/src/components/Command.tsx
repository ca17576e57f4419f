import { ActionIcon } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { IconCheck, IconCopy } from "@tabler/icons-react";

/** Command is something to type, with a button that copies it. */
export function Command({ text }: { text: string }) {
  const clip = useClipboard({ timeout: 1500 });
  return (
    <span className="command">
      <code tabIndex={0}>{text}</code>
      <ActionIcon variant="subtle" size="sm" aria-label={clip.copied ? "Copied" : `Copy: ${text}`} onClick={() => clip.copy(text)}>
        {clip.copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
      </ActionIcon>
    </span>
  );
}

/** Next shows a next step: commands to copy, with the words that the server says about them, or a sentence. */
export function Next({ text }: { text?: string }) {
  if (!text) return null;
  const steps = text.split("; ");
  if (steps.length > 1) return <>{steps.map((s, i) => <Next key={i} text={s} />)}</>;
  const after = /^(.*?),? then (patra [^;,]+)$/.exec(text);
  if (after) return <span className="row"><Next text={after[1]} /><span className="dim small">then</span><Command text={after[2]!} /></span>;
  const sometimes = /^(patra [^;,]+), (if [^;,]+)$/.exec(text);
  if (sometimes) return <span className="row"><span className="dim small">next</span><Command text={sometimes[1]!} /><span className="dim small">{sometimes[2]}</span></span>;
  const ways = text.split(", or ").map((w) => /^((?:patra|make) .+?)( (?:works|shows|tells|lets|goes) .+)?$/.exec(w));
  if (!ways.every((w) => w && !/[;,]/.test(w[0]))) return <p className="small">{/^(patra|make) /.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1)}</p>;
  return <span className="row"><span className="dim small">next</span>{ways.map((w, i) => <span key={i} className="row">{i ? <span className="dim small">or</span> : null}<Command text={w![1]!} />{w![2] ? <span className="dim small">{w![2]}</span> : null}</span>)}</span>;
}
