import type { Slices } from "../../kit/slices.ts";

/** What a word is worth in each text of a document: what it says, its heading, its path. */
const BOOSTS = [1, 3, 2] as const;
/** BM25+ (Lv and Zhai, 2011): how soon more of a word counts no more, how much long texts lose, what any of it is worth. */
const K = 1.2;
const B = 0.7;
const D = 0.5;
const PREFIX_WEIGHT = 0.375;
const FUZZY_WEIGHT = 0.45;

const SHORT_QUESTION = 4;
/** The last word of a question may be unfinished; shorter beginnings stand for too many words to tell anything. */
const MIN_BEGINNING_CHARS = 4;
const MIN_FUZZY_CHARS = 6;
/** How often the words of an index may stand in it that a beginning or a misspelling is taken for. */
const MAX_PLACES = 20_000;

/** Words that one index knows at most, many times what a large brain holds, and how long they are. */
const MAX_WORDS = 100_000;
const MAX_WORD_CHARS = 64;

/** A place is a document's number and how often the word stands there, as one number: lists of objects take five times the memory. */
const MAX_COUNT = 4_096;
/** Places, or words, that are looked at between two breaths. */
const PORTION = 5_000;

/** The words of a text: what stands between spaces, punctuation and symbols (code marks like ` and = among them). */
export function words(text: string): string[] {
  return text.split(/[\s\p{P}\p{S}]+/u).filter(Boolean);
}

interface Word {
  places: number;
  /** Places in each of the texts. */
  readonly lists: (number[] | undefined)[];
}

export interface Ranked {
  readonly id: number;
  /** BM25+ times how many of the question's words there are; higher is better. */
  readonly score: number;
}

type Order = (a: number, b: number) => number;

/** The best documents, best first, and how many there are. */
interface Group {
  count: number;
  readonly best: Ranked[];
}

export interface Found {
  /** With all the words, and with some. */
  readonly wholes: Group;
  readonly others: Group;
  /** The words that the question's were taken for, in lower case. */
  readonly words: ReadonlySet<string>;
}

/**
 * Which documents hold which words, ranked. Our own because whatever may take long is done in slices: a word that stands in all of
 * 300,000 sections would hold everybody up for most of a second. Documents may come and go meanwhile.
 */
export class WordIndex {
  readonly #words = new Map<string, Word>();
  /** How many different words each document has in each of its texts, and all of them. */
  readonly #lengths = BOOSTS.map((): number[] => []);
  readonly #totals = BOOSTS.map(() => 0);
  #count = 0;
  #next = 0;
  /** Numbers that are given again, once no search uses them any more. */
  readonly #free: number[] = [];
  #searches = 0;

