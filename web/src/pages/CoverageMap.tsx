import { NotBuilt } from "../components/NotBuilt";

export default function CoverageMap() {
  return <NotBuilt title="CoverageMap" command="patra" />;
}
