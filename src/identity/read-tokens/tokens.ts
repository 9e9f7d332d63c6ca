import type { Core } from "../../core.ts";
import { DAY_MS, MINUTE_MS } from "../../kit/clock.ts";
import { MAX_ERASED_ROWS } from "../../kit/erase-steps.ts";
import { newId } from "../../kit/ids.ts";
import { conflict, fail, invalid, notFound } from "../../kit/problem.ts";
import { readName } from "../../kit/read-name.ts";
import { isWellFormedToken, newToken, tokenDigest } from "../../kit/tokens.ts";
import { type Actor, type Event, recordEvent } from "../../platform/audit/audit.ts";
import { credential } from "../../platform/http/credential.ts";
import { redactText } from "../../redact/redact.ts";
import { membershipsOf } from "../members/members.ts";
import { findUser, getUser } from "../people/people.ts";
import { rows, type TokenRow } from "./rows.ts";
import { type ReadScope, readScope } from "./scope.ts";

const DEFAULT_LIFETIME_MS = 90 * DAY_MS;
const MAX_LIFETIME_MS = 365 * DAY_MS;
const MAX_NAME_CHARS = 100;
/** Working tokens of one person at most. */
const MAX_LIVE = 100;

/** An integration that reads a person's brain, by its read token. */
export interface ReadPrincipal {
  readonly tokenId: string;
  readonly userId: string;
  readonly scope: ReadScope;
}

export interface NewReadToken {
  readonly userId: string;
  /** What its owner will recognise it by. */
  readonly name: string;
  /** Lists left out do not narrow. */
  readonly scope?: Partial<ReadScope>;
  /** A minute to a year; 90 days when null or left out. No read token works for ever. */
  readonly lifetimeMs?: number | null;
}

export interface IssuedReadToken {
  readonly id: string;
  /** Shown once; only its SHA-256 is stored. */
  readonly token: string;
  readonly scope: ReadScope;
  readonly expiresAt: number;
}

/**
 * Makes a read token for a person.
 * @throws Problem when the account is closed, or the name, the lifetime or the scope will not do
 */
export async function createReadToken(core: Core, request: NewReadToken, by: Actor): Promise<IssuedReadToken> {
  const name = redactText(readName(request.name, "A read token's", MAX_NAME_CHARS)).text;
  const lifetimeMs = request.lifetimeMs ?? DEFAULT_LIFETIME_MS;
  if (!(lifetimeMs >= MINUTE_MS && lifetimeMs <= MAX_LIFETIME_MS))
    fail(invalid, "A read token works for a minute at least and 365 days at most.");
  const token = newToken("rkr", core.random);
  const id = newId("rtk", core.clock, core.random);
  return core.store.write(() => {
    const now = core.clock.now();
    const owner = getUser(core, request.userId);
    if (owner.disabledAt !== null) fail(conflict, `The account of ${owner.email} is closed.`);
    if ((rows(core.store).liveCount.get(owner.id, now) ?? 0) >= MAX_LIVE)
      fail(conflict, `There are ${MAX_LIVE} read tokens that work: revoke one first.`);
    const teams = membershipsOf(core, owner.id).map(({ id }) => id);
    const scope = readScope(request.scope ?? {}, teams);
    const expiresAt = now + Math.round(lifetimeMs);
    rows(core.store).insertToken.run(id, tokenDigest(token), owner.id, name, JSON.stringify(scope), now, expiresAt);
    recordInTeams(core, by, owner.id, scope, {
      action: "read_token.created",
      target: { kind: "read_token", id, label: name },
      detail: { owner: owner.email, expiresAt },
    });
    return { id, token, scope, expiresAt };
  });
}

/**
 * Records an event in the audit of every team whose brain a token may read, since its owners answer for who reads it. With several teams,
 * none sees the names of the others and of their repositories.
 */
function recordInTeams(core: Core, by: Actor, userId: string, scope: ReadScope, event: Omit<Event, "teamId">): void {
  const own = membershipsOf(core, userId).map(({ id }) => id);
  const reached = own.filter((teamId) => scope.teams.length === 0 || scope.teams.includes(teamId));
  const shown = reached.length > 1 ? { paths: scope.paths, kinds: scope.kinds } : scope;
  for (const teamId of reached.length > 0 ? reached : [null])
    recordEvent(core, by, { ...event, teamId, detail: { ...event.detail, scope: shown } });
}

