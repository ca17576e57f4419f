import { NotBuilt } from "../components/NotBuilt";

export default function Plan() {
  return <NotBuilt title="Plan" command="patra" />;
}
