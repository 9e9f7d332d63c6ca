import type { Core } from "../../core.ts";
import { cooperative } from "../../kit/yield.ts";
import {
  FEW,
  type Found,
  findSections,
  type Kind,
  questionAsked,
  type SourceFacts,
  sourceFinder,
} from "../../record/brain/brain.ts";
import { findTeam, membershipsOf, tiersWith } from "../accounts/accounts.ts";
import type { ReadPrincipal } from "./reader.ts";
import { scopeFilter } from "./scope.ts";
import { sliceOf } from "./slice.ts";

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
  readonly source: SourceFacts | undefined;
}

export interface Context {
  /** The question as it was asked, 256 characters at most. */
  readonly query: string;
  readonly total: number;
  readonly hits: readonly ContextHit[];
}

export interface TeamFound extends Found {
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
 * The teams whose brains a token reads now: those of its owner at this moment, within its scope, whose tier includes the brain.
 * A scope that names only teams which its owner has left reads nothing.
 */
export function readableTeams(core: Core, { userId, scope }: ReadPrincipal): { id: string; name: string }[] {
  const entitled = tiersWith("brain");
  return membershipsOf(core, userId).flatMap(({ teamId, teamName }) => {
    if (scope.teams.length > 0 && !scope.teams.includes(teamId)) return [];
    const team = findTeam(core, teamId);
    return team && entitled.includes(team.tier) ? [{ id: teamId, name: teamName }] : [];
  });
}

/**
 * Puts what several teams' brains hold into the order that one brain would show it: sections with all the words before others,
 * which are left out when there are enough of the former, and each group by weight.
 */
export function mergeFound(found: readonly TeamFound[], wholes: number): TeamFound[] {
  const shown = wholes >= FEW ? found.filter((one) => one.whole) : [...found];
  return shown.sort((a, b) => Number(b.whole) - Number(a.whole) || b.weight - a.weight);
}

/** Above a half for sections with all the words, up to it for others, the heaviest of a reply the highest of its kind. */
function rankOf({ whole, weight }: TeamFound, heaviest: number): number {
  return Math.round(((whole ? 1 : 0) + weight / heaviest) * 50_000) / 100_000;
}

/** Searches the brains that a token may read. */
export async function askBrains(
  core: Core,
  principal: ReadPrincipal,
  question: string,
  asked: { readonly repoKey?: string | undefined; readonly limit?: number | undefined } = {},
): Promise<Context> {
  const { repoKey, limit = DEFAULT_HITS } = asked;
  const yieldNow = cooperative(core.clock);
  const keep = scopeFilter(principal.scope);
  const best: TeamFound[] = [];
  let wholes = 0;
  let others = 0;
  const teams = readableTeams(core, principal);
  for (const { id: teamId, name: teamName } of teams) {
    const { found, sections } = await findSections(core, teamId, question, { repoKey, keep });
    const rarest = rarestWord(sections);
    for (const group of [found.filter((one) => one.whole), found.filter((one) => !one.whole)]) {
      // Each group is in order, so what comes later can be in no reply.
      for (const one of group.slice(0, limit)) best.push({ ...one, teamId, teamName, weight: one.score / rarest });
      if (group[0]?.whole) wholes += group.length;
      else others += group.length;
    }
    await yieldNow();
  }
  // Others had their turn meanwhile, for seconds where an index had to be built: what was taken away then is not shown.
  const still = new Set(readableTeams(core, principal).map(({ id }) => id));
  if (teams.some(({ id }) => !still.has(id))) return askBrains(core, principal, question, asked);
  const merged = mergeFound(best, wholes).slice(0, limit);
  const heaviest = Math.max(...merged.map((one) => one.weight));
  const sources = new Map(teams.map(({ id }) => [id, sourceFinder(core, id)]));
  const hits = merged.map((one): ContextHit => {
    const { section, teamId, teamName } = one;
    const { text, linesBefore } = sliceOf(section.text, one.words);
    return {
      filePath: section.path,
      snippet: text,
      kind: section.kind,
      rank: rankOf(one, heaviest),
      repoKey: section.repoKey === "" ? null : section.repoKey,
      teamId,
      teamName,
      heading: section.heading,
      line: section.line + linesBefore,
      source: sources.get(teamId)?.(section),
    };
  });
  return { query: questionAsked(question), total: wholes >= FEW ? wholes : wholes + others, hits };
}
