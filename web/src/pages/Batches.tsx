import { NotBuilt } from "../components/NotBuilt";

export default function Batches() {
  return <NotBuilt title="Batches" command="patra" />;
}
