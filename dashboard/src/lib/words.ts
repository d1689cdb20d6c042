/** Which words of a text differ, and which were asked for. */

export interface Part {
  text: string;
  differs: boolean;
}

const ALIKE = 0.5; // below that share of common words two lines are not versions of one another
const LONGEST = 400; // words; longer lines are shown unmarked

/** The text in parts; those that the most similar of the others does not have differ. */
export function marked(text: string, others: string[]): Part[] {
  const words = text.split(/(\s+)/);
  const whole: Part[] = [{ text, differs: false }];
  if (words.length > LONGEST || others.length > 50) return whole;
  let best: Set<string> | null = null;
  let most = ALIKE;
  for (const other of others) {
    const known = new Set(other.split(/\s+/));
    const own = words.filter((word) => word.trim());
    const share = own.filter((word) => known.has(word)).length / Math.max(1, own.length);
    if (share >= most && share < 1) [best, most] = [known, share];
  }
  if (!best) return whole;
  return words.map((word) => ({ text: word, differs: word.trim() !== "" && !best.has(word) }));
}

/** The text with the words of a question marked. */
export function asked(text: string, question: string): Part[] {
  const stems = question
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 3)
    .map((word) => word.slice(0, Math.max(4, word.length - 2)));
  return text.split(/([^\p{L}\p{N}]+)/u).map((word) => ({
    text: word,
    differs: stems.some((stem) => word.toLowerCase().startsWith(stem)),
  }));
}
