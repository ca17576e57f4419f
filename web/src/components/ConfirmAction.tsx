import { useRef, useState, type FormEvent, type ReactNode } from "react";
import { Button, Modal, Textarea, type ButtonProps } from "@mantine/core";
import { useAct, useMay } from "../api/hooks";
import type { Said } from "../api/types";
import { useAnswer } from "./Answer";
import { ErrorNote } from "./Notes";

interface Props extends Pick<ButtonProps, "variant" | "size" | "color" | "leftSection"> {
  label: string;                       // on the button, and again on the button that does it
  what: ReactNode;                     // what will happen, as a sentence
  path: string;                        // where it is sent
  body: Record<string, unknown>;       // what is sent; the reason is added
  reason?: "required" | "optional" | "none";
  role?: "operator" | "admin";
  method?: "POST" | "DELETE";
  fields?: ReactNode;                  // inputs that the caller keeps the state of
  onDone?: (said: Said) => void;
  result?: (said: Said) => ReactNode;  // more of the answer than its sentence
  done?: string;                       // the sentence, where the server says none
}

/** ConfirmAction is the one way to change something: it says what will happen, asks why, and shows what the server said. */
export function ConfirmAction({ label, what, path, body, reason = "optional", role = "operator", method, fields, onDone, result, done, variant = "default", size = "compact-sm", color, leftSection }: Props) {
  const [open, setOpen] = useState(false);
  const [why, setWhy] = useState("");
  const act = useAct(path, method);
  const may = useMay(role);
  const close = () => { setOpen(false); act.reset(); setWhy(""); };
  const answer = useAnswer();
  const button = useRef<HTMLButtonElement>(null);
  const submit = (e: FormEvent) => {
    e.preventDefault();
    e.stopPropagation(); // a dialog can stand within another form
    act.mutateAsync({ ...body, ...(why.trim() ? { reason: why.trim() } : {}) }).then((said) => {
      close();
      answer({ title: label, said: said.said ? said : { ...said, said: done }, more: result?.(said), back: button.current });
      onDone?.(said);
    }, () => { /* the dialog shows the error */ });
  };
  return (
    <>
      <Button ref={button} variant={variant} size={size} color={color} leftSection={leftSection} disabled={!may} title={may ? undefined : `needs the role ${role}`} onClick={() => setOpen(true)}>{label}</Button>
      <Modal opened={open} onClose={close} title={label} centered transitionProps={{ duration: 0 }} closeButtonProps={{ "aria-label": "Close" }}>
        {open ? (
          <form onSubmit={submit} className="stack">
            <div>{what}</div>
            {fields}
            {reason === "none" ? null : <Textarea label="Reason" description="Kept in the audit log with your name." required={reason === "required"} value={why} onChange={(e) => setWhy(e.currentTarget.value)} autosize minRows={2} data-autofocus />}
            {act.error ? <ErrorNote error={act.error} /> : null}
            <div className="row"><Button type="submit" color={color} loading={act.isPending} disabled={reason === "required" && !why.trim()}>{label}</Button><Button variant="subtle" onClick={close}>Leave it</Button></div>
          </form>
        ) : null}
      </Modal>
    </>
  );
}
