import { NotBuilt } from "../components/NotBuilt";

export default function Slice() {
  return <NotBuilt title="Slice" command="patra" />;
}
