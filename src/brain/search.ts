import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { Count, RepoKey } from "../http/fields.ts";
import { type Document, teamIndex, words } from "./index.ts";
import { KINDS } from "./paths.ts";

const MOST_QUERY_CHARS = 256;
const MOST_TERMS = 16;
const SNIPPET_CHARS = 240;
const DEFAULT_HITS = 20;
/** Places of one word that a snippet is chosen among. */
const MOST_PLACES = 20;

const BrainHits = v.looseObject({
  ok: v.boolean(),
  query: v.pipe(
    v.string(),
    v.description("What was searched for: at most 256 characters and 16 words of the question."),
  ),
  total: Count,
  shown: Count,
  hits: v.array(
    v.object({
      filePath: v.string(),
      snippet: v.string(),
      repoKey: v.nullable(v.string()),
      kind: v.picklist(KINDS),
      heading: v.string(),
      line: v.pipe(Count, v.description("1-based line of the section.")),
      rank: v.pipe(v.number(), v.description("Higher is better; comparable within one reply.")),
    }),
  ),
});

/** Words that every question holds and no section is about. */
const STOP_WORDS = new Set(
  (
    "a an and are as at be by can could did do does for from had has have how i if in into is it its me my of on or our " +
    "should so some that the their them then there these they this to us was we were what when where which who why will with would you your"
  ).split(" "),
);

/** Cuts a question to what is searched: bounded, so that no question costs much more than another, and without stop words unless it has no others. */
export function searchTerms(question: string): string {
  const all = [...new Set(words(question.slice(0, MOST_QUERY_CHARS).toWellFormed().toLowerCase()))];
  const telling = all.filter((word) => !STOP_WORDS.has(word));
  return (telling.length > 0 ? telling : all).slice(0, MOST_TERMS).join(" ");
}

/**
 * The stretch of a section that holds most of the words found, on one line. Where several hold as many, the first.
 * @param found lower-case words, as the index matched them
 */
export function snippetOf(text: string, found: readonly string[]): string {
  const lower = text.toLowerCase();
  const places = found.flatMap((word) => placesOf(lower, word).map((at) => ({ word, at }))).sort((a, b) => a.at - b.at);
  let best = { count: 0, at: 0 };
  for (const { at } of places) {
    const within = new Set(
      places.filter((one) => one.at >= at && one.at < at + (SNIPPET_CHARS * 2) / 3).map((one) => one.word),
    );
    if (within.size > best.count) best = { count: within.size, at };
  }
  const from = Math.max(0, Math.min(best.at - SNIPPET_CHARS / 6, text.length - SNIPPET_CHARS));
  const cut = text
    .slice(from, from + SNIPPET_CHARS)
    .toWellFormed()
    .replace(/\s+/g, " ")
    .trim();
  return `${from > 0 ? "…" : ""}${cut}${from + SNIPPET_CHARS < text.length ? "…" : ""}`;
}

/** Where a word stands by itself in a text; enough of the places to choose from, not all of a hostile text's. */
function placesOf(lower: string, word: string): number[] {
  const places: number[] = [];
  for (
    let at = lower.indexOf(word);
    at !== -1 && places.length < MOST_PLACES;
    at = lower.indexOf(word, at + word.length)
  ) {
    if (!isWordChar(lower[at - 1]) && !isWordChar(lower[at + word.length])) places.push(at);
  }
  return places;
}

const isWordChar = (char: string | undefined) => char !== undefined && /[^\s\p{P}\p{S}]/u.test(char);

/** Ranked sections of the team's current brain files. */
export const search = endpoint(
  {
    id: "brainSearch",
    method: "GET",
    path: "/api/brain/search",
    summary: "Search the team's brain",
    tag: "Brain",
    auth: "device",
    query: v.object({
      q: v.pipe(v.string(), v.minLength(1, "must not be empty"), v.description("Words to look for.")),
      repoKey: v.optional(RepoKey),
      limit: v.optional(
        v.pipe(
          v.string(),
          v.regex(/^(?:[1-9]|[1-4]\d|50)$/, "must be a whole number from 1 to 50"),
          v.description("Hits at most; 20 by default, 50 at most."),
        ),
      ),
    }),
    ok: BrainHits,
    faults: [],
    limits: [],
  },
  async ({ core, principal, query }) => {
    const terms = searchTerms(query.q);
    const index = await teamIndex(core, principal.teamId);
    const results =
      terms === ""
        ? []
        : index.search(terms, (document) => query.repoKey === undefined || document.repoKey === query.repoKey);
    const hits = results.slice(0, Number(query.limit ?? DEFAULT_HITS)).map((result) => {
      const document = index.documents.get(result.id as number) as Document;
      return {
        filePath: document.path,
        snippet: snippetOf(document.text, result.terms),
        repoKey: document.repoKey === "" ? null : document.repoKey,
        kind: document.kind,
        heading: document.heading,
        line: document.line,
        rank: Math.round(result.score * 1000) / 1000,
      };
    });
    return { ok: true, query: terms, total: results.length, shown: hits.length, hits };
  },
);
