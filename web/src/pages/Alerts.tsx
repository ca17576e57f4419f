import { NotBuilt } from "../components/NotBuilt";

export default function Alerts() {
  return <NotBuilt title="Alerts" command="patra doctor" />;
}
