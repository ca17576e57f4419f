import { NotBuilt } from "../components/NotBuilt";

export default function Records() {
  return <NotBuilt title="Records" command="patra records query" />;
}
