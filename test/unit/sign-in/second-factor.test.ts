import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { expect, it } from "vitest";
import { setRole, storeMember } from "../../../src/identity/members/members.ts";
import { getUser, setOperator } from "../../../src/identity/people/people.ts";
import {
  addApp,
  addPasskey,
  beginApp,
  beginPasskey,
  listFactors,
  openPending,
  removeFactor,
  renewCodes,
  resetFactors,
} from "../../../src/identity/second-factor/second-factor.ts";
import { codeAt } from "../../../src/identity/second-factor/totp.ts";
import { verifyAssertion, verifyRegistration } from "../../../src/identity/second-factor/webauthn.ts";
import { continueSignIn, createUser, setPassword, signIn } from "../../../src/identity/sign-in/sign-in.ts";
import { setSecondFactorDemanded } from "../../../src/identity/teams/teams.ts";
import { findSession } from "../../../src/identity/web-sessions/web-sessions.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { startInstance } from "../../support/instance.ts";

const EMAIL = "ada@example.com";
const PASSWORD = "plough-the-north-field";
const ORIGIN = { ip: "192.0.2.7", userAgent: null };
const PARTY = { id: "localhost", origin: "http://localhost" };

/** Somebody with an app, whose form is sent as often as given. */
async function withApp(settings = {}, operator = false) {
  const t = await startInstance({ settings });
  const { core } = t.instance;
  const { id } = await createUser(core, { email: EMAIL, password: PASSWORD, operator }, COMMAND_LINE);
  await signIn(core, EMAIL, PASSWORD, ORIGIN);
  const [session] = t.rows("SELECT id FROM web_sessions");
  const { sealed } = beginApp(core, id, "Reckon");
  const secret = Buffer.from(openPending<string>(core, `app ${id}`, sealed) ?? "", "base64");
  const code = () => codeAt(secret, Math.floor(t.clock.now() / 30_000));
  const add = () => addApp(core, id, { sealed, code: code(), name: "" }, COMMAND_LINE, session.id);
  await add();
  t.clock.advance(30_000);
  return { t, core, id, code, add, sessionId: session.id };
}

it("refuses to continue a sign-in whose second factor was reset while it waited", async () => {
  const { t, core, code } = await withApp();
  const entered = await signIn(core, EMAIL, PASSWORD, ORIGIN);
  const pending = "pending" in entered ? entered.pending : "";
  // The code is right, but the reset comes before the session.
  const goingOn = continueSignIn(core, pending, { code: code() }, PARTY, ORIGIN).catch((error) => error.status);
  await resetFactors(core, EMAIL, COMMAND_LINE);
  expect(await goingOn).toBe(401);
  t.clock.advance(30_000);
  await expect(continueSignIn(core, pending, { code: code() }, PARTY, ORIGIN)).rejects.toMatchObject({ status: 401 });
  expect(t.rows("SELECT count(*) AS n FROM web_sessions WHERE ended_at IS NULL")).toEqual([{ n: 0 }]);
});

it("refuses a password of a former operator where passwords are for operators alone", async () => {
  const { t, core, id, code } = await withApp({ passwords: "operators" }, true);
  const entered = await signIn(core, EMAIL, PASSWORD, ORIGIN);
  const pending = "pending" in entered ? entered.pending : "";
  await setOperator(core, id, false, COMMAND_LINE);
  await expect(continueSignIn(core, pending, { code: code() }, PARTY, ORIGIN)).rejects.toMatchObject({ status: 403 });
  expect(t.count("web_sessions")).toBe(1);
});

it("sets up an app once, so that each of its codes counts once", async () => {
  const { t, core, id, code, add } = await withApp();
  await expect(add()).rejects.toMatchObject({ status: 409 });
  expect(listFactors(core, id)).toHaveLength(1);
  t.clock.advance(30_000);
  const statuses: unknown[] = [];
  for (let i = 0; i < 2; i++) {
    const entered = await signIn(core, EMAIL, PASSWORD, ORIGIN);
    const pending = "pending" in entered ? entered.pending : "";
    const going = continueSignIn(core, pending, { code: code() }, PARTY, ORIGIN);
    statuses.push(await going.then(() => 200).catch((error) => error.status));
  }
  expect(statuses).toEqual([200, 403]);
});

