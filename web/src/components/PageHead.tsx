import { useEffect, type ReactNode } from "react";
import { Link } from "react-router";

export type Crumb = readonly [label: string, to: string];

/** Crumbs leads back along plan › slice › task › run › batch. */
export function Crumbs({ items }: { items: readonly Crumb[] }) {
  return <nav aria-label="Breadcrumbs"><ol className="crumbs">{items.map(([label, to]) => <li key={to}><Link to={to}>{label}</Link></li>)}</ol></nav>;
}

/** PageHead is the top of a page: where it is, what it is called, how it stands, and what can be done. */
export function PageHead({ title, shown, crumbs, badge, children, actions }: { title: string; shown?: ReactNode; crumbs?: readonly Crumb[]; badge?: ReactNode; children?: ReactNode; actions?: ReactNode }) {
  useEffect(() => { document.title = `${title} · Patra`; }, [title]);
  return (
    <div>
      {crumbs?.length ? <Crumbs items={crumbs} /> : null}
      <div className="page-head">
        <div className="grow"><div className="row"><h1>{shown ?? title}</h1>{badge}</div>{children ? <div className="dim">{children}</div> : null}</div>
        {actions ? <div className="row">{actions}</div> : null}
      </div>
    </div>
  );
}
