import { NotBuilt } from "../components/NotBuilt";

export default function Source() {
  return <NotBuilt title="Source" command="patra source show CODE" />;
}
