import { NotBuilt } from "../components/NotBuilt";

export default function Plans() {
  return <NotBuilt title="Plans" command="patra" />;
}
