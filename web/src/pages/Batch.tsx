import { NotBuilt } from "../components/NotBuilt";

export default function Batch() {
  return <NotBuilt title="Batch" command="patra" />;
}
