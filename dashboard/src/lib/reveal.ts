/** Where there is no room beside a list, the details of what is chosen stand below it. */

import { tick } from "svelte";

/** Scroll to the details after a click on a row, unless they stand beside it. */
export async function reveal(row: EventTarget | null, selector: string): Promise<void> {
  await tick();
  const detail = document.querySelector(selector);
  if (!(row instanceof Element) || !detail) return;
  const isBeside = detail.getBoundingClientRect().left >= row.getBoundingClientRect().right;
  if (!isBeside) detail.scrollIntoView({ block: "start" });
}

/** The way back to the row. */
export function backToRow(): void {
  const row = document.querySelector<HTMLElement>("[data-row][aria-selected=true]");
  row?.scrollIntoView({ block: "center" });
  row?.focus({ preventScroll: true });
}
