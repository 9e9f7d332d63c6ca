import { sumRepos } from "../../../../insight/sessions/sessions.ts";
import { spendReportInSlices } from "../../../../insight/spend/spend.ts";
import { openErrors } from "../../../../insight/triage/triage.ts";
import { DAY_MS, dayNumber, isoDate } from "../../../../kit/clock.ts";
import { shareOf } from "../sessions/labels.ts";
import type { Member } from "../shared/call.ts";
import { link, repoValue } from "../shared/links.ts";
import { reposTold } from "../shared/repositories.ts";

/** The figures of each repository of a team. */

/** Figures are of these days, the day of today included. */
export const SHOWN_DAYS = 30;

/** The first instant of those days. */
export const firstShown = (now: number): number => (dayNumber(now) - SHOWN_DAYS + 1) * DAY_MS;

/** The address of a repository's sessions of those days. */
export const sessionsShown = (call: Member, repoKey: string): string =>
  link(call, "/sessions", { repo: repoValue(repoKey), from: isoDate(firstShown(call.core.clock.now())) });

export interface RepoFacts {
  readonly repoKey: string;
  readonly sessions: number;
  /** The share that succeeded; null where no session said how it ended. */
  readonly success: number | null;
  readonly usd: number | null;
  readonly unpricedTokens: number;
  /** Errors that are open or came again. */
  readonly open: number;
  /** When the last session of those days began; null where there was none. */
  readonly last: number | null;
}

export const ORDERS = ["name", "sessions", "success", "usd", "open", "last"] as const;
export type OrderBy = (typeof ORDERS)[number];

/** All repositories that anything was sent of. */
export async function repoFacts({ core, session }: Member): Promise<RepoFacts[]> {
  const team = session.team.id;
  const now = core.clock.now();
  const sums = new Map((await sumRepos(core, team, firstShown(now))).map((one) => [one.repoKey, one]));
  const { groups } = await spendReportInSlices(core, team, { from: firstShown(now), to: now, by: "repo" });
  const spent = new Map(groups.map((group) => [group.key, group]));
  const errors = await openErrors.byRepo(core, team);
  const keys = new Set([...reposTold(core, team), ...sums.keys(), ...spent.keys()]);
  return Array.from(keys, (repoKey) => {
    const sum = sums.get(repoKey);
    return {
      ...{ repoKey, sessions: sum?.sessions ?? 0, last: sum?.lastAt ?? null },
      success: sum ? shareOf(sum) : null,
      usd: spent.get(repoKey)?.usd ?? null,
      unpricedTokens: spent.get(repoKey)?.unpricedTokens ?? 0,
      open: errors.get(repoKey) ?? 0,
    };
  });
}
