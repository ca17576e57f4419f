import { NotBuilt } from "../components/NotBuilt";

export default function Tokens() {
  return <NotBuilt title="Tokens" command="patra token list" />;
}
