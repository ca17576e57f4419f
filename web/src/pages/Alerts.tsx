import { Link } from "react-router";
import { useGet } from "../api/hooks";
import type { Alert, Page } from "../api/types";
import { AlertRow } from "../components/AlertRow";
import { Async } from "../components/Async";
import { ConfirmAction } from "../components/ConfirmAction";
import { Note } from "../components/Notes";
import { PageHead } from "../components/PageHead";

const grave = ["CRITICAL", "WARNING", "NOTICE"];

export default function Alerts() {
  const got = useGet<Page<Alert> | Alert[]>(["tasks", "controls", "cursors", "gates", "quarantine", "events"], "/alerts");
  return (
    <div className="stack">
      <PageHead title="Alerts">What needs a person now. Whatever heals by itself is not here.</PageHead>
      <Async query={got}>
        {(d) => {
          const all = [...(Array.isArray(d) ? d : d.items)].sort((a, b) => grave.indexOf(a.severity) - grave.indexOf(b.severity));
          if (all.length === 0) return <Note state="OK"><p>No alert: nothing stands still, and nothing has failed for good. What nobody has read yet is on the <Link to="/coverage">map</Link>.</p></Note>;
          return <>{all.map((a) => <section key={a.kind + a.target} className="card" aria-label={`${a.kind.toLowerCase()} ${a.target}`}><div className="row between"><div className="grow"><AlertRow alert={a} /></div><Remedy alert={a} /></div></section>)}</>;
        }}
      </Async>
    </div>
  );
}

/** Remedy is the one action that an alert asks for, where there is one. */
function Remedy({ alert: a }: { alert: Alert }) {
  if (a.kind === "FAILED" && a.link?.source) return <ConfirmAction label="Retry" path="/controls/retry" body={{ target: a.link.source }} what={`Failed and cancelled tasks of ${a.link.source} are put into the queue again, with all their attempts.`} />;
  if (["HALTED", "BREAKER", "QUOTA"].includes(a.kind)) return <ConfirmAction label="Resume" path="/controls/resume" body={{ target: a.target }} what={`${a.target} goes on. Mend first what stopped it, or it stops again.`} />;
  return null;
}
