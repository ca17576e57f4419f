import { NotBuilt } from "../components/NotBuilt";

export default function Cursors() {
  return <NotBuilt title="Cursors" command="patra" />;
}
