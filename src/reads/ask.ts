import { findTeam, membershipsOf, tiersWith } from "../accounts/accounts.ts";
import { FEW, type Found, findSections, type Kind, searchTerms } from "../brain/brain.ts";
import type { Core } from "../core.ts";
import type { ReadPrincipal } from "../http/principal.ts";
import { breather } from "../kit/breathe.ts";
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
}

export interface Context {
  readonly query: string;
  readonly total: number;
  readonly hits: readonly ContextHit[];
}

interface TeamFound extends Found {
  readonly teamId: string;
  readonly teamName: string;
  readonly rank: number;
}

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
 * Merges what several teams' brains hold, as one brain would show it: sections with all the words, and when those are few the
 * others too. Each team is scored by how rare words are in its own brain, as the shards of a distributed index are; the
 * coordination factor (the share of the question's words that a section holds) then keeps a word that is merely rare in a small
 * brain from outranking a section that answers the whole question.
 */
export function mergeFound(found: readonly TeamFound[]): TeamFound[] {
  const whole = found.filter((one) => one.share === 1);
  return (whole.length >= FEW ? whole : [...found]).sort((a, b) => b.rank - a.rank);
}

/** Searches the brains that a token may read. */
export async function askBrains(
  core: Core,
  principal: ReadPrincipal,
  question: string,
  {
    repoKey,
    limit = DEFAULT_HITS,
  }: { readonly repoKey?: string | undefined; readonly limit?: number | undefined } = {},
): Promise<Context> {
  const breathe = breather(core.clock);
  const keep = scopeFilter(principal.scope);
  const all: TeamFound[] = [];
  for (const { id, name } of readableTeams(core, principal)) {
    const { found } = await findSections(core, id, question, { repoKey, keep });
    for (const one of found)
      all.push({ ...one, teamId: id, teamName: name, rank: Math.round(one.score * one.share * 1000) / 1000 });
    await breathe();
  }
  const merged = mergeFound(all);
  const hits = merged.slice(0, limit).map(({ section, words, teamId, teamName, rank }): ContextHit => {
    const { text, linesBefore } = sliceOf(section.text, words);
    return {
      filePath: section.path,
      snippet: text,
      kind: section.kind,
      rank,
      repoKey: section.repoKey === "" ? null : section.repoKey,
      teamId,
      teamName,
      heading: section.heading,
      line: section.line + linesBefore,
    };
  });
  return { query: searchTerms(question), total: merged.length, hits };
}
