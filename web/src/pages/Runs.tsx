import { NotBuilt } from "../components/NotBuilt";

export default function Runs() {
  return <NotBuilt title="Runs" command="patra" />;
}
