import { NotBuilt } from "../components/NotBuilt";

export default function Cursor() {
  return <NotBuilt title="Cursor" command="patra" />;
}
