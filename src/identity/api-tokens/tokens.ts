import type { Core } from "../../core.ts";
import { DAY_MS, MINUTE_MS } from "../../kit/clock.ts";
import { MAX_ERASED_ROWS } from "../../kit/erase-steps.ts";
import { newId } from "../../kit/ids.ts";
import { conflict, fail, forbidden, invalid, notFound } from "../../kit/problem.ts";
import { readName } from "../../kit/read-name.ts";
import { isWellFormedToken, newToken, tokenDigest } from "../../kit/tokens.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { credential } from "../../platform/http/credential.ts";
import { redactText } from "../../redact/redact.ts";
import { roleIn } from "../members/members.ts";
import { findUser, getUser } from "../people/people.ts";
import { rows, type TokenRow } from "./rows.ts";

const DEFAULT_LIFETIME_MS = 90 * DAY_MS;
/** The longest lifetime in days, by scope. */
export const MAX_LIFETIME_DAYS = { read: 365, admin: 30 } as const;
const MAX_NAME_CHARS = 100;
/** Working tokens of one team, or of the installation, at most. */
const MAX_LIVE = 100;
/** What a token may do. `read`: read what its team's people see. `admin`: also do by remote commands what its owners and admins do. */
export type ApiScope = keyof typeof MAX_LIFETIME_DAYS;

/** A program that reads with an API token. */
export interface ApiPrincipal {
  readonly tokenId: string;
  /** The team that it reads; null for one that may read all of them. */
  readonly teamId: string | null;
  readonly scope: ApiScope;
}

export interface NewApiToken {
  /** The team that it reads; null for all teams. */
  readonly teamId: string | null;
  /** The person who answers for it: it works while they may manage the team, or are an operator. Null when nobody does. */
  readonly userId: string | null;
  /** What it will be recognised by. */
  readonly name: string;
  /** A minute to a year, 90 days when left out. For `admin` up to 30 days, and it may not be left out. */
  readonly lifetimeMs?: number | undefined;
  /** `read` when left out. */
  readonly scope?: ApiScope | undefined;
}

export interface IssuedApiToken {
  readonly id: string;
  /** Shown once; only its SHA-256 is stored. */
  readonly token: string;
  readonly scopes: readonly string[];
  readonly expiresAt: number;
}

/**
 * Makes an API token.
 * @throws Problem when its person may not have it, or the name or the lifetime will not do
 */
export async function createApiToken(
  core: Core,
  { teamId, userId, name: typed, lifetimeMs, scope = "read" }: NewApiToken,
  by: Actor,
): Promise<IssuedApiToken> {
  const name = redactText(readName(typed, "An API token's", MAX_NAME_CHARS)).text;
  const lives = readLifetime(scope, lifetimeMs);
  const scopes: readonly ApiScope[] = scope === "admin" ? ["read", "admin"] : ["read"];
  const token = newToken("rka", core.random);
  const id = newId("atk", core.clock, core.random);
  return core.store.write(() => {
    const now = core.clock.now();
    const owner = userId === null ? null : getUser(core, userId);
    if (owner && owner.disabledAt !== null) fail(conflict, `The account of ${owner.email} is closed.`);
    if (owner && !mayHold(core, owner.id, teamId))
      fail(
        forbidden,
        teamId === null
          ? "Only operators may have an API token for all teams."
          : "Only owners and admins of a team, and operators, may have an API token for it.",
      );
    if ((rows(core.store).liveCount.get(teamId, now) ?? 0) >= MAX_LIVE)
      fail(conflict, `There are ${MAX_LIVE} API tokens that work: revoke one first.`);
    const expiresAt = now + Math.round(lives);
    rows(core.store).insertToken.run(
      ...([id, tokenDigest(token), teamId, owner?.id ?? null, name, JSON.stringify(scopes), now, expiresAt] as const),
    );
    recordEvent(core, by, {
      action: "api_token.created",
      teamId,
      target: { kind: "api_token", id, label: name },
      detail: { owner: owner?.email ?? null, scopes, expiresAt },
    });
    return { id, token, scopes, expiresAt };
  });
}

/** @returns milliseconds @throws Problem */
function readLifetime(scope: ApiScope, lifetimeMs: number | undefined): number {
  const days = MAX_LIFETIME_DAYS[scope];
  const what = scope === "admin" ? "An API token that administers" : "An API token";
  if (scope === "admin" && lifetimeMs === undefined)
    fail(
      invalid,
      `Say for how long it works: ${what.toLowerCase().replace("api", "API")} does so for ${days} days at most.`,
    );
  const lives = lifetimeMs ?? DEFAULT_LIFETIME_MS;
  if (!(lives >= MINUTE_MS && lives <= days * DAY_MS))
    fail(invalid, `${what} works for a minute at least and ${days} days at most.`);
  return lives;
}

