import { NotBuilt } from "../components/NotBuilt";

export default function Errors() {
  return <NotBuilt title="Errors" command="patra healing" />;
}