it("ends the sign-ins of before with the first factor, so that a password alone adds no second one", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const { id } = await createUser(core, { email: EMAIL, password: PASSWORD }, COMMAND_LINE);
  const team = await t.team();
  await setRole(core, team.id, id, "owner", COMMAND_LINE);
  const enters = async () => {
    const entered = await signIn(core, EMAIL, PASSWORD, ORIGIN);
    const token = "session" in entered ? entered.session : "";
    return { token, id: findSession(core, token)?.sessionId as string };
  };
  const [theirs, own] = [await enters(), await enters()];
  const add = (sessionId: string) => {
    const { sealed } = beginApp(core, id, "Reckon");
    const secret = Buffer.from(openPending<string>(core, `app ${id}`, sealed) ?? "", "base64");
    const code = codeAt(secret, Math.floor(t.clock.now() / 30_000));
    return addApp(core, id, { sealed, code, name: "" }, COMMAND_LINE, sessionId);
  };
  expect(await add(own.id)).toHaveLength(10);
  await setSecondFactorDemanded(core, team.id, true, COMMAND_LINE);
  expect(findSession(core, own.token)).toMatchObject({ lacksSecondFactor: false });
  expect(findSession(core, theirs.token)).toBeUndefined();
  await expect(add(theirs.id)).rejects.toMatchObject({ status: 401 });
  expect(listFactors(core, id)).toHaveLength(1);
  // A further one ends nothing.
  expect(await add(own.id)).toEqual([]);
  expect(findSession(core, own.token)).toMatchObject({ lacksSecondFactor: false });
});

it("sets up a passkey once, whoever sends it at the same moment", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const credentialId = Buffer.alloc(16, 7);
  const publicKey = generateKeyPairSync("ec", { namedCurve: "prime256v1" }).publicKey.export({
    type: "spki",
    format: "der",
  });
  // User present, with credential data; no signature counter, and no model of authenticator.
  const about = Buffer.from([0x41, ...Buffer.alloc(20), 0, credentialId.length]);
  const authenticatorData = Buffer.concat([createHash("sha256").update(PARTY.id).digest(), about, credentialId]);
  const text = (bytes: Buffer) => bytes.toString("base64url");
  const register = async (email: string) => {
    const { id } = await createUser(core, { email, password: PASSWORD }, COMMAND_LINE);
    await signIn(core, email, PASSWORD, ORIGIN);
    const [session] = t.rows("SELECT id FROM web_sessions WHERE user_id = ?", id);
    const { challenge } = beginPasskey(core, id);
    const clientData = Buffer.from(JSON.stringify({ type: "webauthn.create", challenge, origin: PARTY.origin }));
    const made = {
      name: "Key",
      credentialId: text(credentialId),
      clientData: text(clientData),
      authenticatorData: text(authenticatorData),
      publicKey: text(publicKey),
    };
    return () => addPasskey(core, id, made, PARTY, COMMAND_LINE, session.id);
  };
  const both = [await register(EMAIL), await register("bob@example.com")];
  const settled = await Promise.allSettled(both.map((add) => add()));
  expect(settled).toMatchObject([{ status: "fulfilled" }, { status: "rejected", reason: { status: 409 } }]);
  expect(t.count("second_factors")).toBe(1);
});

it("changes nothing for a sign-in that ended before it was done, as by an operator's new password", async () => {
  const { t, core, id, add, sessionId } = await withApp();
  const [before] = t.rows("SELECT password_hash FROM users");
  const changing = setPassword(core, id, "an-intruder-chose-this", COMMAND_LINE, sessionId);
  const refused = expect(changing).rejects.toMatchObject({ status: 401 });
  await resetFactors(core, EMAIL, COMMAND_LINE);
  await refused;
  await expect(add()).rejects.toMatchObject({ status: 401 });
  expect(t.rows("SELECT password_hash FROM users")).toEqual([before]);
  expect(listFactors(core, id)).toEqual([]);
});

