/** The pages: how they are called, which key leads there, and what draws them. */

import type { Component } from "svelte";
import Gauge from "@lucide/svelte/icons/gauge";
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
];

export function pageOf(first: string): Page | undefined {
  return PAGES.find((page) => page.path === first || page.also?.includes(first));
}
