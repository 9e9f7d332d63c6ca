import type { Core } from "../core.ts";
import { type Document, teamIndex, words } from "./index.ts";
import type { Kind } from "./paths.ts";

const MOST_QUERY_CHARS = 256;
const MOST_TERMS = 16;
const SNIPPET_CHARS = 240;
const DEFAULT_HITS = 20;
/** Places of one word that a snippet is chosen among. */
const MOST_PLACES = 20;

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

export interface Hit {
  readonly filePath: string;
  /** The stretch of the section that holds most of the words, on one line. */
  readonly snippet: string;
  /** Null when the client named no repository. */
  readonly repoKey: string | null;
  readonly kind: Kind;
  readonly heading: string;
  /** 1-based line of the section. */
  readonly line: number;
  /** Higher is better; comparable within one answer. */
  readonly rank: number;
}

export interface Answer {
  /** What was searched for: at most 256 characters and 16 words of the question. */
  readonly query: string;
  /** Sections found; `hits` holds the best of them. */
  readonly total: number;
  readonly hits: readonly Hit[];
}

export interface SearchScope {
  readonly repoKey?: string | undefined;
  readonly kind?: Kind | undefined;
  /** Hits at most; 20 by default. */
  readonly limit?: number | undefined;
  /** Sections of files that this refuses are neither shown nor counted. */
  readonly keep?: ((document: Pick<Document, "repoKey" | "path" | "kind">) => boolean) | undefined;
}

/** Ranked sections of a team's current brain files. */
export async function searchBrain(
  core: Core,
  teamId: string,
  question: string,
  scope: SearchScope = {},
): Promise<Answer> {
  const { repoKey, kind, limit = DEFAULT_HITS, keep } = scope;
  const query = searchTerms(question);
  const index = await teamIndex(core, teamId);
  const wanted = (document: Document) =>
    (repoKey === undefined || document.repoKey === repoKey) &&
    (kind === undefined || document.kind === kind) &&
    (keep === undefined || keep(document));
  const results = query === "" ? [] : index.search(query, wanted);
  const hits = results.slice(0, limit).map((result): Hit => {
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
  return { query, total: results.length, hits };
}
