import type { Core } from "../../core.ts";
import { base32, newId } from "../../kit/ids.ts";
import { conflict, fail, forbidden, invalid, notFound } from "../../kit/problem.ts";
import { hasControls } from "../../kit/strings.ts";
import { tokenDigest } from "../../kit/tokens.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { getUser } from "../people/people.ts";
import { endSessionsOf, forgetSecondFactor, markSecondFactor, requireLive } from "../web-sessions/web-sessions.ts";
import { newChallenge, openPending, sealPending, takeChallenge } from "./challenges.ts";
import { type FactorRow, rows } from "./rows.ts";
import { base32Of, otpauthUri, SECRET_BYTES, stepOf } from "./totp.ts";
import { type Registration, type RelyingParty, verifyRegistration } from "./webauthn.ts";

/** A second factor as its person sees it. */
export type Factor = Pick<FactorRow, "id" | "kind" | "name" | "createdAt" | "lastUsedAt">;

const MAX_FACTORS = 20;
const MAX_NAME_CHARS = 60;
const RECOVERY_CODES = 10;
/** Characters of a recovery code: 120 bits, so that an unsalted digest of it is safe (OWASP ASVS 5.0, 6.5.2). */
const CODE_CHARS = 24;

/** The second factors of a person, the oldest first. */
export const listFactors = (core: Core, userId: string): Factor[] =>
  rows(core.store)
    .ofUser.all(userId)
    .map(({ id, kind, name, createdAt, lastUsedAt }) => ({ id, kind, name, createdAt, lastUsedAt }));

export const hasFactor = (core: Core, userId: string): boolean => rows(core.store).ofUser.all(userId).length > 0;

/** How many recovery codes of a person still work. */
export const recoveryCodesLeft = (core: Core, userId: string): number => rows(core.store).codesLeft.get(userId) ?? 0;

/** Values for setting up an authenticator app; nothing is stored until it has shown a code. */
export interface NewApp {
  /** To be typed. */
  readonly secret: string;
  /** To be shown as a picture. */
  readonly uri: string;
  /** For the form that brings the first code back. */
  readonly sealed: string;
}

/** @param issuer what the app will call this installation */
export function beginApp(core: Core, userId: string, issuer: string): NewApp {
  const secret = core.random(SECRET_BYTES);
  const { email } = getUser(core, userId);
  return {
    secret: base32Of(secret),
    uri: otpauthUri(secret, issuer, email),
    sealed: sealPending(core, `app ${userId}`, secret.toString("base64")),
  };
}

/** The values for the same app again, after a wrong code. */
export function sameApp(core: Core, userId: string, issuer: string, sealed: string): NewApp | undefined {
  const stored = openPending<string>(core, `app ${userId}`, sealed);
  if (stored === undefined) return undefined;
  const secret = Buffer.from(stored, "base64");
  return { secret: base32Of(secret), uri: otpauthUri(secret, issuer, getUser(core, userId).email), sealed };
}

/**
 * Adds an authenticator app by its first code. A person's first second factor ends all of their other sign-ins.
 * @param sessionId the sign-in in which it is done, which counts as one with a second factor from then on
 * @returns recovery codes, shown once, where there were none
 * @throws Problem
 */
export function addApp(
  core: Core,
  userId: string,
  sent: { readonly sealed: string; readonly code: string; readonly name: string },
  by: Actor,
  sessionId: string,
): Promise<readonly string[]> {
  const stored = openPending<string>(core, `app ${userId}`, sent.sealed);
  if (stored === undefined) fail(forbidden, "This took longer than five minutes. Begin again.");
  const secret = Buffer.from(stored, "base64");
  const step = stepOf(secret, sent.code, core.clock.now(), null);
  if (step === undefined)
    fail(invalid, "This is not the code that the app shows now. Is the clock of the device right?");
  return add(
    core,
    userId,
    { kind: "totp", name: readName(sent.name, "Authenticator app"), secret, lastStep: step },
    by,
    sessionId,
  );
}

/** What a browser needs to make a passkey. */
export const beginPasskey = (core: Core, userId: string) => ({
  challenge: newChallenge(core, userId, "create"),
  /** Passkeys that must not be made a second time on one authenticator. */
  exclude: credentialIds(core, userId),
});

/** The passkeys of a person, in base64url. */
export const credentialIds = (core: Core, userId: string): string[] =>
  rows(core.store)
    .ofUser.all(userId)
    .flatMap(({ credentialId }) => (credentialId === null ? [] : [credentialId.toString("base64url")]));

/** Adds a passkey, as `addApp` adds an app. @returns recovery codes, shown once, where there were none @throws Problem */
export function addPasskey(
  core: Core,
  userId: string,
  sent: Registration & { readonly name: string },
  party: RelyingParty,
  by: Actor,
  sessionId: string,
): Promise<readonly string[]> {
  const challenge = takeChallenge(core, userId, "create");
  if (challenge === undefined) fail(forbidden, "This took longer than five minutes. Begin again.");
  const key = verifyRegistration(sent, challenge, party);
  if (!key) fail(invalid, `This passkey was not made for ${party.origin}. Begin again.`);
  return add(core, userId, { kind: "passkey", name: readName(sent.name, "Passkey"), ...key }, by, sessionId);
}

