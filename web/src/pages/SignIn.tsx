import { useState, type FormEvent } from "react";
import { Button, PasswordInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { send } from "../api/client";
import { Command } from "../components/Command";
import { ErrorNote } from "../components/Notes";

/** SignIn changes a token for a cookie that scripts cannot read; the token itself is kept nowhere. */
export default function SignIn({ onDone }: { onDone: () => void }) {
  const client = useQueryClient();
  const [token, setToken] = useState("");
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true); setError(undefined);
    try {
      await send("POST", "/session", { token: token.trim() });
      client.clear();
      onDone();
    } catch (e) { setError(e); } finally { setBusy(false); }
  };
  return (
    <main className="signin">
      <form className="card stack" onSubmit={(e) => void submit(e)}>
        <div className="brand"><img src="/icon.svg" alt="" /><span>Patra</span></div>
        <h1>Sign in</h1>
        <PasswordInput label="Token" withAsterisk={false} name="token" autoComplete="current-password" required value={token} onChange={(e) => setToken(e.currentTarget.value)} data-autofocus autoFocus />
        {error ? <ErrorNote error={error} /> : null}
        <Button type="submit" loading={busy} disabled={!token.trim()}>Sign in</Button>
        <p className="small dim">No token? Whoever runs the server makes one:</p>
        <Command text="patra token create NAME --role operator" />
      </form>
    </main>
  );
}
