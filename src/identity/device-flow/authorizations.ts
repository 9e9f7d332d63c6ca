import type { Core } from "../../core.ts";
import { MINUTE_MS } from "../../kit/clock.ts";
import { conflict, fail, gone, notFound } from "../../kit/problem.ts";
import type { Random } from "../../kit/random.ts";
import { tokenDigest } from "../../kit/tokens.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { findUser } from "../people/people.ts";
import { tooManyWaiting } from "./faults.ts";
import { makeRoom } from "./make-room.ts";
import { type AuthorizationRow, type Channel, rows } from "./rows.ts";

export const CODE_LIFETIME_MS = 15 * MINUTE_MS;
/** An expired authorization stays this much longer, so that its tool is told that it expired and not that it never existed. */
const KEPT_AFTER_MS = 15 * MINUTE_MS;
/** Authorizations held at most, in whatever state; and how many stay when room is made, so that this happens seldom. */
const MAX_AUTHORIZATIONS = 50_000;
const KEPT_AUTHORIZATIONS = 45_000;
const DEVICE_CODE_BYTES = 32;

/** Where a tool's request came from, by which the person can recognise it. */
export interface Requester {
  readonly channel: Channel | null;
  readonly ip: string;
  readonly userAgent: string | null;
}

/** A tool that waits for a person's answer. */
export interface Authorization extends Requester {
  /** As it is shown: `XXXX-XXXX`. */
  readonly userCode: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface Started {
  /** The tool's secret (256 bits); only its SHA-256 is stored. */
  readonly deviceCode: string;
  readonly userCode: string;
}

/**
 * Begins an authorization (RFC 8628 section 3.1), and clears away some that expired long ago.
 * @throws Problem tooManyWaiting (503) when as many as may be are held already, and none that nobody answered can go
 */
export async function startAuthorization(core: Core, from: Requester): Promise<Started> {
  if (isFull(core)) await makeRoom(core, KEPT_AUTHORIZATIONS);
  const deviceCode = core.random(DEVICE_CODE_BYTES).toString("base64url");
  const hash = tokenDigest(deviceCode);
  return core.store.write(() => {
    const now = core.clock.now();
    rows(core.store).removeExpired.run(now - KEPT_AFTER_MS);
    if (isFull(core)) fail(tooManyWaiting, { retryAfterSeconds: 60 });
    let userCode = newUserCode(core.random);
    // With 50,000 codes of 20^8 a second try is rare, and a third is not to be expected in a lifetime.
    while (rows(core.store).pending.get(userCode)) userCode = newUserCode(core.random);
    rows(core.store).insertAuthorization.run({
      ...from,
      hash,
      userCode,
      createdAt: now,
      expiresAt: now + CODE_LIFETIME_MS,
    });
    return { deviceCode, userCode };
  });
}

const isFull = (core: Core): boolean => (rows(core.store).count.get() ?? 0) >= MAX_AUTHORIZATIONS;

const shownOf = ({ userCode, channel, ip, userAgent, createdAt, expiresAt }: AuthorizationRow): Authorization => ({
  userCode,
  channel,
  ip,
  userAgent,
  createdAt,
  expiresAt,
});

/**
 * The tool that waits under a user code, however it was typed.
 * @throws Problem 404 for an unknown code, 409 for one that was answered before, 410 for an expired one
 */
export const getAuthorization = (core: Core, typedUserCode: string): Authorization =>
  shownOf(getPending(core, typedUserCode));

/** The tools that wait for an answer, the newest first; 200 at most. */
export function listAuthorizations(core: Core): Authorization[] {
  return rows(core.store).waiting.all(core.clock.now()).map(shownOf);
}

/**
 * Answers a waiting tool, once: of parallel answers the first counts.
 * @param user who signs in with the tool; may be null only for a denial
 * @param by who answers
 * @throws Problem 404 for an unknown code, 409 for one that was answered before or a closed account, 410 for an expired one
 */
export function decideAuthorization(
  core: Core,
  typedUserCode: string,
  decision: "approved" | "denied",
  user: { readonly id: string; readonly email: string } | null,
  by: Actor,
): Promise<Authorization> {
  return core.store.write(() => {
    const now = core.clock.now();
    const row = getPending(core, typedUserCode);
    if (decision === "approved") requireOpenAccount(core, user);
    const { userCode, channel, ip, userAgent } = row;
    rows(core.store).decide.run(decision, user?.id ?? null, now, userCode, now);
    recordEvent(core, by, {
      action: `cli_authorization.${decision}`,
      teamId: null,
      target: { kind: "cli_authorization", id: userCode, label: user?.email ?? null },
      detail: { channel, ip, userAgent },
    });
    return shownOf(row);
  });
}

function getPending(core: Core, typedUserCode: string): AuthorizationRow {
  const userCode = readUserCode(typedUserCode);
  const row = userCode === undefined ? undefined : rows(core.store).pending.get(userCode);
  if (row && row.expiresAt > core.clock.now()) return row;
  if (row) return fail(gone, "This code has expired. Start again in the tool.");
  if (userCode !== undefined && rows(core.store).decided.get(userCode) === 1)
    return fail(conflict, "This code was answered before.");
  return fail(notFound, "No tool waits under this code. Check it, or start again in the tool.");
}

function requireOpenAccount(core: Core, user: { readonly id: string } | null): void {
  const account = user === null ? undefined : findUser(core, user.id);
  if (!account) fail(notFound, "Only a person can approve a sign-in.");
  if (account.disabledAt !== null) fail(conflict, "This account is closed.");
}

/** Letters that make no words and that no one takes for another (RFC 8628 section 6.1). */
const USER_CODE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const USER_CODE_LENGTH = 8;

const grouped = (letters: string) => `${letters.slice(0, 4)}-${letters.slice(4)}`;

/** Makes a user code of 8 letters (34 bits), grouped for reading: `WDJB-MJHT`. */
export function newUserCode(random: Random): string {
  let letters = "";
  while (letters.length < USER_CODE_LENGTH) {
    for (const byte of random(USER_CODE_LENGTH)) {
      // 240 is the largest multiple of 20 in a byte: beyond it the first letters would come up more often.
      if (byte < 240 && letters.length < USER_CODE_LENGTH) letters += USER_CODE_LETTERS[byte % 20];
    }
  }
  return grouped(letters);
}

/**
 * Reads a user code as a person may type it: any case, dashes and spaces anywhere.
 * @returns it as `newUserCode` spells it, or undefined when it cannot be one of ours
 */
export function readUserCode(typed: string): string | undefined {
  if (typed.length > 64) return undefined;
  const letters = typed.replace(/[\s\p{Pd}]/gu, "");
  // Upper case only once the letters are known to be ASCII: elsewhere it changes lengths.
  return /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/i.test(letters) ? grouped(letters.toUpperCase()) : undefined;
}