  /** @param texts as many as there are boosts @returns the document's number */
  add(texts: readonly string[]): number {
    const id = (this.#searches === 0 ? this.#free.pop() : undefined) ?? this.#next++;
    for (const [field, text] of texts.entries()) {
      const all = words(text);
      const length = new Set(all).size;
      (this.#lengths[field] as number[])[id] = length;
      this.#totals[field] = (this.#totals[field] as number) + length;
      for (const word of all) this.#admit(word.toLowerCase(), field, id);
    }
    this.#count++;
    return id;
  }

  /** A question visits every word that may be meant: without a bound on words one team could stall all. */
  #admit(term: string, field: number, id: number): void {
    let word = this.#words.get(term);
    if (!word) {
      if (term.length > MAX_WORD_CHARS || this.#words.size >= MAX_WORDS) return;
      word = { places: 0, lists: [] };
      this.#words.set(term, word);
    }
    word.places++;
    let list = word.lists[field];
    if (!list) {
      list = [];
      word.lists[field] = list;
    }
    const last = list.at(-1) ?? -1;
    if (Math.floor(last / MAX_COUNT) !== id) list.push(id * MAX_COUNT + 1);
    else if (last % MAX_COUNT < MAX_COUNT - 1) list[list.length - 1] = last + 1;
    else word.places--;
  }

  /** @param texts of each document, as they were added */
  *remove(texts: ReadonlyMap<number, readonly string[]>): Slices<void> {
    const gone = new Uint8Array(this.#next);
    const terms = new Set<string>();
    for (const [id, all] of texts) {
      gone[id] = 1;
      for (const text of all) for (const word of words(text)) terms.add(word.toLowerCase());
      yield;
    }
    const stays = (place: number) => gone[Math.floor(place / MAX_COUNT)] !== 1;
    for (const term of terms) {
      const word = this.#words.get(term);
      if (!word) continue;
      // A search goes on with the lists that it began with.
      for (const [field, list] of word.lists.entries()) word.lists[field] = list?.filter(stays);
      word.places = word.lists.reduce(
        (sum, list = []) => list.reduce((all, place) => all + (place % MAX_COUNT), sum),
        0,
      );
      if (word.places === 0) this.#words.delete(term);
      yield;
    }
    for (const id of texts.keys()) {
      for (const [field, lengths] of this.#lengths.entries())
        this.#totals[field] = (this.#totals[field] as number) - (lengths[id] as number);
      this.#count--;
      this.#free.push(id);
    }
  }

  /**
   * Documents with any of a question's words. Only the last word may be a beginning, and misspellings are looked for in short questions
   * only. Either is given up where it would be found nearly everywhere.
   * @param terms in lower case, each once
   * @param most of each group
   * @param order of documents that are as good as each other: numbers hang on what came when
   */
  *search(
    terms: readonly string[],
    keep: (id: number) => boolean,
    most: number,
    order: Order = (a, b) => a - b,
  ): Slices<Found> {
    this.#searches++;
    try {
      const found = new Scores(this.#next);
      const meant = new Set<string>();
      for (const [i, term] of terms.entries()) {
        const isLast = i === terms.length - 1;
        for (const [word, weight] of yield* this.#meantBy(term, isLast, terms.length <= SHORT_QUESTION)) {
          meant.add(word);
          yield* this.#score(found, i, word, weight);
        }
      }
      return { ...(yield* found.rank(terms.length, keep, most, order)), words: meant };
    } finally {
      this.#searches--;
    }
  }

  /** What a word of a question may mean, with its weight. */
  *#meantBy(term: string, isLast: boolean, isShort: boolean): Slices<Map<string, number>> {
    const beginnings = isLast && term.length >= MIN_BEGINNING_CHARS;
    const misspellings = isShort && term.length >= MIN_FUZZY_CHARS;
    const begun = new Map<string, number>();
    const near = new Map<string, number>();
    let [places, nearPlaces] = [0, 0];
    let left = PORTION;
    if (beginnings || misspellings)
      for (const [word, { places: own }] of this.#words) {
        if (--left === 0) {
          left = PORTION;
          yield;
        }
        const { length } = word;
        if (beginnings && word.startsWith(term)) {
          places += own;
          begun.set(word, (PREFIX_WEIGHT * length) / (length + 0.3 * (length - term.length)));
        }
        if (misspellings && isNear(word, term)) {
          nearPlaces += own;
          near.set(word, (FUZZY_WEIGHT * length) / (length + 1));
        }
      }
    // The word itself comes first, and counts in full though it begins so and is near, too.
    return new Map([
      [term, 1],
      ...(places <= MAX_PLACES ? begun : []),
      ...[...(nearPlaces <= MAX_PLACES ? near : [])].filter(([word]) => places > MAX_PLACES || !begun.has(word)),
      [term, 1],
    ]);
  }

  *#score(found: Scores, term: number, word: string, weight: number): Slices<void> {
    const lists = this.#words.get(word)?.lists ?? [];
    for (const [field, boost] of BOOSTS.entries()) {
      const list = lists[field] ?? [];
      const lengths = this.#lengths[field] as number[];
      const mean = (this.#totals[field] as number) / this.#count;
      const most = list.length;
      const worth = weight * boost * Math.log(1 + (this.#count - most + 0.5) / (most + 0.5));
      for (let i = 0; i < most; i++) {
        if (i % PORTION === PORTION - 1) yield;
        const place = list[i] as number;
        const id = Math.floor(place / MAX_COUNT);
        const times = place % MAX_COUNT;
        const norm = K * (1 - B + (B * (lengths[id] as number)) / mean);
        found.add(id, term, worth * (D + (times * (K + 1)) / (times + norm)));
      }
    }
  }
}

/** What a search makes of each document. */
class Scores {
  readonly #scores: Float64Array;
  /** How many words of the question it has, and which of them was the last, counted from 1. */
  readonly #matched: Uint8Array;
  readonly #last: Uint8Array;
  readonly #ids: number[] = [];

  constructor(size: number) {
    this.#scores = new Float64Array(size);
    this.#matched = new Uint8Array(size);
    this.#last = new Uint8Array(size);
  }

  add(id: number, term: number, score: number): void {
    // One that came since.
    if (id >= this.#scores.length) return;
    if (this.#matched[id] === 0) this.#ids.push(id);
    if (this.#last[id] !== term + 1) {
      this.#last[id] = term + 1;
      this.#matched[id] = (this.#matched[id] as number) + 1;
    }
    this.#scores[id] = (this.#scores[id] as number) + score;
  }

  *rank(
    terms: number,
    keep: (id: number) => boolean,
    most: number,
    order: Order,
  ): Slices<Pick<Found, "wholes" | "others">> {
    const before = (a: Ranked, b: Ranked) => a.score > b.score || (a.score === b.score && order(a.id, b.id) < 0);
    const wholes: Group = { count: 0, best: [] };
    const others: Group = { count: 0, best: [] };
    for (const [i, id] of this.#ids.entries()) {
      if (i % 500 === 499) yield;
      if (!keep(id)) continue;
      const matched = this.#matched[id] as number;
      const group = matched === terms ? wholes : others;
      group.count++;
      insert(group.best, { id, score: (this.#scores[id] as number) * matched }, most, before);
    }
    return { wholes, others };
  }
}

/** Puts one where it belongs among the best. */
function insert(best: Ranked[], one: Ranked, most: number, before: (a: Ranked, b: Ranked) => boolean): void {
  let at = best.length;
  while (at > 0 && before(one, best[at - 1] as Ranked)) at--;
  if (at >= most) return;
  best.splice(at, 0, one);
  if (best.length > most) best.pop();
}

/** Whether one letter more, less or other makes a word of another. */
function isNear(a: string, b: string): boolean {
  const least = Math.min(a.length, b.length);
  const most = Math.max(a.length, b.length);
  let same = 0;
  while (same < least && a[same] === b[same]) same++;
  let end = 0;
  while (end < least - same && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  return same + end >= most - 1;
}
