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

/** Next shows a next step: a command to copy, or a sentence. */
export function Next({ text }: { text?: string }) {
  if (!text) return null;
  const ways = text.split(", or ");
  return ways.every((w) => /^(patra|make) /.test(w))
    ? <span className="row"><span className="dim small">next</span>{ways.map((w, i) => <span key={w} className="row">{i ? <span className="dim small">or</span> : null}<Command text={w} /></span>)}</span>
    : <p className="small">{text}</p>;
}
