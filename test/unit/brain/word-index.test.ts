import MiniSearch from "minisearch";
import { describe, expect, it } from "vitest";
import { finish } from "../../../src/kit/slices.ts";
import { WordIndex, words } from "../../../src/record/brain/word-index.ts";
import { randomOf } from "../../bench/text.ts";

type Texts = readonly [text: string, heading: string, path: string];

/** Words that are near each other and begin alike, some with marks and in either case. */
function vocabulary(next: () => number): string[] {
  return Array.from({ length: 120 }, () => {
    const letters = Array.from({ length: 2 + Math.floor(next() * 7) }, () => "aabc"[Math.floor(next() * 4)]).join("");
    return next() < 0.2 ? letters.toUpperCase() : letters;
  });
}

const pick = <T>(list: readonly T[], next: () => number) => list[Math.floor(next() * list.length)] as T;
const sentence = (list: readonly string[], most: number, next: () => number) =>
  Array.from({ length: Math.floor(next() * most) }, () => pick(list, next)).join(next() < 0.5 ? " " : ", `");

/** What another implementation of the same ranking finds. */
function expected(documents: ReadonlyMap<number, Texts>, terms: readonly string[]) {
  const mini = new MiniSearch<{ id: number; text: string; heading: string; path: string }>({
    fields: ["text", "heading", "path"],
    tokenize: words,
  });
  for (const [id, [text, heading, path]] of documents) mini.add({ id, text, heading, path });
  const results = mini.search(terms.join(" "), {
    boost: { heading: 3, path: 2 },
    prefix: (term, i) => term.length >= 4 && i === terms.length - 1,
    fuzzy: (term) => (term.length >= 6 && terms.length <= 4 ? 1 : false),
  });
  return Map.groupBy(results, ({ queryTerms }) => queryTerms.length === terms.length);
}

describe("an index of words", () => {
  it("ranks documents by BM25+, as another implementation does, also after some are gone", () => {
    let compared = 0;
    for (let seed = 1; seed <= 40; seed++) {
      const next = randomOf(seed);
      const all = vocabulary(next);
      const index = new WordIndex();
      const documents = new Map<number, Texts>();
      for (let round = 0; round < 3; round++) {
        for (let i = 0; i < 60; i++) {
          const texts: Texts = [sentence(all, 30, next), sentence(all, 4, next), `${pick(all, next)}/a.md`];
          documents.set(index.add(texts), texts);
        }
        const gone = new Map([...documents].filter(() => next() < 0.3));
        finish(index.remove(gone));
        for (const id of gone.keys()) documents.delete(id);
        for (let question = 0; question < 10; question++) {
          const terms = [
            ...new Set(Array.from({ length: 1 + Math.floor(next() * 5) }, () => pick(all, next).toLowerCase())),
          ];
          const found = finish(index.search(terms, () => true, 1_000));
          const others = expected(documents, terms);
          for (const [group, isWhole] of [[found.wholes, true] as const, [found.others, false] as const]) {
            const theirs = new Map((others.get(isWhole) ?? []).map(({ id, score }) => [id, score]));
            expect(new Map(group.best.map(({ id, score }) => [id, score.toFixed(8)]))).toEqual(
              new Map([...theirs].map(([id, score]) => [id, score.toFixed(8)])),
            );
            expect(group.count).toBe(theirs.size);
            expect(group.best).toEqual(group.best.toSorted((a, b) => b.score - a.score));
            const best = finish(index.search(terms, () => true, 3))[isWhole ? "wholes" : "others"];
            expect(best).toEqual({ count: group.count, best: group.best.slice(0, 3) });
            compared += theirs.size;
          }
        }
      }
    }
    expect(compared).toBeGreaterThan(10_000);
  });

  it("can pause every few thousand places, and finds no document that took another's number meanwhile", () => {
    const index = new WordIndex();
    const texts = (i: number): Texts => [`common words ${i}`, "", "notes.md"];
    for (let i = 0; i < 30_000; i++) index.add(texts(i));
    const gone = new Set<number>();
    const work = index.search(["common"], (id) => !gone.has(id), 5);
    let pauses = 0;
    for (;;) {
      const step = work.next();
      if (step.done) {
        expect(step.value.wholes.count).toBe(29_999);
        break;
      }
      if (++pauses === 10) {
        gone.add(7);
        finish(index.remove(new Map([[7, texts(7)]])));
        expect(index.add(["another", "", "b.md"])).toBe(30_000);
      }
    }
    expect(pauses).toBeGreaterThan(50);
    expect(index.add(["another", "", "b.md"])).toBe(7);
  });

  it("looks up no prefix or misspelling of a word that stands nearly everywhere", () => {
    const index = new WordIndex();
    for (let i = 0; i < 20_001; i++) index.add(["everywhere", "", ""]);
    index.add(["everybody", "", ""]);
    const count = (term: string) => finish(index.search([term], () => true, 1)).wholes.count;
    expect(count("everywhere")).toBe(20_001);
    expect(count("everyw")).toBe(0);
    expect(count("everywhera")).toBe(0);
    expect(count("everyb")).toBe(1);
  });
});
