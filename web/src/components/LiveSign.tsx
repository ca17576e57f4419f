import { useStream } from "../api/stream";
import { count } from "./format";

const words = { connecting: "connecting", live: "live", reconnecting: "reconnecting" };

/** LiveSign says whether what is on the page follows the server. */
export function LiveSign() {
  const { link, pulse } = useStream();
  const more = link === "live" ? "The page follows the server." : "What you see may be old; it is refreshed as soon as the server answers.";
  return <span className="live" data-link={link} title={more} role="status"><span className="dot" aria-hidden /><span className="words">{words[link]}{link === "live" && pulse?.running ? `, ${count(pulse.running)} running` : ""}</span></span>;
}
