import { NotBuilt } from "../components/NotBuilt";

export default function Run() {
  return <NotBuilt title="Run" command="patra" />;
}
