import { createContext, use, useState, type ReactNode } from "react";
import { Button, Modal } from "@mantine/core";
import type { Said } from "../api/types";
import { Next } from "./Command";
import { plain } from "./format";
import { Note } from "./Notes";

interface Shown { title: string; said: Said; more?: ReactNode; back?: HTMLElement | null }
const Context = createContext<(s: Shown) => void>(() => {});
export const useAnswer = () => use(Context);

/** AnswerProvider shows what the server said to an action. It stands above the pages, because what was acted on often looks different at once, and its buttons are gone. */
export function AnswerProvider({ children }: { children: ReactNode }) {
  const [shown, setShown] = useState<Shown>();
  const close = () => {
    const back = shown?.back;
    setShown(undefined);
    // The dialog that was answered is gone: the keyboard goes on at the button that opened it, or at the page if that is gone too.
    setTimeout(() => (back?.isConnected ? back : document.getElementById("main"))?.focus({ preventScroll: true }));
  };
  return (
    <Context value={setShown}>
      {children}
      <Modal opened={!!shown} onClose={close} title={shown?.title} centered returnFocus={false} closeButtonProps={{ "aria-label": "Close" }} transitionProps={{ duration: 0 }}>
        {shown ? (
          <div className="stack" role="status">
            <Note state="OK"><p>{plain(shown.said.said ?? "Done.")}</p><Next text={shown.said.next} /></Note>
            {shown.more}
            <div className="row"><Button onClick={close} data-autofocus>Close</Button></div>
          </div>
        ) : null}
      </Modal>
    </Context>
  );
}