function readName(typed: string, fallback: string): string {
  const name = typed.trim() || fallback;
  if (name.length > MAX_NAME_CHARS || hasControls(name))
    fail(invalid, `A name has at most ${MAX_NAME_CHARS} characters on one line.`);
  return name;
}

const BLANK = { secret: null, lastStep: null, credentialId: null, publicKey: null, signCount: null, lastUsedAt: null };

function add(
  core: Core,
  userId: string,
  factor: Pick<FactorRow, "kind" | "name"> & Partial<FactorRow>,
  by: Actor,
  sessionId: string,
): Promise<readonly string[]> {
  return core.store.write(() => {
    requireLive(core, userId, sessionId);
    const sql = rows(core.store);
    const before = sql.ofUser.all(userId);
    if (factor.credentialId && sql.byCredential.get(factor.credentialId))
      fail(conflict, "This passkey is known already.");
    // Otherwise a form sent twice would add the app twice, and a code would count once for each.
    if (factor.secret && before.some(({ secret }) => secret?.equals(factor.secret as Buffer)))
      fail(conflict, "This app is known already.");
    if (before.length >= MAX_FACTORS) fail(conflict, `There are ${MAX_FACTORS} already: remove one first.`);
    const id = newId("fac", core.clock, core.random);
    sql.insert.run({ ...BLANK, ...factor, id, userId, createdAt: core.clock.now() });
    recordEvent(core, by, {
      action: "factor.added",
      teamId: null,
      target: { kind: "factor", id },
      detail: { kind: factor.kind },
    });
    markSecondFactor(core, sessionId);
    if (before.length > 0) return [];
    // A sign-in with the password alone could add a factor of its own by that password, and be taken for one that proved it.
    endSessionsOf(core, userId, sessionId);
    return storeCodes(core, userId);
  });
}

function storeCodes(core: Core, userId: string): string[] {
  const sql = rows(core.store);
  sql.removeCodes.run(userId);
  return Array.from({ length: RECOVERY_CODES }, () => {
    const code = base32(core.random(15)).slice(0, CODE_CHARS);
    sql.insertCode.run(userId, codeDigest(userId, code));
    return code.replace(/(.{6})(?=.)/g, "$1-");
  });
}

/** The digest of a recovery code that is stored; case and separators do not matter. */
export const codeDigest = (userId: string, typed: string): Buffer =>
  tokenDigest(`recovery ${userId} ${typed.toLowerCase().replace(/[^0-9a-z]/g, "")}`);

/** Makes new recovery codes; the former ones stop working. @returns them, shown once @throws Problem 409 without a second factor */
export function renewCodes(core: Core, userId: string, by: Actor, sessionId: string): Promise<readonly string[]> {
  return core.store.write(() => {
    requireLive(core, userId, sessionId);
    if (!hasFactor(core, userId)) fail(conflict, "There is no second factor yet that they could stand in for.");
    const codes = storeCodes(core, userId);
    recordEvent(core, by, { action: "factor.codes_renewed", teamId: null });
    return codes;
  });
}

/** Removes one of a person's second factors; with the last one go the recovery codes. @throws Problem 404 */
export function removeFactor(core: Core, userId: string, id: string, by: Actor, sessionId: string): Promise<void> {
  return core.store.write(() => {
    requireLive(core, userId, sessionId);
    const sql = rows(core.store);
    if (sql.remove.run(id, userId).changes === 0) fail(notFound, "There is no such second factor.");
    if (!hasFactor(core, userId)) {
      sql.removeCodes.run(userId);
      // If a team demands a second factor, the person has to set one up before going on.
      forgetSecondFactor(core, userId);
    }
    recordEvent(core, by, { action: "factor.removed", teamId: null, target: { kind: "factor", id } });
  });
}

/**
 * Removes all second factors of somebody who lost them, and ends their sign-ins.
 * @returns whether there were any
 */
export function resetFactors(core: Core, idOrEmail: string, by: Actor): Promise<boolean> {
  return core.store.write(() => {
    const { id, email } = getUser(core, idOrEmail);
    if (eraseFactors(core, id) === 0) return false;
    endSessionsOf(core, id);
    recordEvent(core, by, { action: "factor.reset", teamId: null, target: { kind: "user", id, label: email } });
    return true;
  });
}

/** Row change: removes all second factors of a person, with their recovery codes. @returns how many went */
export function eraseFactors(core: Core, userId: string): number {
  const sql = rows(core.store);
  return sql.removeAll.run(userId).changes + sql.removeCodes.run(userId).changes;
}
