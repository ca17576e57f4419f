import { NotBuilt } from "../components/NotBuilt";

export default function Quarantine() {
  return <NotBuilt title="Quarantine" command="patra quarantine list" />;
}
