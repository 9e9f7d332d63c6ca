import type { Core } from "../../core.ts";
import { fail, rateLimited, unauthorized } from "../../kit/problem.ts";
import { beginning } from "../../kit/strings.ts";
import type { ReadPrincipal } from "../../platform/http/principal.ts";
import { redactText } from "../../redact/redact.ts";
import { dayOf } from "./daily.ts";
import { rows } from "./rows.ts";

const MAX_QUESTION_CHARS = 256;

interface ReadMade {
  readonly question: string;
  readonly total: number;
  readonly shown: number;
  readonly ip: string;
}

/**
 * Counts a read against its token's day and records it for the token's owner, in one transaction; what was found may be shown
 * once this has resolved.
 * @throws Problem rateLimited when the day's reads are used up, unauthorized when the token was revoked while it was asking
 */
export async function recordRead(core: Core, { tokenId, userId }: ReadPrincipal, read: ReadMade): Promise<void> {
  // Redacted before it is cut: half a secret is not recognised.
  const question = beginning(redactText(read.question.toWellFormed()).text, MAX_QUESTION_CHARS);
  await core.store.write(() => {
    const sql = rows(core.store);
    const now = core.clock.now();
    const day = dayOf(now);
    if (sql.touch.run(now, tokenId).changes === 0) fail(unauthorized, "The bearer token is not valid.");
    // The first of parallel reads to get here count; nothing changes once the cap is reached.
    const reads = sql.countRead.get(tokenId, day, core.config.limitReadDaily);
    if (reads === undefined) fail(rateLimited);
    if (reads === 1) sql.dropDaysBefore.run(tokenId, day);
    sql.insertRead.run(tokenId, userId, now, question, read.total, read.shown, read.ip);
  });
}
