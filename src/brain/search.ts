import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { Count, RepoKey } from "../http/fields.ts";
import { type Document, teamIndex } from "./index.ts";
import { KINDS } from "./paths.ts";

const MOST_QUERY_CHARS = 256;
const MOST_TERMS = 16;
const SNIPPET_CHARS = 240;
const DEFAULT_HITS = 20;

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

/** Cuts a question to what is searched: bounded, so that no question costs much more than another. */
export function searchTerms(question: string): string {
  return question
    .slice(0, MOST_QUERY_CHARS)
    .toWellFormed()
    .split(/[\s\p{P}\p{S}]+/u)
    .filter(Boolean)
    .slice(0, MOST_TERMS)
    .join(" ");
}

/** The part of a section around the first of the words found, on one line. */
export function snippetOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const found = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
  const around = found.length > 0 ? Math.min(...found) : 0;
  const from = Math.max(0, Math.min(around - SNIPPET_CHARS / 3, text.length - SNIPPET_CHARS));
  const cut = text
    .slice(from, from + SNIPPET_CHARS)
    .toWellFormed()
    .replace(/\s+/g, " ")
    .trim();
  return `${from > 0 ? "…" : ""}${cut}${from + SNIPPET_CHARS < text.length ? "…" : ""}`;
}

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
