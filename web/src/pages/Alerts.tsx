import { useState } from "react";
import { Button, Select } from "@mantine/core";
import { Link } from "react-router";
import { useGet, useList } from "../api/hooks";
import type { Alert, AlertReceiver, Alerts as Data, Page } from "../api/types";
import { AlertRow } from "../components/AlertRow";
import { Async } from "../components/Async";
import { ConfirmAction } from "../components/ConfirmAction";
import { plain } from "../components/format";
import { Note } from "../components/Notes";
import { PageHead } from "../components/PageHead";
import { StatusBadge } from "../components/StatusBadge";
import { Time } from "../components/Time";

export default function Alerts() {
  const got = useGet<Data>(["tasks", "controls", "cursors", "gates", "quarantine", "events", "audit"], "/alerts");
  return (
    <div className="stack">
      <PageHead title="Alerts">What needs a person now. Whatever heals by itself is not here.</PageHead>
      <Async query={got}>
        {(d) => (
          <>
            {d.watched ? null : <Note state="WARNING"><p>{plain(d.said)}</p></Note>}
            {d.items.length === 0 ? <Note state="OK"><p>No alert: nothing stands still, and nothing has failed for good. What nobody has read yet is on the <Link to="/coverage">map</Link>.</p></Note> : null}
            {d.items.map((a) => (
              <section key={a.kind + a.target} className="card" aria-label={`${a.kind.toLowerCase()} ${a.target}`}>
                <div className="row between"><div className="grow"><AlertRow alert={a} /><Told alert={a} /></div><div className="row"><Remedy alert={a} /><Acknowledge alert={a} /></div></div>
              </section>
            ))}
          </>
        )}
      </Async>
      <Receivers />
      <History />
    </div>
  );
}

/** Told is who was told of an alert, and who has seen it. */
function Told({ alert: a }: { alert: Alert }) {
  const sent = [...new Set((a.notices ?? []).filter((n) => n.state === "SENT").map((n) => n.receiver))];
  const waiting = (a.notices ?? []).filter((n) => n.state === "WAITING" && n.last_error);
  if (!a.ack && sent.length === 0 && waiting.length === 0) return null;
  return (
    <p className="dim small">
      {a.ack ? <>Acknowledged by {plain(a.ack.by)} <Time at={a.ack.at} />{a.ack.until ? <>, until <Time at={a.ack.until} /></> : null}{a.ack.reason ? <>: {plain(a.ack.reason)}</> : null}. </> : null}
      {sent.length > 0 ? <>Told: {sent.join(", ")}. </> : null}
      {waiting.map((n) => <span key={n.receiver}>{n.receiver} is not reached: {plain(n.last_error ?? "")}. </span>)}
    </p>
  );
}

/** Acknowledge says that somebody sees to an alert. One that nobody remembers has no number, and cannot be acknowledged. */
function Acknowledge({ alert: a }: { alert: Alert }) {
  const [lasts, setLasts] = useState<string | null>("");
  if (!a.id || a.state !== "FIRING") return null;
  const fields = <Select label="For" value={lasts} onChange={setLasts} allowDeselect={false} data={[{ value: "", label: "until it is over" }, { value: "1h", label: "an hour" }, { value: "4h", label: "4 hours" }, { value: "24h", label: "a day" }]} />;
  return <ConfirmAction label="Acknowledge" path={`/alerts/${a.id}/ack`} body={lasts ? { for: lasts } : {}} reason="required" fields={fields} what={`Nobody is told of this again. Whoever was told is told when it is over.`} />;
}

/** Remedy is the one action that an alert asks for, where there is one. */
function Remedy({ alert: a }: { alert: Alert }) {
  if (a.kind === "FAILED" && a.link?.source) return <ConfirmAction label="Retry" path="/controls/retry" body={{ target: a.link.source }} what={`Failed and cancelled tasks of ${a.link.source} are put into the queue again, with all their attempts.`} />;
  if (["HALTED", "BREAKER", "QUOTA"].includes(a.kind) && a.next?.includes("patra resume")) return <ConfirmAction label="Resume" path="/controls/resume" body={{ target: a.target }} what={`${a.target} goes on. Mend first what stopped it, or it stops again.`} />;
  return null;
}

/** Receivers are those who are told, if one of them is not reached. */
function Receivers() {
  const got = useGet<Page<AlertReceiver>>(["events"], "/alerts/receivers");
  const away = (got.data?.items ?? []).filter((r) => r.failures > 0);
  return <>{away.map((r) => <Note key={r.name} state="WARNING"><p>{r.waiting} notices do not reach {plain(r.name)}: {plain(r.last_error ?? "")}</p></Note>)}</>;
}

/** History is what is over. */
function History() {
  const list = useList<Alert>(["events", "audit"], "/alerts/history", {}, { limit: 20 });
  const past = list.data ?? [];
  if (past.length === 0) return null;
  return (
    <section className="card" aria-label="history">
      <div className="card-head"><h2>Over</h2></div>
      <table className="list"><caption className="visually-hidden">alerts that are over</caption>
        <thead><tr><th scope="col">Kind</th><th scope="col">Target</th><th scope="col">Fired</th><th scope="col">Over</th><th scope="col">What</th></tr></thead>
        <tbody>{past.map((a) => <tr key={a.id}><td><StatusBadge state={a.severity} /> {a.kind}</td><td>{plain(a.target)}</td><td><Time at={a.fired_at} /></td><td><Time at={a.resolved_at} /></td><td>{plain(a.said)}</td></tr>)}</tbody>
      </table>
      {list.hasNextPage ? <Button variant="subtle" size="compact-sm" onClick={() => void list.fetchNextPage()}>More</Button> : null}
    </section>
  );
}
