import { useState } from "react";
import { Checkbox, NativeSelect, NumberInput, TextInput } from "@mantine/core";
import { useList, useMay, useSystem } from "../api/hooks";
import type { Token } from "../api/trust";
import { Command } from "../components/Command";
import { ConfirmAction } from "../components/ConfirmAction";
import { DataList, type Column } from "../components/DataList";
import { Note } from "../components/Notes";
import { PageHead } from "../components/PageHead";
import { StatusBadge } from "../components/StatusBadge";
import { Time, useNow } from "../components/Time";

export default function Tokens() {
  const system = useSystem().data;
  const may = useMay("admin") && !!system; // not before it is known who asks
  return (
    <div className="stack">
      <PageHead title="Tokens" actions={may ? <Create /> : null}>Who may call the API, and as what.</PageHead>
      {system && !system.tokens ? <Note tone="warn"><p>This server asks nobody for a token: it listens on this machine only, and whoever can reach it is an administrator.</p><p className="small dim">Tokens count when <code>api.tokens</code> of patra.yaml says so.</p></Note> : null}
      {may ? <TokenList /> : !system ? null : <Note tone="warn"><p>To see and give tokens needs the role admin; you are {system?.caller?.role ?? "not known"}.</p></Note>}
    </div>
  );
}

function TokenList() {
  const now = useNow();
  const list = useList<Token>(["audit"], "/tokens", undefined, { limit: 0 });
  const state = (t: Token) => (t.revoked_at ? "REVOKED" : Date.parse(t.expires_at) < now ? "EXPIRED" : "ACTIVE");
  const columns: Column<Token>[] = [
    { label: "Token", cell: (t) => t.id }, { label: "Whose", cell: (t) => <bdi>{t.name}</bdi> }, { label: "State", cell: (t) => <StatusBadge state={state(t)} /> }, { label: "Role", cell: (t) => <>{t.role}{t.evidence ? <span className="dim"> + evidence</span> : null}</> },
    { label: "Given", cell: (t) => <><Time at={t.created_at} /><div className="dim small">by <bdi>{t.created_by}</bdi></div></> }, { label: "Good until", cell: (t) => <Time at={t.expires_at} /> }, { label: "Last used", cell: (t) => <Time at={t.last_used_at} /> },
    { label: "Do", cell: (t) => state(t) === "ACTIVE" ? <ConfirmAction label="Revoke" color="red" role="admin" path={`/tokens/${t.id}/revoke`} body={{}} done={`The token of ${t.name} counts no more.`} what={`The token of ${t.name} stops counting at once, and so do all sessions that were begun with it.`} /> : null },
  ];
  return <DataList label="Tokens" list={list} columns={columns} id={(t) => t.id} noun="token" sort={(a, b) => Number(state(b) === "ACTIVE") - Number(state(a) === "ACTIVE") || b.id - a.id} empty={{ title: "Nobody has a token yet", text: "Give one here, or on the machine itself:", command: "patra token create NAME --role operator" }} />;
}

/** Create lets somebody in. The secret is shown once: nobody can tell it again. */
function Create() {
  const [f, setF] = useState({ name: "", role: "viewer", evidence: false, days: 90 });
  return (
    <ConfirmAction label="Give a token" variant="filled" role="admin" reason="none" path="/tokens" body={{ name: f.name.trim(), role: f.role, evidence: f.evidence, days: f.days }} done={`${f.name.trim()} has a token.`} what="Whoever has the token can call until it ends or is revoked."
      fields={<>
        <TextInput label="Whose is it?" required maxLength={100} value={f.name} onChange={(e) => setF({ ...f, name: e.currentTarget.value })} data-autofocus />
        <NativeSelect label="Role" value={f.role} onChange={(e) => setF({ ...f, role: e.currentTarget.value })} data={[{ value: "viewer", label: "viewer: looks" }, { value: "operator", label: "operator: steers work" }, { value: "admin", label: "admin: gives tokens, moves watermarks" }]} />
        <Checkbox label="may also see what providers answered (evidence)" checked={f.evidence} onChange={(e) => setF({ ...f, evidence: e.currentTarget.checked })} />
        <NumberInput label="Good for so many days" min={1} max={366} value={f.days} onChange={(v) => setF({ ...f, days: Number(v) || 90 })} />
      </>}
      onDone={() => setF({ name: "", role: "viewer", evidence: false, days: 90 })}
      result={(said) => typeof said.secret === "string" ? <div className="stack tight"><p><b>Copy it now:</b> it is shown this once, and nobody can tell it again.</p><Command text={said.secret} /></div> : null} />
  );
}