/** A read token as its owner sees it. */
export interface ReadTokenFacts extends Omit<TokenRow, "scope"> {
  readonly scope: ReadScope;
  readonly status: "active" | "expired" | "revoked";
}

function factsOf(core: Core, row: TokenRow): ReadTokenFacts {
  const status = row.expiresAt !== null && row.expiresAt <= core.clock.now() ? "expired" : "active";
  const scope = JSON.parse(row.scope) as ReadScope;
  return { ...row, scope, status: row.revokedAt === null ? status : "revoked" };
}

/**
 * The principal of a read token; undefined when it is nobody's, expired or revoked, or its owner's account is closed. The form and check
 * characters are tried first, so that guesses and other kinds of tokens cost no query; the look-up is by SHA-256, so its timing tells
 * nothing of stored tokens.
 */
export function findReader(core: Core, token: string): ReadPrincipal | undefined {
  if (!isWellFormedToken(token, "rkr")) return undefined;
  const row = rows(core.store).byToken.get(tokenDigest(token));
  if (!row || factsOf(core, row).status !== "active") return undefined;
  if (findUser(core, row.userId)?.disabledAt !== null) return undefined;
  return { tokenId: row.id, userId: row.userId, scope: JSON.parse(row.scope) as ReadScope };
}

/** Notes that a token is used; call inside a transaction. @returns false when it was revoked */
export const touchReadToken = (core: Core, tokenId: string): boolean =>
  rows(core.store).touch.run(core.clock.now(), tokenId).changes > 0;

/** A person's read tokens, whatever their state, newest first. */
export function listReadTokens(core: Core, userId: string): ReadTokenFacts[] {
  return rows(core.store)
    .tokensOf.all(userId)
    .map((row) => factsOf(core, row));
}

/** Everybody's read tokens, newest first; for the command line. */
export function listAllReadTokens(core: Core): ReadTokenFacts[] {
  return rows(core.store)
    .tokens.all()
    .map((row) => factsOf(core, row));
}

/**
 * Ends one of a person's own read tokens.
 * @returns false when it was revoked before
 * @throws Problem (404) when it is not theirs
 */
export function revokeReadToken(core: Core, userId: string, id: string, by: Actor): Promise<boolean> {
  return core.store.write(() => revokeRow(core, id, userId, by));
}

/** Ends anybody's read token; for the command line. @throws Problem (404) when there is none */
export function revokeAnyReadToken(core: Core, id: string, by: Actor): Promise<boolean> {
  return core.store.write(() => revokeRow(core, id, undefined, by));
}

/** Ends all of a person's read tokens that work; call inside a transaction. */
export function endReadTokens(core: Core, userId: string, by: Actor): void {
  for (const { id, status } of listReadTokens(core, userId)) if (status === "active") revokeRow(core, id, userId, by);
}

function revokeRow(core: Core, id: string, userId: string | undefined, by: Actor): boolean {
  const now = core.clock.now();
  const row = rows(core.store).token.get(id);
  if (!row || (userId !== undefined && row.userId !== userId)) fail(notFound, "There is no such read token.");
  if (rows(core.store).revoke.run(now, id).changes === 0) return false;
  recordInTeams(core, by, row.userId, JSON.parse(row.scope) as ReadScope, {
    action: "read_token.revoked",
    target: { kind: "read_token", id, label: row.name },
    detail: { owner: getUser(core, row.userId).email },
  });
  return true;
}

/** A person's read token. */
export const readToken = credential({
  id: "read",
  openapi: {
    name: "readToken",
    description:
      "Personal, scoped and revocable token that reads the brain; minted in the dashboard under Read tokens.",
  },
  find: findReader,
  sender: ({ tokenId, userId }) => ({ credential: tokenId, team: userId }),
});

/** Row change: revokes a person's tokens, and erases all of them but their ids. @returns how many changed */
export const eraseReadTokens = (core: Core, userId: string): number =>
  rows(core.store).erase.run({ userId, now: core.clock.now(), limit: MAX_ERASED_ROWS }).changes;
