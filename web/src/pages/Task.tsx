import { NotBuilt } from "../components/NotBuilt";

export default function Task() {
  return <NotBuilt title="Task" command="patra" />;
}
