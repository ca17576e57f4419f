import { NotBuilt } from "../components/NotBuilt";

export default function Sources() {
  return <NotBuilt title="Sources" command="patra source list" />;
}
