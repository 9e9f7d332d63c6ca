import type { Core } from "../../core.ts";
import { DAY_MS, isoDate } from "../../kit/clock.ts";
import { factRows } from "./fact-rows.ts";
import type { DefectRow } from "./rows.ts";

const FIRST = "0001-01-01";
const LAST = "9999-12-31";
const textOf = (day: number) => {
  const at = day * DAY_MS;
  if (at < Date.parse(FIRST)) return FIRST;
  return at > Date.parse(LAST) ? LAST : isoDate(at);
};

/** The first day from one on, in days since the epoch, on which entries of a team's current brains are dated. */
function nextDay(core: Core, teamId: string, from: number): number | undefined {
  const date = factRows(core.store).nextDate.get(teamId, textOf(from));
  return date ? Date.parse(date) / DAY_MS : undefined;
}

/**
 * Entries of all kinds dated on some days, in an order that stays. They are as fresh as `entriesProjection`.
 * @param days the first and the last, in days since the epoch
 * @param after the last of those that were read before
 */
function page(
  core: Core,
  teamId: string,
  { first, last }: { readonly first: number; readonly last: number },
  after: DefectRow | undefined,
  count: number,
): DefectRow[] {
  const place = after ?? { date: textOf(first), fingerprint: Buffer.alloc(0), id: 0 };
  const { date, fingerprint, id } = place;
  return factRows(core.store).page.all({ teamId, last: textOf(last), date, fingerprint, id, count });
}

/** The repositories that a team's entries stand in. */
const repoKeys = (core: Core, teamId: string): string[] => factRows(core.store).repoKeys.all(teamId);

/** Which of some numbers are those of a team's entries. */
const among = (core: Core, teamId: string, ids: readonly number[]): Set<number> =>
  new Set(factRows(core.store).among.all(JSON.stringify(ids), teamId));

/** Entries as rows for others to sum, whose sums are those of pages; and what is known of all without their texts. */
export const defectFacts = { nextDay, page, repoKeys, among };
