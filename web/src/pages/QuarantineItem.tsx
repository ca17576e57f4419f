import { NotBuilt } from "../components/NotBuilt";

export default function QuarantineItem() {
  return <NotBuilt title="Quarantined item" command="patra quarantine show ID" />;
}
