import { NotBuilt } from "../components/NotBuilt";

export default function Record() {
  return <NotBuilt title="Record" command="patra records get ID" />;
}
