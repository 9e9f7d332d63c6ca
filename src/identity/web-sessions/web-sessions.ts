/**
 * Web sessions: who is signed in to the dashboard, with what browser, and the team they look at.
 * Not here: how somebody signs in (sign-in), what ends a person's sessions besides themselves (sign-in).
 */

import type { Core } from "../../core.ts";
import { quotaKey } from "../../kit/address.ts";
import { DAY_MS } from "../../kit/clock.ts";
import { MAX_ERASED_ROWS } from "../../kit/erase-steps.ts";
import { newId } from "../../kit/ids.ts";
import { fail, notFound, unauthorized } from "../../kit/problem.ts";
import { isWellFormedToken, newToken, tokenDigest } from "../../kit/tokens.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { noteUse } from "../../platform/http/note-use.ts";
import type { SessionPrincipal } from "../../platform/http/page.ts";
import { type Membership, membershipsOf } from "../members/members.ts";
import { findUser } from "../people/people.ts";
import { demandsSecondFactor } from "../teams/teams.ts";
import { rows, type SessionRow } from "./rows.ts";

/** Even a busy sign-in ends after this long. */
export const SESSION_LIFETIME_MS = 30 * DAY_MS;
/** A sign-in that nobody used for this long ends. */
export const SESSION_IDLE_MS = 7 * DAY_MS;

/** Where a request came from, for the person to recognise it by. */
export interface Origin {
  readonly ip: string;
  readonly userAgent: string | null;
}

/** How somebody signed in. */
export interface SessionStart {
  /** A sign-in of this browser to end, of whatever person: the token is never carried over. */
  readonly previousId?: string | undefined;
  /** The name of the issuer of single sign-on, or `proxy`. */
  readonly method?: string;
  /** How long it lasts at most; 30 days by default. */
  readonly lifetimeMs?: number;
  /** Whether the person proved a second factor. */
  readonly secondFactor?: boolean;
}

/**
 * Begins a sign-in; call inside a transaction.
 * @returns the token for the cookie; only its SHA-256 is stored
 */
export function storeSession(
  core: Core,
  userId: string,
  origin: Origin,
  { previousId, method, lifetimeMs = SESSION_LIFETIME_MS, secondFactor = false }: SessionStart = {},
): { readonly token: string; readonly id: string } {
  const now = core.clock.now();
  if (previousId !== undefined) rows(core.store).endOne.run(now, previousId);
  const token = newToken("rks", core.random);
  const id = newId("ses", core.clock, core.random);
  const team = teamShown(membershipsOf(core, userId), rows(core.store).lastTeam.get(userId));
  rows(core.store).insert.run({
    ...origin,
    id,
    tokenHash: tokenDigest(token),
    userId,
    teamId: team?.id ?? null,
    createdAt: now,
    lastSeenAt: now,
    expiresAt: now + lifetimeMs,
    method: method ?? null,
    secondFactorAt: secondFactor ? now : null,
  });
  return { token, id };
}

/** The principal of a session token; undefined when it is nobody's, ended, expired, or its person's account is closed. */
export function findSession(core: Core, token: string): SessionPrincipal | undefined {
  if (!isWellFormedToken(token, "rks")) return undefined;
  const session = rows(core.store).byToken.get(tokenDigest(token));
  const now = core.clock.now();
  if (!session || session.endedAt !== null) return undefined;
  // One that lasts for longer than any was begun by a clock that was ahead.
  const left = session.expiresAt - now;
  if (left <= 0 || left > 2 * SESSION_LIFETIME_MS || session.lastSeenAt + SESSION_IDLE_MS <= now) return undefined;
  const user = findUser(core, session.userId);
  if (user?.disabledAt !== null) return undefined;
  const teams = membershipsOf(core, user.id);
  // With single sign-on, the issuer demands the second factor.
  const unproven = session.secondFactorAt === null && session.method === null;
  return {
    sessionId: session.id,
    userId: user.id,
    email: user.email,
    name: user.name,
    operator: user.operator === 1,
    team: teamShown(teams, session.teamId) ?? null,
    teams,
    lastSeenAt: session.lastSeenAt,
    method: session.method,
    lacksSecondFactor:
      unproven &&
      demandsSecondFactor(
        core,
        teams.map(({ id }) => id),
      ),
  };
}

/** The team to show: another one, or none, after the person left the one they were looking at. */
const teamShown = (teams: readonly Membership[], teamId: string | null | undefined): Membership | undefined =>
  teams.find(({ id }) => id === teamId) ?? teams[0];