/** Whether a person may have a token for a team, or for all teams. */
function mayHold(core: Core, userId: string, teamId: string | null): boolean {
  const user = findUser(core, userId);
  if (user?.disabledAt !== null) return false;
  if (user.operator === 1) return true;
  return teamId !== null && ["owner", "admin"].includes(roleIn(core, teamId, userId) ?? "");
}

/** An API token as lists show it. */
export interface ApiTokenFacts extends Omit<TokenRow, "scopes"> {
  readonly scopes: readonly string[];
  /** `suspended`: the person who answers for it may not have it at the moment. */
  readonly status: "active" | "expired" | "revoked" | "suspended";
}

function factsOf(core: Core, row: TokenRow): ApiTokenFacts {
  return { ...row, scopes: JSON.parse(row.scopes) as string[], status: statusOf(core, row) };
}

function statusOf(core: Core, { revokedAt, expiresAt, userId, teamId }: TokenRow): ApiTokenFacts["status"] {
  if (revokedAt !== null) return "revoked";
  if (expiresAt <= core.clock.now()) return "expired";
  return userId === null || mayHold(core, userId, teamId) ? "active" : "suspended";
}

/**
 * The principal of an API token; undefined when it is nobody's or does not work. The form and check characters are tried first, so that
 * guesses and other kinds of tokens cost no query; the look-up is by SHA-256, so its timing tells nothing of stored tokens.
 */
export function findApiPrincipal(core: Core, token: string): ApiPrincipal | undefined {
  if (!isWellFormedToken(token, "rka")) return undefined;
  const row = rows(core.store).byToken.get(tokenDigest(token));
  if (!row) return undefined;
  const { id: tokenId, teamId, status, scopes } = factsOf(core, row);
  if (status !== "active" || !scopes.includes("read")) return undefined;
  return { tokenId, teamId, scope: scopes.includes("admin") ? "admin" : "read" };
}

/** One of the tokens. @throws Problem */
export function getApiToken(core: Core, id: string): ApiTokenFacts {
  return factsOf(core, rows(core.store).token.get(id) ?? fail(notFound, "There is no such API token."));
}

/** API tokens whatever their state, newest first. @param teamId of one team; of all teams and of the installation when undefined */
export function listApiTokens(core: Core, teamId?: string | null): ApiTokenFacts[] {
  const { tokens, ofTeam } = rows(core.store);
  return (teamId === undefined ? tokens.all() : ofTeam.all(teamId)).map((row) => factsOf(core, row));
}

/** Working API tokens of a team, or of the installation when it is null, that will have expired at an instant. */
export const expiringApiTokens = (core: Core, teamId: string | null, until: number): ApiTokenFacts[] =>
  rows(core.store)
    .expiring.all(teamId, core.clock.now(), until)
    .map((row) => factsOf(core, row))
    .filter(({ status }) => status === "active");

/**
 * Ends an API token.
 * @param teamId the team that it must belong to; any when undefined
 * @returns false when it was revoked before
 * @throws Problem 404 when there is no such token
 */
export function revokeApiToken(core: Core, id: string, by: Actor, teamId?: string): Promise<boolean> {
  return core.store.write(() => {
    const row = rows(core.store).token.get(id);
    if (!row || (teamId !== undefined && row.teamId !== teamId)) fail(notFound, "There is no such API token.");
    return revokeRow(core, row, by);
  });
}

function revokeRow(core: Core, { id, teamId, name }: TokenRow, by: Actor): boolean {
  if (rows(core.store).revoke.run(core.clock.now(), id).changes === 0) return false;
  recordEvent(core, by, {
    action: "api_token.revoked",
    teamId,
    target: { kind: "api_token", id, label: name },
    detail: {},
  });
  return true;
}

/** Ends all API tokens that a person answers for; call inside a transaction. */
export function endApiTokens(core: Core, userId: string, by: Actor): void {
  for (const row of rows(core.store).ofUser.all(userId)) if (row.expiresAt > core.clock.now()) revokeRow(core, row, by);
}

/** A token with which a program reads, or administers. */
export const apiToken = credential({
  id: "api",
  openapi: {
    name: "apiToken",
    description:
      "Token with which a program reads the records of one team, or of all of them, or administers; made on the dashboard or with `reckon api-token create`.",
  },
  find: findApiPrincipal,
  sender: ({ tokenId, teamId }) => ({ credential: tokenId, team: teamId ?? tokenId }),
});

/** The ids of all tokens that a person answers for, revoked ones too. */
export const apiTokenIdsOf = (core: Core, userId: string): string[] =>
  rows(core.store)
    .ofUser.all(userId)
    .map(({ id }) => id);

/** Row change: revokes the tokens that a person answers for, and erases all of them but their ids. @returns how many changed */
export const eraseApiTokens = (core: Core, userId: string): number =>
  rows(core.store).erase.run({ userId, now: core.clock.now(), limit: MAX_ERASED_ROWS }).changes;
