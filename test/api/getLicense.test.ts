import { describe, expect, it } from "vitest";
import { verifyLicense } from "../../src/identity/license/license.ts";
import { updateTeam } from "../../src/identity/teams/teams.ts";
import { DAY_MS } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { startInstance, startWithDevice, type TestInstance } from "../support/instance.ts";

const PATH = "/api/license";
const pubkeyOf = async (t: TestInstance) => (await t.get("/api/license/pubkey")).body.pubkey as string;

describe("getLicense", () => {
  it("signs the team's facts so that the public key alone verifies them", async () => {
    const t = await startInstance({ settings: { baseUrl: "https://reckon.example/sub" } });
    const device = await t.device(await t.team({ seats: 12, tier: "enterprise" }));
    const answer = await t.get(PATH, { token: device.token });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ teamId: device.team.id, seatCount: 12, status: "active" });
    const [head = ""] = answer.body.license.split(".");
    const keys = (await t.get("/.well-known/jwks.json")).body.keys;
    expect(JSON.parse(Buffer.from(head, "base64url").toString())).toEqual({
      alg: "RS256",
      typ: "license+jwt",
      kid: keys[0].kid,
    });
    const verdict = await verifyLicense(answer.body.license, await pubkeyOf(t), new Date(t.clock.now()));
    const issuedAt = t.clock.now() / 1000;
    expect(verdict).toEqual({
      valid: true,
      claims: {
        iss: "https://reckon.example/sub",
        aud: "reckon:license",
        sub: device.team.id,
        team: device.team.id,
        seats: 12,
        tier: "enterprise",
        status: "active",
        device: device.deviceId,
        iat: issuedAt,
        exp: issuedAt + 30 * 86_400,
      },
    });
  });

  it("is not valid after its end, nor with one character changed", async () => {
    const { t, token } = await startWithDevice();
    const { license } = (await t.get(PATH, { token })).body;
    const pem = await pubkeyOf(t);
    expect(await verifyLicense(license, pem, new Date(t.clock.now() + 31 * DAY_MS))).toMatchObject({
      valid: false,
      reason: expect.stringContaining("expired"),
    });
    // A clock may be behind, so a check of today tolerates that; a check of a named day does not.
    const before = new Date(t.clock.now() - DAY_MS);
    expect(await verifyLicense(license, pem, before)).toMatchObject({ valid: true });
    expect(await verifyLicense(license, pem, before, false)).toMatchObject({ valid: false });
    const [head, body, signature] = license.split(".");
    const forged = Buffer.from(
      JSON.stringify({ ...JSON.parse(Buffer.from(body, "base64url").toString()), seats: 999 }),
    ).toString("base64url");
    expect(await verifyLicense(`${head}.${forged}.${signature}`, pem, new Date(t.clock.now()))).toMatchObject({
      valid: false,
      reason: expect.stringContaining("signature"),
    });
  });

  it.each([
    ["trialing", {}, 200, "trialing"],
    ["past_due", {}, 200, "past_due"],
    ["canceled", {}, 402, undefined],
    ["none", {}, 402, undefined],
    ["active", { suspended: true }, 403, undefined],
    ["canceled", { suspended: true }, 403, undefined],
  ] as const)("answers a subscription that is %s %o with %i", async (subscription, more, status, licensed) => {
    const { t, device } = await startWithDevice();
    await updateTeam(t.instance.core, device.team.id, { subscription, ...more }, COMMAND_LINE);
    const answer = await t.get(PATH, { token: device.token });
    expect([answer.status, answer.body.status]).toEqual([status, licensed]);
  });

  it("gives fourteen days of grace after the paid period and caps the licence at their end", async () => {
    const { t, device } = await startWithDevice();
    const end = t.clock.now() + 3 * DAY_MS;
    await updateTeam(t.instance.core, device.team.id, { periodEndAt: end }, COMMAND_LINE);
    const { license } = (await t.get(PATH, { token: device.token })).body;
    expect(JSON.parse(Buffer.from(license.split(".")[1], "base64url").toString()).exp).toBe((end + 14 * DAY_MS) / 1000);
    t.clock.advance(4 * DAY_MS);
    expect((await t.get(PATH, { token: device.token })).body.status).toBe("past_due");
    t.clock.advance(13 * DAY_MS);
    expect((await t.get(PATH, { token: device.token })).status).toBe(402);
  });

  it("counts the grace of a team marked past due from that day when no period's end is known", async () => {
    const { t, device } = await startWithDevice();
    await updateTeam(t.instance.core, device.team.id, { subscription: "past_due" }, COMMAND_LINE);
    t.clock.advance(14 * DAY_MS - 1);
    expect((await t.get(PATH, { token: device.token })).status).toBe(200);
    t.clock.advance(1);
    expect((await t.get(PATH, { token: device.token })).status).toBe(402);
  });

  it("answers 503 that waiting cannot help when signing is switched off", async () => {
    const t = await startInstance({ settings: { signing: "off" } });
    const answer = await t.get(PATH, { token: (await t.device()).token });
    expect([answer.status, answer.body.retryable]).toEqual([503, false]);
    expect(Object.keys(answer.body).sort()).toEqual(["error", "retryable"]);
    expect(answer.headers.get("retry-after")).toBeNull();
  });

  it("answers 503 that waiting can help when the key cannot be read", async () => {
    const { t, token } = await startWithDevice();
    await t.get(PATH, { token });
    t.instance.core.store.db.prepare("UPDATE signing_keys SET kid = 'another'").run();
    const answer = await t.get(PATH, { token });
    expect([answer.status, answer.body.retryable]).toEqual([503, true]);
    expect(answer.headers.get("retry-after")).toBe("30");
    expect(answer.text).not.toContain(t.directory);
  });
});
