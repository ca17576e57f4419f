import { Suspense, useEffect, useRef, useState } from "react";
import { ActionIcon, Skeleton } from "@mantine/core";
import { IconMenu2, IconX } from "@tabler/icons-react";
import { Link, NavLink, Outlet, useLocation } from "react-router";
import { calling, useAlerts, useSystem } from "./api/hooks";
import { signedOut } from "./api/client";
import { StreamProvider } from "./api/stream";
import { AnswerProvider } from "./components/Answer";
import { LiveSign } from "./components/LiveSign";
import { Search } from "./components/Search";
import { ThemeMenu } from "./components/ThemeMenu";
import { WhoAmI } from "./components/WhoAmI";
import { groups, routes } from "./routes";
import SignIn from "./pages/SignIn";

/** Shell is what stays while pages change: navigation, search, the sign of the live connection. */
export function Shell() {
  const [signIn, setSignIn] = useState(false);
  useEffect(() => {
    const out = () => setSignIn(true);
    signedOut.addEventListener("signed-out", out);
    return () => signedOut.removeEventListener("signed-out", out);
  }, []);
  return signIn ? <SignIn onDone={() => setSignIn(false)} /> : <StreamProvider><AnswerProvider><Frame /></AnswerProvider></StreamProvider>;
}

function Frame() {
  const [open, setOpen] = useState(false);
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  useEffect(() => { setOpen(false); window.scrollTo(0, 0); }, [pathname]);
  return (
    <div className="shell" onKeyDown={(e) => { if (e.key === "Escape") setOpen(false); }}>
      <header>
        <a className="skip" href="#main" onClick={(e) => { e.preventDefault(); main.current?.focus(); }}>Skip to the content</a>
        <ActionIcon className="burger" variant="subtle" size="lg" aria-label={open ? "Close the navigation" : "Open the navigation"} aria-expanded={open} aria-controls="navigation" onClick={() => setOpen(!open)}>
          {open ? <IconX size={20} /> : <IconMenu2 size={20} />}
        </ActionIcon>
        <Link to="/" className="brand" aria-label="Patra, to the overview"><img src="/icon.svg" alt="" /><span>Patra</span></Link>
        <div className="head-search"><Search /></div>
        <LiveSign />
        <ThemeMenu />
        <WhoAmI />
      </header>
      {open ? <div className="veil" onClick={() => setOpen(false)} /> : null}
      <Navigation open={open} />
      <main id="main" ref={main} tabIndex={-1}>
        <Suspense fallback={<Skeleton height={200} role="status" aria-label="Loading" />}><Outlet key={pathname} /></Suspense>
      </main>
    </div>
  );
}

const engines: Record<string, string> = { sqlite: "SQLite", mariadb: "MariaDB", mysql: "MySQL", tidb: "TiDB" };

function Navigation({ open }: { open: boolean }) {
  const system = useSystem().data;
  const needed = (useAlerts().data?.items ?? []).filter(calling).length;
  return (
    <nav id="navigation" aria-label="Main" data-open={open}>
      {groups.map((g) => (
        <div key={g}>
          {g ? <div className="nav-group" id={`nav-${g}`}>{g}</div> : null}
          <ul className="nav-list" aria-labelledby={g ? `nav-${g}` : undefined}>
            {routes.filter((r) => r.nav?.group === g).map(({ path, nav }) => {
              const Icon = nav!.icon;
              return (
                <li key={path}>
                  <NavLink to={path} end={path === "/"} className="nav-link">
                    <Icon size={17} stroke={1.7} aria-hidden />{nav!.label}
                    {path === "/alerts" && needed > 0 ? <span className="nav-count">{needed}<span className="visually-hidden"> waiting</span></span> : null}
                  </NavLink>
                </li>
              );
            })}
          </ul>
        </div>
      ))}
      {system ? <p className="foot">Patra {system.version}{system.engine ? <> on {engines[system.engine] ?? system.engine}</> : null}<br />All times are UTC.</p> : null}
    </nav>
  );
}