/** When a person was last heard of in the dashboard; null for never. */
export const lastSeenAt = (core: Core, userId: string): number | null => rows(core.store).lastSeen.get(userId) ?? null;

/**
 * Whether a person signed in from an address before; for IPv6, from its network, within which devices change their address daily (RFC
 * 8981).
 */
export function isKnownAddress(core: Core, userId: string, ip: string): boolean {
  const here = quotaKey(ip);
  return rows(core.store)
    .addresses.all(userId)
    .some((one) => one === ip || quotaKey(one) === here);
}

export const touchSession = (core: Core, session: SessionPrincipal, ip: string): Promise<void> =>
  noteUse(core, session.lastSeenAt, (now) => rows(core.store).touch.run(now, ip, session.sessionId));

/** Shows another of the person's teams from now on. @throws Problem when they are not in it */
export async function switchTeam(core: Core, session: SessionPrincipal, teamId: string): Promise<void> {
  if (!session.teams.some((team) => team.id === teamId)) fail(notFound, "You are not in this team.");
  await core.store.write(() => rows(core.store).setTeam.run(teamId, session.sessionId));
}

/** The sign-ins of a person that still work, newest use first. */
export function listSessions(core: Core, userId: string): SessionRow[] {
  const now = core.clock.now();
  return rows(core.store).live.all(userId, now, now - SESSION_IDLE_MS);
}

/** All sign-ins of a person, those that ended included, the first one first. */
export const everySession = (core: Core, userId: string): SessionRow[] => rows(core.store).every.all(userId);

/**
 * Demands that a sign-in has not ended; call inside the transaction of what is done in it.
 * @throws Problem 401 when it has, e.g. by a new password
 */
export function requireLive(core: Core, userId: string, sessionId: string): void {
  if (!listSessions(core, userId).some(({ id }) => id === sessionId))
    fail(unauthorized, "You were signed out meanwhile. Sign in again.");
}

/** Ends one of a person's own sign-ins. @returns false when it had ended before, or is not theirs */
export function endSession(core: Core, userId: string, sessionId: string, by: Actor): Promise<boolean> {
  return core.store.write(() => {
    if (rows(core.store).end.run(core.clock.now(), sessionId, userId).changes === 0) return false;
    recordEvent(core, by, { action: "session.ended", teamId: null, target: { kind: "session", id: sessionId } });
    return true;
  });
}

/** Ends all sign-ins of a person but one; call inside a transaction. @returns how many */
export function endSessionsOf(core: Core, userId: string, exceptId = ""): number {
  return rows(core.store).endAll.run(core.clock.now(), userId, exceptId).changes;
}

/** Notes that a person proved a second factor in a sign-in; call inside a transaction. */
export function markSecondFactor(core: Core, sessionId: string): void {
  rows(core.store).setSecondFactor.run(core.clock.now(), sessionId);
}

/** Forgets proved second factors of a person who has none left; call inside a transaction. */
export function forgetSecondFactor(core: Core, userId: string): void {
  rows(core.store).forgetSecondFactor.run(userId);
}

/** Ends all sign-ins by an issuer, or a person's; call inside a transaction. */
export function endSessionsBy(core: Core, method: string, userId?: string): void {
  const { endAllBy, endOfBy } = rows(core.store);
  if (userId === undefined) endAllBy.run(core.clock.now(), method);
  else endOfBy.run(core.clock.now(), method, userId);
}

/** Signs a person out everywhere but in one browser. */
export async function signOutEverywhere(core: Core, userId: string, by: Actor, keepSessionId: string): Promise<void> {
  await core.store.write(() => {
    const count = endSessionsOf(core, userId, keepSessionId);
    if (count > 0) recordEvent(core, by, { action: "session.ended_all", teamId: null, detail: { count } });
  });
}

/** The actor of what a person does in the dashboard. */
export const actorOf = (session: SessionPrincipal, ip: string): Actor => ({
  kind: "user",
  id: session.userId,
  label: session.email,
  ip,
});

/** Row change: removes a person's sign-ins, also working ones. @returns how many went; none once all are gone */
export const eraseSessionsOf = (core: Core, userId: string): number =>
  rows(core.store).drop.run(userId, MAX_ERASED_ROWS).changes;

/** Row change: removes a person's ended sign-ins that were last used before an instant. @returns how many went */
export const eraseOldSessions = (core: Core, userId: string, until: number): number =>
  rows(core.store).dropOld.run({ userId, until, now: core.clock.now(), limit: MAX_ERASED_ROWS }).changes;
