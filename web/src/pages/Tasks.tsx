import { NotBuilt } from "../components/NotBuilt";

export default function Tasks() {
  return <NotBuilt title="Tasks" command="patra" />;
}
