import { NotBuilt } from "../components/NotBuilt";

export default function Replay() {
  return <NotBuilt title="Black box" command="patra replay RUN" />;
}
