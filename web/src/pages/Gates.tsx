import { NotBuilt } from "../components/NotBuilt";

export default function Gates() {
  return <NotBuilt title="Rate & quota" command="patra gate status" />;
}
