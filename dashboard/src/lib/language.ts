/**
 * Give uPlot a language it can read. It hands `navigator.language` to `Intl` while it loads, and a
 * browser started with LANG=C calls its language `en-US@posix`, which `Intl` refuses.
 */
try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, "language", { value: "en-US" });
}

export {};
