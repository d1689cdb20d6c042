/** The pages: how they are called, which key leads there, and what draws them. */

import type { Component } from "svelte";
import ChartPie from "@lucide/svelte/icons/chart-pie";
import Bookmark from "@lucide/svelte/icons/bookmark";
import Coins from "@lucide/svelte/icons/coins";
import HeartPulse from "@lucide/svelte/icons/heart-pulse";
import FoldVertical from "@lucide/svelte/icons/fold-vertical";
import Gauge from "@lucide/svelte/icons/gauge";
import MessagesSquare from "@lucide/svelte/icons/messages-square";
import Network from "@lucide/svelte/icons/network";
import ScrollText from "@lucide/svelte/icons/scroll-text";
import Search from "@lucide/svelte/icons/search";
import SlidersHorizontal from "@lucide/svelte/icons/sliders-horizontal";
import Terminal from "@lucide/svelte/icons/terminal";
import Overview from "../pages/Overview.svelte";

type Loaded = Promise<{ default: Component }>;

export interface Page {
  path: string;
  name: string;
  key: string;
  icon: Component<{ size?: number }>;
  /** Other first parts of an address that belong to it. */
  also?: string[];
  load: (path: string[]) => Component | Loaded;
}

export const PAGES: Page[] = [
  { path: "", name: "Overview", key: "o", icon: Gauge, load: () => Overview },
  {
    path: "sessions",
    name: "Sessions",
    key: "s",
    icon: Terminal,
    also: ["session"],
    load: (path) =>
      path[0] === "session"
        ? import("../pages/Session.svelte")
        : import("../pages/Sessions.svelte"),
  },
  {
    path: "compactions",
    name: "Compactions",
    key: "c",
    icon: FoldVertical,
    also: ["compaction"],
    load: (path) =>
      path[0] === "compaction"
        ? import("../pages/Compaction.svelte")
        : import("../pages/Compactions.svelte"),
  },
  {
    path: "checkpoints",
    name: "Checkpoints",
    key: "k",
    icon: Bookmark,
    load: () => import("../pages/Checkpoints.svelte"),
  },
  {
    path: "work",
    name: "Work",
    key: "w",
    icon: Network,
    load: () => import("../pages/Work.svelte"),
  },
  {
    path: "messages",
    name: "Messages",
    key: "m",
    icon: MessagesSquare,
    load: () => import("../pages/Messages.svelte"),
  },
  {
    path: "search",
    name: "Search",
    key: "f",
    icon: Search,
    load: () => import("../pages/Search.svelte"),
  },
  {
    path: "budget",
    name: "Budget",
    key: "b",
    icon: ChartPie,
    load: () => import("../pages/Budget.svelte"),
  },
  {
    path: "costs",
    name: "Costs",
    key: "u",
    icon: Coins,
    load: () => import("../pages/Costs.svelte"),
  },
  {
    path: "health",
    name: "Health",
    key: "h",
    icon: HeartPulse,
    load: () => import("../pages/Health.svelte"),
  },
  {
    path: "log",
    name: "Log",
    key: "l",
    icon: ScrollText,
    load: () => import("../pages/Log.svelte"),
  },
  {
    path: "settings",
    name: "Settings",
    key: ",",
    icon: SlidersHorizontal,
    load: () => import("../pages/Settings.svelte"),
  },
];

export function pageOf(first: string): Page | undefined {
  return PAGES.find((page) => page.path === first || page.also?.includes(first));
}
