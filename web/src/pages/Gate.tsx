import { NotBuilt } from "../components/NotBuilt";

export default function Gate() {
  return <NotBuilt title="Gate" command="patra gate status" />;
}
