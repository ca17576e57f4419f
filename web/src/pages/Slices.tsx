import { NotBuilt } from "../components/NotBuilt";

export default function Slices() {
  return <NotBuilt title="Slices" command="patra" />;
}
