import { createPrivateKey, createSign, generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { listCliTokens, revokeCliToken } from "../../src/identity/device-flow/device-flow.ts";
import { verifyLicense } from "../../src/identity/license/license.ts";
import { setDisabled } from "../../src/identity/sign-in/sign-in.ts";
import { DAY_MS, MINUTE_MS } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { rotateKey } from "../../src/platform/keys/keys.ts";
import { cliToken, person } from "../support/cli.ts";
import { startInstance, type TestInstance } from "../support/instance.ts";

const PATH = "/api/cli/me";
const BASE = "https://reckon.example";

async function expectRefused(t: TestInstance, token: string): Promise<void> {
  const answer = await t.get(PATH, { token });
  expect(answer.status).toBe(401);
  expect(answer.headers.get("www-authenticate")).toBe('Bearer error="invalid_token"');
  expect(Object.keys(answer.body)).toEqual(["error"]);
  expect(answer.text).not.toContain(token);
}

/** An instance, one of its tokens, and a signer that makes others with the instance's own key. */
async function forger() {
  const t = await startInstance({ settings: { baseUrl: BASE } });
  const user = await person(t);
  const { id } = await cliToken(t, user);
  const kid = t.rows("SELECT kid FROM signing_keys")[0].kid as string;
  const key = createPrivateKey(readFileSync(join(t.directory, "signing-key.pem")));
  const claims = { iss: BASE, aud: BASE, sub: user.id, email: user.email, client_id: "reckon-cli", jti: id };
  const seconds = t.clock.now() / 1000;
  const sign = (change: object = {}, header: object = {}, by: Parameters<SignJWT["sign"]>[0] = key) =>
    new SignJWT({ ...claims, iat: seconds, exp: seconds + 3600, ...change })
      .setProtectedHeader({ alg: "RS256", typ: "at+jwt", kid, ...header })
      .sign(by);
  return { t, user, sign, claims: { ...claims, iat: seconds, exp: seconds + 3600 }, key, kid };
}

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

describe("cliMe", () => {
  it("tells whose the token is", async () => {
    const t = await startInstance();
    const user = await person(t, "Ada@Example.com");
    const answer = await t.get(PATH, { token: (await cliToken(t, user)).accessToken });
    expect([answer.status, answer.body]).toEqual([200, { userId: user.id, email: "Ada@Example.com" }]);
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  it("asks for a token without calling a missing one invalid", async () => {
    const t = await startInstance();
    const answer = await t.get(PATH);
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
  });

  it("accepts an unchanged token of the test's signer, so the forgeries below fail only for their one difference", async () => {
    const { t, user, sign } = await forger();
    expect((await t.get(PATH, { token: await sign() })).body).toEqual({ userId: user.id, email: user.email });
  });

  it.each([
    ["another audience", { aud: "https://elsewhere.example" }],
    ["a licence's audience", { aud: "reckon:license" }],
    ["another issuer", { iss: "https://elsewhere.example" }],
    ["no issuer", { iss: undefined }],
    ["another subject than the token's row", { sub: "usr_another" }],
    ["an id that was never given out", { jti: "cli_01hxxxxxxxxxxxxxxxxxxxxxxx" }],
    ["no id", { jti: undefined }],
    ["an end that has passed", { exp: 1_000_000_000 }],
    ["no end", { exp: undefined }],
  ])("refuses a token with %s", async (_, change) => {
    const { t, sign } = await forger();
    await expectRefused(t, await sign(change));
  });

  it.each([
    ["a licence's type", { typ: "license+jwt" }],
    ["the general type", { typ: "JWT" }],
    ["no type", { typ: undefined }],
    ["a key that is not known", { kid: "unknown" }],
    ["no key named", { kid: undefined }],
    ["another algorithm of the same key", { alg: "PS256" }],
  ])("refuses a token with %s", async (_, header) => {
    const { t, sign } = await forger();
    await expectRefused(t, await sign({}, header));
  });

  it("refuses a token signed with another key, with none, and by HMAC with the public key's text", async () => {
    const { t, sign, claims, kid } = await forger();
    const other = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
    await expectRefused(t, await sign({}, {}, other));
    await expectRefused(t, `${encoded({ alg: "none", typ: "at+jwt", kid })}.${encoded(claims)}.`);
    const pem = (await t.get("/api/license/pubkey")).body.pubkey as string;
    await expectRefused(t, await sign({}, { alg: "HS256" }, new TextEncoder().encode(pem)));
  });

  it("refuses a token whose claims or header were changed after signing", async () => {
    const { t, sign, claims, key, kid } = await forger();
    const [header, , signature] = (await sign()).split(".");
    await expectRefused(t, `${header}.${encoded({ ...claims, exp: claims.exp + 1 })}.${signature}`);
    const made = `${encoded({ alg: "RS256", typ: "at+jwt", kid, crit: ["b64"], b64: false })}.${encoded(claims)}`;
    await expectRefused(t, `${made}.${createSign("sha256").update(made).sign(key, "base64url")}`);
  });

  it("refuses what is no JWT at all", async () => {
    const t = await startInstance();
    const { accessToken } = await cliToken(t);
    const parts = accessToken.split(".");
    for (const token of [
      "x",
      "..",
      "a.b.c",
      "null.null.null",
      `${encoded({ kid: 7 })}.e30.e30`,
      parts.slice(0, 2).join("."),
      `${accessToken}.more`,
      `${accessToken}${"A".repeat(5_000)}`,
    ])
      await expectRefused(t, token);
  });

  it("gives tokens that pass neither as a licence nor as a device's", async () => {
    const t = await startInstance();
    const { accessToken } = await cliToken(t);
    const { pubkey } = (await t.get("/api/license/pubkey")).body;
    expect(await verifyLicense(accessToken, pubkey, new Date(t.clock.now()))).toMatchObject({ valid: false });
    expect((await t.get("/api/policy", { token: accessToken })).status).toBe(401);
  });

  it("refuses a token from its thirtieth day on", async () => {
    const t = await startInstance();
    const { accessToken } = await cliToken(t);
    t.clock.advance(30 * DAY_MS - 1_000);
    expect((await t.get(PATH, { token: accessToken })).status).toBe(200);
    t.clock.advance(1_000);
    await expectRefused(t, accessToken);
  });

  it("refuses a revoked token at once, and no other of the same person", async () => {
    const t = await startInstance();
    const user = await person(t);
    const [kept, lost] = [await cliToken(t, user), await cliToken(t, user)];
    expect(await revokeCliToken(t.instance.core, user.id, lost.id, COMMAND_LINE)).toBe(true);
    await expectRefused(t, lost.accessToken);
    expect((await t.get(PATH, { token: kept.accessToken })).status).toBe(200);
    expect(listCliTokens(t.instance.core, user.id).map(({ id }) => id)).toEqual([kept.id]);
  });

  it("refuses the tokens of a closed account, and takes them when it is opened again", async () => {
    const t = await startInstance();
    const user = await person(t);
    const { accessToken } = await cliToken(t, user);
    await setDisabled(t.instance.core, user.id, true, COMMAND_LINE);
    await expectRefused(t, accessToken);
    await setDisabled(t.instance.core, user.id, false, COMMAND_LINE);
    expect((await t.get(PATH, { token: accessToken })).status).toBe(200);
  });

  it("accepts a token that a retired key signed", async () => {
    const t = await startInstance();
    const { accessToken } = await cliToken(t);
    await rotateKey(t.instance.core, COMMAND_LINE);
    expect((await t.get(PATH, { token: accessToken })).status).toBe(200);
    expect((await t.get(PATH, { token: (await cliToken(t)).accessToken })).status).toBe(200);
  });

  it("accepts a token after a restart, and no longer once the public address has changed", async () => {
    const t = await startInstance({ settings: { baseUrl: BASE } });
    const { accessToken } = await cliToken(t);
    await t.close();
    const again = await startInstance({
      directory: t.directory,
      clock: t.clock,
      settings: { baseUrl: BASE, signing: "off" },
    });
    expect((await again.get(PATH, { token: accessToken })).status).toBe(200);
    await again.close();
    const moved = await startInstance({ directory: t.directory, clock: t.clock, settings: { baseUrl: `${BASE}/sub` } });
    await expectRefused(moved, accessToken);
  });

  it("notes a token's use at most once a minute, and answers although that cannot be stored", async () => {
    const t = await startInstance();
    const { accessToken: token } = await cliToken(t);
    const used = () => t.rows("SELECT last_used_at FROM cli_tokens")[0].last_used_at;
    const started = t.clock.now();
    await t.get(PATH, { token });
    expect(used()).toBe(started);
    t.clock.advance(MINUTE_MS - 1);
    await t.get(PATH, { token });
    expect(used()).toBe(started);
    t.clock.advance(1);
    t.instance.core.store.db.pragma("query_only = ON");
    expect((await t.get(PATH, { token })).status).toBe(200);
    t.instance.core.store.db.pragma("query_only = OFF");
    expect(used()).toBe(started);
    await t.get(PATH, { token });
    expect(used()).toBe(started + MINUTE_MS);
  });
});
