import { useState } from "react";
import { NativeSelect } from "@mantine/core";
import { Link } from "react-router";
import { useAlerts, useGet, useList } from "../api/hooks";
import type { Alert, AlertReceiver, Page } from "../api/types";
import { AlertRow, placeOfAlert } from "../components/AlertRow";
import { Async } from "../components/Async";
import { ConfirmAction } from "../components/ConfirmAction";
import { DataList, type Column } from "../components/DataList";
import { plain, plural, took } from "../components/format";
import { Note } from "../components/Notes";
import { PageHead } from "../components/PageHead";
import { StatusBadge } from "../components/StatusBadge";
import { Time } from "../components/Time";

export default function Alerts() {
  const got = useAlerts({ refetchInterval: 30_000 }); // what is pending, and who was told, no pulse names
  return (
    <div className="stack">
      <PageHead title="Alerts">What needs a person now. Whatever heals by itself is not here.</PageHead>
      <Async query={got}>
        {(d) => (
          <>
            {d.watched ? null : <Note state="WARNING"><p>{plain(d.said)}</p></Note>}
            {d.watched && d.items.length > 0 ? <p className="dim small">{plain(d.said)}</p> : null}
            {d.items.length === 0 ? <Note state="OK"><p>No alert: nothing stands still, and nothing has failed for good. What nobody has read yet is on the <Link to="/coverage">map</Link>.</p></Note> : null}
            {d.items.map((a) => (
              <section key={a.kind + a.target} className="card stack tight" aria-label={`${a.kind.toLowerCase()} ${a.target}`}>
                <AlertRow alert={a} />
                <Told alert={a} />
                <div className="row"><Remedy alert={a} /><Acknowledge alert={a} /></div>
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
  if (!a.id) return null; // nobody remembers it
  return (
    <p className="dim small">
      {a.ack ? <>Acknowledged by <bdi>{a.ack.by}</bdi> <Time at={a.ack.at} />{a.ack.until ? <>, until <Time at={a.ack.until} /></> : null}{a.ack.reason ? <>: <q><bdi>{a.ack.reason}</bdi></q></> : null}. </> : null}
      {sent.length > 0 ? <>Told: {sent.join(", ")}. </> : a.state === "PENDING" ? "Nobody is told before it has lasted. " : a.ack || waiting.length > 0 ? null : "Nobody was told yet: no receiver is for it, or its notice is on its way. "}
      {waiting.map((n) => <span key={n.receiver + n.kind}>{n.receiver} is not reached: <bdi>{plain(n.last_error ?? "")}</bdi> </span>)}
    </p>
  );
}

/** Acknowledge says that somebody sees to an alert. One that nobody remembers has no number, and cannot be acknowledged. */
function Acknowledge({ alert: a }: { alert: Alert }) {
  const [lasts, setLasts] = useState("");
  if (!a.id || a.state !== "FIRING") return null;
  const fields = <NativeSelect label="For" value={lasts} onChange={(e) => setLasts(e.currentTarget.value)} data={[{ value: "", label: "until it is over" }, { value: "1h", label: "an hour" }, { value: "4h", label: "4 hours" }, { value: "24h", label: "a day" }]} />;
  return <ConfirmAction label={a.silenced ? "Acknowledge again" : "Acknowledge"} path={`/alerts/${a.id}/ack`} body={lasts ? { for: lasts } : {}} reason="required" fields={fields} what={<div className="stack tight"><p>{plain(a.said)}</p><p className="dim">It stays on this page, but calls nobody: no first notice, no repeats. Whoever was told is told when it is over.</p></div>} />;
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
  return <>{away.map((r) => <Note key={r.name} state="WARNING"><p>{plural(r.waiting, "notice")} {r.waiting === 1 ? "does" : "do"} not reach {r.name}: <bdi>{plain(r.last_error ?? "")}</bdi> The next attempt is made by itself.</p></Note>)}</>;
}

const past: Column<Alert>[] = [
  { label: "Kind", cell: (a) => <><b>{a.kind.toLowerCase()}</b><div><StatusBadge state={a.severity} /></div></>, nowrap: true },
  { label: "About", cell: (a) => { const to = placeOfAlert(a); return to ? <Link to={to}>{a.target}</Link> : a.target; } },
  { label: "What", cell: (a) => <div className="clamp" title={plain(a.said)}><bdi>{plain(a.said)}</bdi></div> },
  { label: "Fired", cell: (a) => <Time at={a.fired_at} /> },
  { label: "Over", cell: (a) => <Time at={a.resolved_at} /> },
  { label: "Lasted", cell: (a) => took(a.fired_at, a.resolved_at), nowrap: true },
  { label: "Acknowledged", cell: (a) => a.ack ? <><bdi>{a.ack.by}</bdi>{a.ack.reason ? <div className="dim small clamp"><bdi>{a.ack.reason}</bdi></div> : null}</> : <span className="dim">by nobody</span> },
];

/** History is what is over. */
function History() {
  const list = useList<Alert>(["events", "audit"], "/alerts/history", {}, { limit: 20 });
  return <DataList label="History" list={list} columns={past} id={(a) => a.id ?? a.kind + a.target} noun="alert" head={<h2>Over</h2>} empty={{ title: "No alert has ended yet", text: "What is over is kept here for 90 days, or as long as patra.yaml says." }} />;
}
