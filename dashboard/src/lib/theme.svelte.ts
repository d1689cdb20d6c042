/** Light or dark: as the system is, or as chosen here. */

type Choice = "system" | "light" | "dark";
const STORED = "holdfast.theme";
const CHOICES: Choice[] = ["system", "light", "dark"];
const isDark = matchMedia("(prefers-color-scheme: dark)");

class Theme {
  choice = $state<Choice>((localStorage.getItem(STORED) as Choice | null) ?? "system");
  shown = $state<"light" | "dark">("light");

  constructor() {
    isDark.addEventListener("change", () => this.apply());
    this.apply();
  }

  next(): void {
    this.choice = CHOICES[(CHOICES.indexOf(this.choice) + 1) % CHOICES.length] ?? "system";
    localStorage.setItem(STORED, this.choice);
    this.apply();
  }

  apply(): void {
    const dark = this.choice === "system" ? isDark.matches : this.choice === "dark";
    this.shown = dark ? "dark" : "light";
    document.documentElement.dataset["theme"] = this.shown;
  }
}

export const theme = new Theme();
