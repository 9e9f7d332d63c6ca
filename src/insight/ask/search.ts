import type { Core } from "../../core.ts";
import type { Kind } from "../../formats/brain-kinds.ts";
import { membershipsOf } from "../../identity/members/members.ts";
import type { ReadPrincipal } from "../../identity/read-tokens/read-tokens.ts";
import { scopeFilter } from "../../identity/read-tokens/read-tokens.ts";
import { getTeam, tierHas } from "../../identity/teams/teams.ts";
import { densestAt } from "../../kit/strings.ts";
import { cooperative } from "../../kit/yield.ts";
import { repoKeyOf } from "../../platform/http/fields.ts";
import { requireSoon } from "../../platform/projections/projections.ts";
import { findSections, MIN_FULL_MATCHES, questionAsked, type Source, sourceFinder } from "../../record/brain/brain.ts";

const DEFAULT_HITS = 10;

/** A cited slice of a brain file. */
export interface ContextHit {
  readonly filePath: string;
  readonly snippet: string;
  readonly kind: Kind;
  readonly rank: number;
  /** Null when the client that sent the file named no repository. */
  readonly repoKey: string | null;
  readonly teamId: string;
  readonly teamName: string;
  readonly heading: string;
  /** 1-based line of the file at which the snippet begins. */
  readonly line: number;
  /** Whose words the snippet is. */
  readonly source: typeof Source.example | undefined;
}

export interface Context {
  /** The question as it was asked, 256 characters at most. */
  readonly query: string;
  readonly total: number;
  readonly hits: readonly ContextHit[];
}

type SectionMatch = Awaited<ReturnType<typeof findSections>>["matches"][number];

interface TeamFound extends SectionMatch {
  readonly teamId: string;
  readonly teamName: string;
  /** The score in units of what one word that stands in a single section of this brain adds. */
  readonly weight: number;
}

/**
 * What a word that stands in one section of a brain is worth there (the inverse document frequency of BM25+). Scores are made of
 * such: without dividing by it, whatever a small brain holds would come after what a large one holds.
 */
const rarestWord = (sections: number) => Math.log(1 + (sections - 0.5) / 1.5);

/**
 * The teams whose brains a token reads now: those of its owner at this moment, within its scope, whose tier includes the brain. A scope
 * that names only teams which its owner has left reads nothing. Members who see only their own data in a team do not read its brains.
 */
export function readableTeams(core: Core, { userId, scope }: ReadPrincipal): { id: string; name: string }[] {
  return membershipsOf(core, userId).filter(({ id, role }) => {
    if (role === "own_only") return false;
    if (scope.teams.length > 0 && !scope.teams.includes(id)) return false;
    return tierHas(getTeam(core, id).tier, "brain");
  });
}

/**
 * Puts what several teams' brains hold into the order that one brain would show it: sections with all the words before others,
 * which are left out when there are enough of the former, and each group by weight.
 */
function mergeFound(hits: readonly TeamFound[], wholes: number): TeamFound[] {
  const shown = wholes >= MIN_FULL_MATCHES ? hits.filter(({ matchesAll }) => matchesAll) : [...hits];
  return shown.sort((a, b) => Number(b.matchesAll) - Number(a.matchesAll) || b.weight - a.weight);
}

/** Above a half for sections with all the words, up to a half for others; the heaviest of a reply gets the highest of its kind. */
function rankOf({ matchesAll, weight }: TeamFound, heaviest: number): number {
  return Math.round(((matchesAll ? 1 : 0) + weight / heaviest) * 50_000) / 100_000;
}

/** Whose brains are searched, and how much of them. */
export interface Reach {
  /** The teams at this moment. */
  readonly teams: () => readonly { readonly id: string; readonly name: string }[];
  /** Which of their files are seen; all of them without it. */
  readonly keep?: ReturnType<typeof scopeFilter>;
}

interface AskFilter {
  readonly repoKey?: string | undefined;
  /** Hits at most; 10 by default. */
  readonly limit?: number | undefined;
}

