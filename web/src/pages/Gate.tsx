import { useState } from "react";
import { TextInput } from "@mantine/core";
import { Link, useParams } from "react-router";
import { useGet } from "../api/hooks";
import { gatePath, type Gate as Row } from "../api/gates";
import type { Page } from "../api/types";
import { Async } from "../components/Async";
import { ConfirmAction } from "../components/ConfirmAction";
import { Rows } from "../components/DataList";
import { Facts } from "../components/Facts";
import { count, instant } from "../components/format";
import { quotaText, rate, remarks, waiting } from "../components/manners";
import { Meter } from "../components/Meter";
import { Empty, Note } from "../components/Notes";
import { PageHead } from "../components/PageHead";
import { Time } from "../components/Time";
import { TaskList } from "../components/work";
import { speed, useHeld } from "./Gates";

const one = (got?: Row | Row[] | Page<Row>): Row | undefined => (Array.isArray(got) ? got[0] : got && "items" in got ? got.items[0] : got);
const actions: Record<string, string> = { SET_RATE: "set the rate to", DEFAULT_RATE: "gave the rate back", COOLDOWN: "began a cooldown of", END_COOLDOWN: "ended a cooldown", FORGET: "forgot refusals" };

export default function Gate() {
  const { key = "" } = useParams();
  const got = useGet<Row | Row[] | Page<Row>>(["gates", "tasks", "batches"], gatePath(key));
  const g = one(got.data);
  const held = useHeld();
  const source = g?.shared_by?.[0]?.split("/")[0];
  return (
    <div className="stack">
      <PageHead title={key} crumbs={[["Rate & quota", "/gates"]]} actions={g ? <Set g={g} /> : null}>{g?.shared_by?.length ? <>shared by {g.shared_by.join(", ")}</> : null}</PageHead>
      <Async query={got} height={260}>
        {() => g ? (
          <>
            {remarks(g).length ? remarks(g).map((r) => <Note key={r} tone={speed(g) === 0 ? "bad" : "warn"}><p>{r}</p></Note>) : <Note state="OK"><p>As fast as is permitted: nothing slows it down.</p></Note>}
            <section className="card stack" aria-label="Allowed and used">
              <div className="columns">
                <div className="meter-cell"><span>Allowed now: <b className="num">{rate(speed(g))}</b> of {rate(g.permitted.per_second)} requests a second</span><Meter value={speed(g)} most={g.permitted.per_second} label="allowed now" tone={speed(g) === 0 ? "bad" : speed(g) < g.permitted.per_second ? "warn" : "good"} /></div>
                <div className="meter-cell"><span>Used in the last minute: <b className="num">{count(g.last_minute.requests)}</b> of {count(Math.round(g.permitted.per_second * 60))}</span><Meter value={g.last_minute.requests} most={g.permitted.per_second * 60} label="used in the last minute" /></div>
                {g.quotas?.map((q) => <div key={q.window} className="meter-cell"><span>{quotaText(q)}</span><Meter value={q.used} most={q.usable} label={`quota of the ${q.window.toLowerCase()}`} tone={q.used >= q.usable ? "bad" : q.lasts ? "good" : "warn"} /></div>)}
              </div>
              <Facts items={[
                ["Who waits", waiting(g, held)], ["At once", `${g.permitted.burst}`], ["On their way", `${g.on_the_way}${g.concurrency ? ` of ${g.concurrency}` : ""}`], ["Given out ahead", g.ahead_seconds > 0.001 ? `${g.ahead_seconds.toFixed(1)} seconds` : "nothing"],
                ["Last hour", `${count(g.last_hour.requests)} requests, ${count(g.last_hour.refused)} refused`], ["A request counts up to", g.permitted.cost && g.permitted.cost > 1 ? String(g.permitted.cost) : null], ["Comes to full speed in", g.permitted.warmup], ["Credential", g.credential],
                ["Cooldown until", g.cooldown_until ? instant(g.cooldown_until.replace(/\.\d+Z$/, "Z")) : null], ["Kept by", g.keeper === "LENT" ? "Redis" : g.keeper === "LOCAL" ? "each process for itself" : "the store"],
              ]} />
            </section>
            <section className="card flush">
              <div className="card-head"><h2>What people did</h2><Link to={`/audit?action=GATE`}>in the audit log</Link></div>
              {g.changes?.length ? <Rows label="Changes" rows={g.changes} id={(c) => c.id} columns={[{ label: "When", cell: (c) => <Time at={c.at} /> }, { label: "Who", cell: (c) => c.actor }, { label: "What", cell: (c) => `${actions[c.action] ?? c.action.toLowerCase()}${c.value ? ` ${c.value}` : ""}` }, { label: "Why", cell: (c) => c.reason ?? "–" }]} /> : <Empty title="Nobody has changed it" />}
            </section>
            {source ? <TaskList params={{ source, status: "QUEUED" }} label="Tasks that wait" head={<h2>Tasks of {source} that wait</h2>} empty={{ title: "No task waits" }} limit={20} /> : null}
          </>
        ) : <Empty title="There is no such key" command="patra gate status">These are known:</Empty>}
      </Async>
    </div>
  );
}

/** Set has what a person can do to a key. */
function Set({ g }: { g: Row }) {
  const [perSecond, setPerSecond] = useState(rate(g.permitted.per_second / 2));
  const [cooldown, setCooldown] = useState("10m");
  const path = `${gatePath(g.key)}/set`;
  const lowered = g.slower?.some((s) => s.code === "SET");
  const refused = g.slower?.some((s) => s.code === "REFUSED" || s.code === "TOLD");
  return (
    <>
      <ConfirmAction label="Lower the rate" path={path} body={{ per_second: perSecond }} reason="required" what={`${g.key} is asked at most this often, by all processes and at once. A rate can only be lowered: what the provider permits, ${rate(g.permitted.per_second)} a second, stands in its source file.`} fields={<TextInput label="Requests a second" value={perSecond} onChange={(e) => setPerSecond(e.currentTarget.value)} inputMode="decimal" />} />
      {lowered ? <ConfirmAction label="Give the rate back" path={path} body={{ per_second: "default" }} what={`${g.key} is asked as often as its source permits again.`} /> : null}
      {g.cooldown_until
        ? <ConfirmAction label="Send again" path={path} body={{ end_cooldown: true }} reason="required" what={`The cooldown of ${g.key} ends now${g.cooldown_by ? "" : ", although the provider asked for it"}.`} />
        : <ConfirmAction label="Hold back" path={path} body={{ cooldown }} reason="required" what={`Nobody sends anything to ${g.key} for this time. What is on its way is waited for.`} fields={<TextInput label="For how long" description="such as 90s, 10m or 2h" value={cooldown} onChange={(e) => setCooldown(e.currentTarget.value)} />} />}
      {refused ? <ConfirmAction label="Forget refusals" color="red" path={path} body={{ forget: true }} reason="required" what={`What ${g.key} said about its limits is forgotten, and it is asked at the full rate at once. Do so only if you know that it was a mistake of theirs.`} /> : null}
    </>
  );
}
