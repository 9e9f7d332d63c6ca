import type { Core } from "../../core.ts";
import type { ReadPrincipal } from "../../identity/read-tokens/read-tokens.ts";
import { listReadTokens, touchReadToken } from "../../identity/read-tokens/read-tokens.ts";
import type { Decision } from "../../kit/buckets.ts";
import { DAY_MS, dayNumber, SECOND_MS } from "../../kit/clock.ts";
import { MAX_ERASED_ROWS } from "../../kit/erase-steps.ts";
import { fail, rateLimited, unauthorized } from "../../kit/problem.ts";
import { beginning } from "../../kit/strings.ts";
import type { Limit } from "../../platform/http/endpoint.ts";
import { redactText } from "../../redact/redact.ts";
import { type ReadRow, rows } from "./rows.ts";

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
    const day = dayNumber(now);
    if (!touchReadToken(core, tokenId)) fail(unauthorized, "The bearer token is not valid.");
    // The first of parallel reads to get here count; nothing changes once the cap is reached.
    const reads = sql.countRead.get(tokenId, day, core.config.limitReadDaily);
    if (reads === undefined) fail(rateLimited);
    if (reads === 1) sql.dropDaysBefore.run(tokenId, day);
    sql.insertRead.run(tokenId, userId, now, question, read.total, read.shown, read.ip);
  });
}

/**
 * What is left of a daily cap. Unlike a bucket, which refills all the time, it is whole again at midnight UTC.
 * @param used reads already counted today
 * @param now wall-clock milliseconds
 */
export function judgeDay(used: number, cap: number, now: number): Decision {
  const untilMidnight = Math.max(1, Math.ceil(((dayNumber(now) + 1) * DAY_MS - now) / SECOND_MS));
  const allowed = used < cap;
  return {
    allowed,
    limit: cap,
    remaining: Math.max(0, cap - used),
    resetSeconds: untilMidnight,
    retryAfterSeconds: allowed ? 0 : untilMidnight,
  };
}

/** How often a token was used today. */
export const readsToday = (core: Core, tokenId: string): number =>
  rows(core.store).readsOn.get(tokenId, dayNumber(core.clock.now())) ?? 0;

/** What a token may ask: in a minute, and in a day. */
export const READ_LIMITS: readonly Limit[] = [
  { name: "read", quota: (config) => config.limitRead, per: "token", headers: "limited" },
  {
    name: "read-daily",
    quota: (config) => ({ count: config.limitReadDaily, seconds: DAY_MS / SECOND_MS }),
    per: "token",
    headers: "limited",
    stored: (core, tokenId) => judgeDay(readsToday(core, tokenId), core.config.limitReadDaily, core.clock.now()),
  },
];

/** A read, for the token's owner. */
interface Read extends ReadRow {
  readonly tokenName: string;
}

const DEFAULT_PAGE = 50;
const MAX_PAGE = 200;

export interface ReadFilter {
  /** One of the person's tokens; all of them when left out. */
  readonly tokenId?: string | undefined;
  /** Only what is older than this read. */
  readonly beforeId?: number | undefined;
  /** Rows of the page; 50 by default, 200 at most. */
  readonly limit?: number | undefined;
}

export interface ReadPage {
  readonly rows: readonly Read[];
  /** What to ask before for the next page; undefined when this is the last. */
  readonly older: number | undefined;
}

/** What a person's read tokens were used for, newest first. */
export function listReads(core: Core, userId: string, filter: ReadFilter = {}): ReadPage {
  const { tokenId, beforeId = Number.MAX_SAFE_INTEGER, limit = DEFAULT_PAGE } = filter;
  const max = Math.min(Math.max(1, Math.trunc(limit)), MAX_PAGE);
  const reads =
    tokenId === undefined
      ? rows(core.store).reads.all(userId, beforeId, max + 1)
      : rows(core.store).readsOfToken.all(tokenId, userId, beforeId, max + 1);
  const names = new Map(listReadTokens(core, userId).map(({ id, name }) => [id, name]));
  const page = reads.slice(0, max).map((read) => ({ ...read, tokenName: names.get(read.tokenId) ?? read.tokenId }));
  return { rows: page, older: reads.length > max ? page.at(-1)?.id : undefined };
}

/** Row change: what a person asked, and from where; that they read, and how much, stays. @returns how many rows changed */
export const eraseReads = (core: Core, userId: string): number =>
  rows(core.store).erase.run(userId, MAX_ERASED_ROWS).changes;

/** Row change: a person's reads up to an instant. @returns how many went */
export const eraseOldReads = (core: Core, userId: string, until: number): number =>
  rows(core.store).dropOld.run(userId, until, MAX_ERASED_ROWS).changes;
