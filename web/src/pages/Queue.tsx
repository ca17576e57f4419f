import { NotBuilt } from "../components/NotBuilt";

export default function Queue() {
  return <NotBuilt title="Queue" command="patra tasks" />;
}
