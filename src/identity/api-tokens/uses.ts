import type { Core } from "../../core.ts";
import { dayNumber } from "../../kit/clock.ts";
import { fail, unauthorized } from "../../kit/problem.ts";
import { rows } from "./rows.ts";
import type { ApiPrincipal } from "./tokens.ts";

/** Days for which the uses of a token are kept. */
const KEPT_DAYS = 400;

/**
 * Counts a read by an API token. What was read may be shown once this has resolved. Reads are counted by day and operation, while questions
 * of people are written down: programs that page ask thousands of times a day.
 * @param operation the endpoint's id
 * @throws Problem unauthorized when the token was revoked while it was reading
 */
export async function recordApiRead(core: Core, { tokenId }: ApiPrincipal, operation: string): Promise<void> {
  await core.store.write(() => {
    const sql = rows(core.store);
    const now = core.clock.now();
    if (sql.touch.run(now, tokenId).changes === 0) fail(unauthorized, "The bearer token is not valid.");
    if (sql.countRead.get(tokenId, dayNumber(now), operation) === 1)
      sql.dropDaysBefore.run(tokenId, dayNumber(now) - KEPT_DAYS);
  });
}

/** How often a token was used today, and in the last 30 days, today included, by operation. */
export function apiReads(core: Core, tokenId: string) {
  const today = dayNumber(core.clock.now());
  const month: Record<string, number> = {};
  let ofToday = 0;
  for (const { day, operation, reads } of rows(core.store).readsSince.all(tokenId, today - 29)) {
    month[operation] = (month[operation] ?? 0) + reads;
    if (day === today) ofToday += reads;
  }
  return { today: ofToday, month };
}
