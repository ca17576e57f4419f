import { NotBuilt } from "../components/NotBuilt";

export default function Audit() {
  return <NotBuilt title="Audit" command="patra audit list" />;
}
