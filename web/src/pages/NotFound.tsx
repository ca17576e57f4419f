import { Link } from "react-router";
import { PageHead } from "../components/PageHead";

export default function NotFound() {
  return <div className="stack"><PageHead title="Nothing is here" /><p>This page does not exist. <Link to="/">Back to the overview</Link></p></div>;
}
