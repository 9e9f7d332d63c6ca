import type { Core } from "../../core.ts";
import type { ErasedPerson } from "../../identity/people/people.ts";
import { MAX_ERASED_ROWS } from "../../kit/erase-steps.ts";
import { keysetPage, type Page } from "../../kit/page.ts";
import { fail, notFound } from "../../kit/problem.ts";
import type { Actor } from "../../platform/audit/audit.ts";
import { comparePolicies, type PolicyChange } from "./changes.ts";
import { DEFAULT_POLICY, type Policy } from "./document.ts";
import { DEFAULT_VERSION, type PolicyVersion, setPolicy, versionOf } from "./policies.ts";
import { type HistoryRow, rows } from "./rows.ts";

/** A version and what it changed. */
export interface PolicyEntry extends PolicyVersion {
  readonly change: PolicyChange;
}

/** The policies a team had, newest first, by pages. @param cursor of an earlier page; anything else asks for the first */
export function listPolicies(core: Core, teamId: string, cursor: string | undefined, limit: number): Page<PolicyEntry> {
  const { older, newer } = rows(core.store);
  const page = keysetPage<HistoryRow>({
    cursor,
    limit,
    parts: 1,
    keyOf: ({ id }) => [id],
    read: (towards, key, count) =>
      (towards === "older" ? older : newer).all(teamId, key?.[0] ?? Number.MAX_SAFE_INTEGER, count),
  });
  return { ...page, rows: page.rows.map((row) => entryOf(core, row)) };
}

function entryOf(core: Core, { before, ...row }: HistoryRow): PolicyEntry {
  const version = versionOf(core, row);
  const earlier = before === null ? DEFAULT_POLICY : (JSON.parse(before) as Policy);
  return { ...version, change: comparePolicies(earlier, version.policy) };
}

/** A version of a team's policy; 0 names the default. @returns undefined when the team has no such version */
function findPolicy(core: Core, teamId: string, id: number): PolicyVersion | undefined {
  if (id === 0) return DEFAULT_VERSION;
  const row = Number.isSafeInteger(id) ? rows(core.store).version.get(teamId, id) : undefined;
  return row && versionOf(core, row);
}

/**
 * Puts an earlier policy of a team in force again.
 * @param basedOn the version in force when the person decided
 * @returns false when it is in force already
 * @throws Problem 404 when the team has no such version; NewerPolicy
 */
export async function restorePolicy(
  core: Core,
  teamId: string,
  id: number,
  by: Actor,
  basedOn: number,
): Promise<boolean> {
  const version = findPolicy(core, teamId, id);
  if (!version) fail(notFound, "This team has no such version of its policy.");
  return setPolicy(core, teamId, version.policy, by, { basedOn, restores: id });
}

/** Row change: a person's name in the policies that they put in force. @returns how many changed */
export const eraseMakerOfPolicies = (core: Core, { email, mark }: ErasedPerson): number =>
  rows(core.store).renameMaker.run({ email, mark, limit: MAX_ERASED_ROWS }).changes;
