/** Copying, and one line at the foot of the page that says what was done. */

class Notice {
  words = $state("");
  #timer: ReturnType<typeof setTimeout> | undefined;

  say(words: string): void {
    this.words = words;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (this.words = ""), 6_000);
  }
}

export const notice = new Notice();

export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    notice.say(`Copied: ${text.length > 60 ? `${text.slice(0, 60)}…` : text}`);
    return true;
  } catch {
    notice.say("The browser does not allow copying here.");
    return false;
  }
}
