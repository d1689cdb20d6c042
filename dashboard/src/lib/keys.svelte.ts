/** The keys of the page that is shown, and those of every page. */

export interface Key {
  /** As `KeyboardEvent.key` has it; several with spaces between them. */
  key: string;
  label: string;
  run: (event: KeyboardEvent) => void;
  /** Not at the foot of the page, only in the list of all keys. */
  quiet?: boolean;
}

const LETTERS = "holdfast.letters";
const SIGNS: Record<string, string> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  " ": "Space",
  Escape: "Esc",
};

class Keys {
  page = $state.raw<Key[]>([]);
  /** Single letters may be turned off, for those who dictate. */
  letters = $state(localStorage.getItem(LETTERS) !== "off");

  setLetters(on: boolean): void {
    this.letters = on;
    localStorage.setItem(LETTERS, on ? "on" : "off");
  }
}

export const keys = new Keys();

/** Call it while a page is set up: these keys hold for as long as the page is shown. */
export function pageKeys(list: () => Key[]): void {
  $effect(() => {
    keys.page = list();
    return () => {
      keys.page = [];
    };
  });
}

export function signs(key: string): string[] {
  return key
    .split(" ")
    .map((one) =>
      one === "Space" ? "Space" : (SIGNS[one] ?? (one.length === 1 ? one.toUpperCase() : one)),
    );
}

export function matches(key: string, pressed: string): boolean {
  return key.split(" ").includes(pressed === " " ? "Space" : pressed);
}

export function isTyping(event: Event): boolean {
  const target = event.target;
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

/** Enter and Space belong to the link or button that has the focus; a row leaves them to the page. */
export function isPressing(event: KeyboardEvent): boolean {
  if (event.key !== "Enter" && event.key !== " ") return false;
  const target = event.target;
  return (
    target instanceof HTMLElement &&
    !target.matches("[data-row]") &&
    target.closest("a, button, summary, [role=button], [role=tab]") !== null
  );
}

/** Go to the row after or before the one that has the focus; a row is `[data-row]`. */
export function moveRow(by: number, within: ParentNode = document): void {
  const rows = [...within.querySelectorAll<HTMLElement>("[data-row]")];
  const focused = rows.findIndex((row) => row === document.activeElement);
  const current =
    focused >= 0 ? focused : rows.findIndex((row) => row.tabIndex === 0) - (by > 0 ? 1 : 0);
  rows[Math.min(Math.max(current + by, 0), rows.length - 1)]?.focus();
}

export const rowKeys: Key[] = [
  { key: "j k", label: "move", run: (event) => moveRow(event.key === "j" ? 1 : -1) },
  {
    key: "ArrowDown ArrowUp",
    label: "move",
    quiet: true,
    run: (event) => moveRow(event.key === "ArrowDown" ? 1 : -1),
  },
];

/** Put the cursor into the filter of the page. */
export const filterKey: Key = {
  key: "/",
  label: "filter",
  run: () => document.querySelector<HTMLInputElement>("[data-filter]")?.focus(),
};
