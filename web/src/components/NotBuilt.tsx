import { PageHead } from "./PageHead";
import { Empty } from "./Notes";

/** NotBuilt is the honest face of a page that nobody has built yet. */
export function NotBuilt({ title, command }: { title: string; command: string }) {
  return <div className="stack"><PageHead title={title} /><section className="card"><Empty title="This page is not built yet" command={command}>The command line has it already:</Empty></section></div>;
}