it("leads a person who removes their last factor to set one up again, where their team demands it", async () => {
  const { t, core, id, code } = await withApp();
  const team = await t.team();
  await core.store.write(() => storeMember(core, team.id, getUser(core, id), "member", COMMAND_LINE));
  await setSecondFactorDemanded(core, team.id, true, COMMAND_LINE);
  const entered = await signIn(core, EMAIL, PASSWORD, ORIGIN);
  const pending = "pending" in entered ? entered.pending : "";
  const token = await continueSignIn(core, pending, { code: code() }, PARTY, ORIGIN);
  expect(findSession(core, token)?.lacksSecondFactor).toBe(false);
  const [session] = t.rows("SELECT id FROM web_sessions WHERE second_factor_at IS NOT NULL AND ended_at IS NULL");
  await removeFactor(core, id, listFactors(core, id)[0]?.id ?? "", COMMAND_LINE, session.id);
  expect(findSession(core, token)?.lacksSecondFactor).toBe(true);
});

it("renews no recovery codes and removes no factor in a sign-in that ended meanwhile", async () => {
  const { t, core, id, sessionId } = await withApp();
  const held = () => [
    t.rows("SELECT id FROM second_factors"),
    t.rows("SELECT hex(code_hash) FROM recovery_codes ORDER BY 1"),
  ];
  const before = held();
  await setPassword(core, id, "an-operator-chose-this", COMMAND_LINE);
  await expect(renewCodes(core, id, COMMAND_LINE, sessionId)).rejects.toMatchObject({ status: 401 });
  const [factor] = listFactors(core, id);
  await expect(removeFactor(core, id, factor?.id ?? "", COMMAND_LINE, sessionId)).rejects.toMatchObject({
    status: 401,
  });
  expect(held()).toEqual(before);
});

it("removes no factor of another person", async () => {
  const { t, core, id, sessionId } = await withApp();
  const { id: other } = await createUser(core, { email: "bob@example.com", password: PASSWORD }, COMMAND_LINE);
  await signIn(core, "bob@example.com", PASSWORD, ORIGIN);
  const [session] = t.rows("SELECT id FROM web_sessions WHERE id <> ?", sessionId);
  const [factor] = listFactors(core, id);
  await expect(removeFactor(core, other, factor?.id ?? "", COMMAND_LINE, session.id)).rejects.toMatchObject({
    status: 404,
  });
  expect(listFactors(core, id)).toEqual([factor]);
});

const CHALLENGE = "bm90LWEtc2VjcmV0";
const CREDENTIAL = Buffer.alloc(16, 7);
const PRESENT = 0x01;
const ATTESTED = 0x40;
const keys = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
const spki = (key: KeyObject) => key.export({ type: "spki", format: "der" });

/** What a browser and its authenticator say, each part of it changed at will. */
interface Said {
  readonly client?: object;
  readonly host?: string;
  readonly flags?: number;
  readonly signCount?: number;
  /** The credential that the authenticator names. */
  readonly named?: Buffer;
  readonly key?: Buffer;
  readonly signedBy?: KeyObject;
  /** Bytes of the authenticator's data that arrive. */
  readonly arrive?: number;
  /** A part that is no base64url. */
  readonly odd?: "credentialId" | "clientData" | "authenticatorData" | "publicKey";
}

function said(type: string, { client, host, flags = PRESENT, signCount = 5, named, arrive }: Said) {
  const about = Buffer.alloc(5);
  about[0] = flags;
  about.writeUInt32BE(signCount, 1);
  const credential = named ? [Buffer.from([...Buffer.alloc(16), 0, named.length]), named] : [];
  const data = Buffer.concat([
    createHash("sha256")
      .update(host ?? PARTY.id)
      .digest(),
    about,
    ...credential,
  ]).subarray(0, arrive);
  return {
    data,
    client: Buffer.from(JSON.stringify({ type, challenge: CHALLENGE, origin: PARTY.origin, ...client })),
  };
}

