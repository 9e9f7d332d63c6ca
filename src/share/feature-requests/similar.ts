import type { Core } from "../../core.ts";
import { inSlices, type Slices } from "../../kit/slices.ts";
import { cooperative } from "../../kit/yield.ts";
import { listRequests } from "./list.ts";
import type { RequestRow } from "./rows.ts";

/** How many of the newest requests are compared, and how alike (0 to 1) two must be to be worth a look. */
const MAX_COMPARED = 500;
const MIN_SIMILARITY = 0.25;
const MAX_WORDS = 400;

/** The words of a text that may mean something, once each. */
function wordsOf(text: string): Set<string> {
  const words = new Set<string>();
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]{3,40}/gu)) {
    words.add(word);
    if (words.size === MAX_WORDS) break;
  }
  return words;
}

/**
 * Which of the texts use the words of the first, most alike first: the cosine of their words, each weighing as much as it is rare
 * (inverse document frequency, Spärck Jones 1972).
 */
export function* rankAlike<T extends { readonly text: string }>(text: string, others: readonly T[]): Slices<T[]> {
  const own = wordsOf(text);
  const theirs: { other: T; words: Set<string> }[] = [];
  const uses = new Map([...own].map((word) => [word, 1]));
  for (const other of others) {
    const words = wordsOf(other.text);
    theirs.push({ other, words });
    for (const word of words) uses.set(word, (uses.get(word) ?? 0) + 1);
    yield;
  }
  const weight = (words: Iterable<string>) => {
    let sum = 0;
    for (const word of words) sum += Math.log(1 + (others.length + 1) / (uses.get(word) as number)) ** 2;
    return sum;
  };
  const whole = weight(own);
  const similar: { other: T; similarity: number }[] = [];
  for (const { other, words } of theirs) {
    const similarity = weight(own.intersection(words)) / Math.sqrt(whole * weight(words));
    if (similarity >= MIN_SIMILARITY) similar.push({ other, similarity });
    yield;
  }
  return similar.sort((a, b) => b.similarity - a.similarity).map(({ other }) => other);
}

/** Requests that may ask for the same: of the newest, those in like words that are not merged and lead nowhere else. */
export async function similarRequests(core: Core, request: RequestRow, max: number): Promise<RequestRow[]> {
  const { rows } = await listRequests(core, {}, MAX_COMPARED);
  const others = rows.filter(({ id, mergedInto }) => id !== request.id && mergedInto === null);
  return (await inSlices(rankAlike(request.text, others), cooperative(core.clock))).slice(0, max);
}
