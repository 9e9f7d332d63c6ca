import type { Core } from "../../core.ts";
import type { Kind } from "../../formats/brain-kinds.ts";
import { inSlices } from "../../kit/slices.ts";
import { beginning, densestAt } from "../../kit/strings.ts";
import { cooperative } from "../../kit/yield.ts";
import { type Document, teamIndex } from "./search-index.ts";
import { type SourceFacts, sourceFinder } from "./source.ts";
import { words } from "./word-index.ts";

const MAX_QUERY_CHARS = 256;
const MAX_TERMS = 16;
const SNIPPET_CHARS = 240;
const DEFAULT_HITS = 20;

/** Words that every question holds and no section is about. */
const STOP_WORDS = new Set(
  (
    "a an and are as at be by can could did do does for from had has have how i if in into is it its me my of on or our " +
    "should so some that the their them then there these they this to us was we were what when where which who why will with would you your"
  ).split(" "),
);

/** The part of a question that is looked at: bounded, so that no question costs much more than another. */
export const questionAsked = (question: string): string => beginning(question.toWellFormed(), MAX_QUERY_CHARS);

/** The words of a question that are searched for, without stop words unless it has no others. */
function searchTerms(question: string): string {
  const all = [...new Set(words(questionAsked(question).toLowerCase()))];
  const meaningful = all.filter((word) => !STOP_WORDS.has(word));
  return (meaningful.length > 0 ? meaningful : all).slice(0, MAX_TERMS).join(" ");
}

/**
 * The stretch of a section that holds most of the words, on one line.
 * @param words in lower case, as the index matched them
 */
function snippetOf(text: string, words: readonly string[]): string {
  const at = densestAt(text, words, (SNIPPET_CHARS * 2) / 3);
  const from = Math.max(0, Math.min(at - SNIPPET_CHARS / 6, text.length - SNIPPET_CHARS));
  const cut = text
    .slice(from, from + SNIPPET_CHARS)
    .toWellFormed()
    .replace(/\s+/g, " ")
    .trim();
  return `${from > 0 ? "…" : ""}${cut}${from + SNIPPET_CHARS < text.length ? "…" : ""}`;
}

interface Hit {
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
  /** Whose words the snippet is. */
  readonly source: SourceFacts | undefined;
}

export interface Answer {
  /** The question as it was asked, 256 characters at most. */
  readonly query: string;
  /** The words of it that were searched for, 16 at most, between spaces. */
  readonly terms: string;
  /** Sections found; `hits` holds the best of them. */
  readonly total: number;
  readonly hits: readonly Hit[];
}

export interface SearchScope {
  readonly repoKey?: string | undefined;
  readonly kind?: Kind | undefined;
  /** Hits at most; 20 by default, of those with all the words and of others each. */
  readonly limit?: number | undefined;
  /** Sections of files that this refuses are neither shown nor counted. */
  readonly keep?: ((document: Pick<Document, "repoKey" | "path" | "kind">) => boolean) | undefined;
}

/** A section that a question finds. */
interface SectionMatch {
  readonly section: Document;
  /** Lower-case words of the section that the question's words matched. */
  readonly words: readonly string[];
  /** BM25+ with the weights of the index, by how rare the words are in this team's brain; higher is better. */
  readonly score: number;
  /** Whether the section holds all the question's words. */
  readonly matchesAll: boolean;
}

export interface Findings {
  /** The words that were searched for, between spaces. */
  readonly terms: string;
  /** The best with all the words, and after them the best of others, which are left out where there are enough of the former. */
  readonly matches: readonly SectionMatch[];
  /** How many there are of each. */
  readonly wholes: number;
  readonly others: number;
  /** Sections that the team's brain has; scores of brains of different size compare only with regard to it. */
  readonly sections: number;
}

/** The sections of a team's current brain files that a question finds. */
export async function findSections(
  core: Core,
  teamId: string,
  question: string,
  { repoKey, kind, keep, limit = DEFAULT_HITS }: SearchScope = {},
): Promise<Findings> {
  const terms = searchTerms(question);
  const index = await teamIndex(core, teamId);
  const inScope = (document: Document) =>
    (repoKey === undefined || document.repoKey === repoKey) &&
    (kind === undefined || document.kind === kind) &&
    (keep === undefined || keep(document));
  const yieldNow = cooperative(core.clock);
  const found = await inSlices(index.search(terms.split(" ").filter(Boolean), inScope, limit), yieldNow);
  const matches: SectionMatch[] = [];
  for (const [group, matchesAll] of [[found.wholes, true] as const, [found.others, false] as const])
    for (const { document: section, score } of group.best) {
      matches.push({ section, words: wordsOf(section, found.words), score, matchesAll });
      await yieldNow();
    }
  const { wholes, others } = { wholes: found.wholes.count, others: found.others.count };
  return { terms, matches, wholes, others, sections: index.documents.size };
}

/** Which of some words a section holds. */
const wordsOf = ({ text, heading, path }: Document, meant: ReadonlySet<string>): string[] => {
  const present = new Set(words(`${text} ${heading} ${path}`.toLowerCase()));
  return [...meant].filter((word) => present.has(word));
};

/** Ranked sections of a team's current brain files. */
export async function searchBrain(core: Core, teamId: string, question: string, scope: SearchScope): Promise<Answer> {
  const { terms, matches, wholes, others } = await findSections(core, teamId, question, scope);
  const sourceOf = sourceFinder(core, teamId);
  const hits = matches.slice(0, scope.limit ?? DEFAULT_HITS).map(
    ({ section, words, score }): Hit => ({
      filePath: section.path,
      snippet: snippetOf(section.text, words),
      repoKey: section.repoKey === "" ? null : section.repoKey,
      kind: section.kind,
      heading: section.heading,
      line: section.line,
      rank: Math.round(score * 1000) / 1000,
      source: sourceOf(section),
    }),
  );
  return { query: questionAsked(question), terms, total: wholes + others, hits };
}