/** Whether what is said of a new passkey is accepted. */
function registers(change: Said = {}): boolean {
  const { data, client } = said("webauthn.create", { flags: PRESENT | ATTESTED, named: CREDENTIAL, ...change });
  const [credentialId, clientData, authenticatorData, publicKey] = [
    CREDENTIAL,
    client,
    data,
    change.key ?? spki(keys.publicKey),
  ].map((part) => part.toString("base64url")) as [string, string, string, string];
  const sent = { credentialId, clientData, authenticatorData, publicKey };
  const made = verifyRegistration(change.odd ? { ...sent, [change.odd]: "%" } : sent, CHALLENGE, PARTY);
  if (made) expect(made).toEqual({ credentialId: CREDENTIAL, publicKey: spki(keys.publicKey), signCount: 5 });
  return made !== undefined;
}

/** The count of signatures with which the use of a passkey is accepted. @param before the one that is known */
function asserts(change: Said = {}, before = 4): number | undefined {
  const { data, client } = said("webauthn.get", change);
  const signed = Buffer.concat([data, createHash("sha256").update(client).digest()]);
  const [credentialId, clientData, authenticatorData, signature] = [
    CREDENTIAL,
    client,
    data,
    sign("sha256", signed, change.signedBy ?? keys.privateKey),
  ].map((part) => part.toString("base64url")) as [string, string, string, string];
  const known = { publicKey: spki(keys.publicKey), signCount: before };
  return verifyAssertion({ credentialId, clientData, authenticatorData, signature }, known, CHALLENGE, PARTY);
}

const ec = (namedCurve: string) => generateKeyPairSync("ec", { namedCurve });
const FOREIGN: readonly (readonly [string, Said])[] = [
  ["another origin", { client: { origin: "http://localhost:8080" } }],
  ["a frame of another site", { client: { crossOrigin: true } }],
  ["another challenge", { client: { challenge: "YW5vdGhlcg" } }],
  ["another purpose", { client: { type: "webauthn.other" } }],
  ["another host", { host: "example.com" }],
  ["nobody present", { flags: ATTESTED }],
  ["data cut short", { arrive: 36 }],
];

it.each<readonly [string, Said]>([
  ...FOREIGN,
  ["no credential", { flags: PRESENT }],
  ["a credential cut short", { arrive: 54 }],
  ["another credential", { named: Buffer.alloc(16, 8) }],
  ["a longer credential", { named: Buffer.alloc(17, 7) }],
  ["a key of another curve", { key: spki(ec("secp384r1").publicKey) }],
  ["a key of another kind", { key: spki(generateKeyPairSync("x25519").publicKey) }],
  ["a short RSA key", { key: spki(generateKeyPairSync("rsa", { modulusLength: 1_024 }).publicKey) }],
  ["no key", { key: Buffer.from("none") }],
  ...(["credentialId", "clientData", "authenticatorData", "publicKey"] as const).map(
    (odd) => [`an odd ${odd}`, { odd }] as const,
  ),
])("takes no new passkey with %s", (_, change) => {
  expect([registers(), registers(change)]).toEqual([true, false]);
});

it.each<readonly [string, Said, number]>([
  ...FOREIGN.map(([name, change]) => [name, change, 4] as const),
  ["another key", { signedBy: ec("prime256v1").privateKey }, 4],
  ["a count that was used", {}, 5],
  ["a count of a copy", {}, 6],
  ["no count any more", { signCount: 0 }, 4],
])("takes no passkey with %s", (_, change, before) => {
  expect([asserts(), asserts({ signCount: 0 }, 0), asserts(change, before)]).toEqual([5, 0, undefined]);
});

it("says when to try again after too many wrong codes", async () => {
  const { t, core } = await withApp();
  const entered = await signIn(core, EMAIL, PASSWORD, ORIGIN);
  const pending = "pending" in entered ? entered.pending : "";
  const wrong = () => continueSignIn(core, pending, { code: "000000" }, PARTY, ORIGIN);
  for (let i = 0; i < 5; i++) await expect(wrong()).rejects.toMatchObject({ status: 403 });
  await expect(wrong()).rejects.toMatchObject({ status: 429, message: expect.stringContaining("again in 3 minutes.") });
  t.clock.advance(150_000);
  await expect(wrong()).rejects.toMatchObject({ status: 429, message: expect.stringContaining("again in a minute.") });
});