/** Searches the brains that a token may read. */
export const askBrains = (core: Core, principal: ReadPrincipal, question: string, filter?: AskFilter) =>
  askWithin(
    core,
    { teams: () => readableTeams(core, principal), keep: scopeFilter(principal.scope) },
    question,
    filter,
  );

/** Searches the brains within a reach. @throws Problem stillReading (503) while a large one is read first */
export const askWithin = (core: Core, reach: Reach, question: string, filter: AskFilter = {}): Promise<Context> =>
  requireSoon(searchWithin(core, reach, question, filter));

async function searchWithin(core: Core, reach: Reach, question: string, filter: AskFilter): Promise<Context> {
  const { repoKey, limit = DEFAULT_HITS } = filter;
  const yieldNow = cooperative(core.clock);
  const best: TeamFound[] = [];
  let wholes = 0;
  let others = 0;
  const teams = reach.teams();
  for (const { id: teamId, name: teamName } of teams) {
    const found = await findSections(core, teamId, question, { repoKey, keep: reach.keep, limit });
    const rarest = rarestWord(found.sections);
    for (const hit of found.matches) best.push({ ...hit, teamId, teamName, weight: hit.score / rarest });
    wholes += found.wholes;
    others += found.others;
    await yieldNow();
  }
  // Others had their turn meanwhile, for seconds where an index had to be built: what was taken away since is not shown.
  const still = new Set(reach.teams().map(({ id }) => id));
  if (teams.some(({ id }) => !still.has(id))) return searchWithin(core, reach, question, filter);
  const merged = mergeFound(best, wholes).slice(0, limit);
  const heaviest = Math.max(...merged.map(({ weight }) => weight));
  const sources = new Map(teams.map(({ id }) => [id, sourceFinder(core, id)]));
  const hits = merged.map((hit): ContextHit => {
    const { section, teamId, teamName } = hit;
    const { text, linesBefore } = sliceOf(section.text, hit.words);
    return {
      filePath: section.path,
      snippet: text,
      kind: section.kind,
      rank: rankOf(hit, heaviest),
      repoKey: repoKeyOf(section.repoKey),
      teamId,
      teamName,
      heading: section.heading,
      line: section.line + linesBefore,
      source: sources.get(teamId)?.(section),
    };
  });
  return { query: questionAsked(question), total: wholes >= MIN_FULL_MATCHES ? wholes : wholes + others, hits };
}

/** Long enough to hold an entry with its cause and its rule; most sections are shorter and come whole. */
export const MAX_SLICE_CHARS = 1_200;

export interface Slice {
  /** Markdown with its line breaks; an ellipsis stands where more of the section came before or comes after. */
  readonly text: string;
  /** Lines of the section before the slice. */
  readonly linesBefore: number;
}

/**
 * What is quoted of a section: all of it, or else the lines around where most of the words found stand together. A line that
 * is itself too long is cut.
 * @param words lower-case, as the index matched them
 */
export function sliceOf(section: string, words: readonly string[]): Slice {
  if (section.length <= MAX_SLICE_CHARS) return { text: section.trimEnd(), linesBefore: 0 };
  const at = densestAt(section, words, (MAX_SLICE_CHARS * 2) / 3);
  let from = Math.max(0, Math.min(at - MAX_SLICE_CHARS / 6, section.length - MAX_SLICE_CHARS));
  const lineStart = from === 0 ? -1 : section.indexOf("\n", from - 1);
  if (lineStart !== -1 && lineStart < at) from = lineStart + 1;
  let to = Math.min(section.length, from + MAX_SLICE_CHARS);
  const lineEnd = section.lastIndexOf("\n", to);
  if (to < section.length && lineEnd > Math.max(at, from + MAX_SLICE_CHARS / 2)) to = lineEnd;
  const text = section.slice(from, to).toWellFormed().trimEnd();
  return {
    text: `${from > 0 ? "…" : ""}${text}${to < section.length ? "…" : ""}`,
    linesBefore: section.slice(0, from).split("\n").length - 1,
  };
}
