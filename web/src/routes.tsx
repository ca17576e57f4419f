import { lazy, type ComponentType } from "react";
import {
  IconAlertTriangle, IconBell, IconBook2, IconBox, IconBroadcast, IconCalendarStats, IconClipboardList, IconClock, IconDatabase, IconFileSearch, IconGauge, IconHistory, IconKey, IconLayoutDashboard,
  IconListCheck, IconRoute, IconStack2, IconTimeline, type Icon,
} from "@tabler/icons-react";

export interface Route { path: string; page: ComponentType; nav?: { group: string; label: string; icon: Icon } }

/** groups of the navigation, in order */
export const groups = ["", "Work", "Providers", "Data", "Trust"] as const;

/** routes is every page of the dashboard. A page is one file below pages; what it may need is loaded with it. */
export const routes: Route[] = [
  { path: "/", page: lazy(() => import("./pages/Overview")), nav: { group: "", label: "Overview", icon: IconLayoutDashboard } },
  { path: "/alerts", page: lazy(() => import("./pages/Alerts")), nav: { group: "", label: "Alerts", icon: IconBell } },
  { path: "/coverage", page: lazy(() => import("./pages/CoverageMap")), nav: { group: "", label: "Coverage", icon: IconCalendarStats } },

  { path: "/plans", page: lazy(() => import("./pages/Plans")), nav: { group: "Work", label: "Plans", icon: IconRoute } },
  { path: "/plans/:id", page: lazy(() => import("./pages/Plan")) },
  { path: "/slices", page: lazy(() => import("./pages/Slices")) },
  { path: "/slices/:id", page: lazy(() => import("./pages/Slice")) },
  { path: "/tasks", page: lazy(() => import("./pages/Tasks")), nav: { group: "Work", label: "Tasks", icon: IconListCheck } },
  { path: "/tasks/:id", page: lazy(() => import("./pages/Task")) },
  { path: "/runs", page: lazy(() => import("./pages/Runs")) },
  { path: "/runs/:id", page: lazy(() => import("./pages/Run")) },
  { path: "/batches", page: lazy(() => import("./pages/Batches")), nav: { group: "Work", label: "Pages read", icon: IconBook2 } },
  { path: "/batches/:id", page: lazy(() => import("./pages/Batch")) },
  { path: "/queue", page: lazy(() => import("./pages/Queue")), nav: { group: "Work", label: "Queue", icon: IconStack2 } },
  { path: "/cursors", page: lazy(() => import("./pages/Cursors")), nav: { group: "Work", label: "Cursors", icon: IconTimeline } },
  { path: "/cursors/:id", page: lazy(() => import("./pages/Cursor")) },
  { path: "/schedules", page: lazy(() => import("./pages/Schedules")), nav: { group: "Work", label: "Schedules", icon: IconClock } },

  { path: "/sources", page: lazy(() => import("./pages/Sources")), nav: { group: "Providers", label: "Sources", icon: IconDatabase } },
  { path: "/sources/:code", page: lazy(() => import("./pages/Source")) },
  { path: "/gates", page: lazy(() => import("./pages/Gates")), nav: { group: "Providers", label: "Rate & quota", icon: IconGauge } },
  { path: "/gates/:key", page: lazy(() => import("./pages/Gate")) },
  { path: "/errors", page: lazy(() => import("./pages/Errors")), nav: { group: "Providers", label: "Errors", icon: IconAlertTriangle } },

  { path: "/records", page: lazy(() => import("./pages/Records")), nav: { group: "Data", label: "Records", icon: IconFileSearch } },
  { path: "/records/:source/:type/:id", page: lazy(() => import("./pages/Record")) },
  { path: "/quarantine", page: lazy(() => import("./pages/Quarantine")), nav: { group: "Data", label: "Quarantine", icon: IconBox } },
  { path: "/quarantine/:id", page: lazy(() => import("./pages/QuarantineItem")) },
  { path: "/events", page: lazy(() => import("./pages/Events")), nav: { group: "Data", label: "Events", icon: IconBroadcast } },

  { path: "/replay", page: lazy(() => import("./pages/Replay")), nav: { group: "Trust", label: "Black box", icon: IconHistory } },
  { path: "/audit", page: lazy(() => import("./pages/Audit")), nav: { group: "Trust", label: "Audit", icon: IconClipboardList } },
  { path: "/tokens", page: lazy(() => import("./pages/Tokens")), nav: { group: "Trust", label: "Tokens", icon: IconKey } },
  { path: "*", page: lazy(() => import("./pages/NotFound")) },
];
