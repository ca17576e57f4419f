import { isRouteErrorResponse, Link, useRouteError } from "react-router";
import { ErrorNote } from "./Notes";

/** PageError stands in for a page that broke: the rest of the dashboard goes on. */
export function PageError() {
  const e = useRouteError();
  if (isRouteErrorResponse(e) && e.status === 404) return <div className="stack"><h1>Nothing is here</h1><p>This page does not exist. <Link to="/">Back to the overview</Link></p></div>;
  const stale = e instanceof TypeError && /import|module/i.test(e.message); // a page of the last version is asked for
  return (
    <div className="stack">
      <h1>This page broke</h1>
      {stale ? <p>The server has another version of the dashboard than this page.</p> : <ErrorNote error={e} />}
      <p><Link reloadDocument to={location.pathname + location.search}>Load it again</Link> or go <Link to="/">back to the overview</Link>.</p>
    </div>
  );
}
