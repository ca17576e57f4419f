import { NotBuilt } from "../components/NotBuilt";

export default function Overview() {
  return <NotBuilt title="Overview" command="patra" />;
}
