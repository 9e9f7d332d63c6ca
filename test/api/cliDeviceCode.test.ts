import { describe, expect, it } from "vitest";
import { startAuthorization } from "../../src/identity/device-flow/device-flow.ts";
import { person, poll, waiting } from "../support/cli.ts";
import { startInstance } from "../support/instance.ts";

const PATH = "/api/cli/device/code";
const FORM = { "content-type": "application/x-www-form-urlencoded" };

describe("cliDeviceCode", () => {
  it("gives the tool a secret and the person a short code", async () => {
    const t = await startInstance({ settings: { baseUrl: "https://reckon.example/sub" } });
    const answer = await t.post(PATH, {
      json: { channel: "desktop" },
      headers: { "user-agent": "reckon-cli/2.1 (darwin)", host: "evil.example" },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.body).toEqual({
      device_code: expect.stringMatching(/^[\w-]{43}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: "https://reckon.example/sub/login/device",
      verification_uri_complete: `https://reckon.example/sub/login/device?user_code=${answer.body.user_code}`,
      interval: 5,
      expires_in: 900,
    });
    expect(
      t.rows(
        "SELECT user_code, channel, ip, user_agent, status, user_id, created_at, expires_at FROM device_authorizations",
      ),
    ).toEqual([
      {
        user_code: answer.body.user_code,
        channel: "desktop",
        ip: "127.0.0.1",
        user_agent: "reckon-cli/2.1 (darwin)",
        status: "pending",
        user_id: null,
        created_at: t.clock.now(),
        expires_at: t.clock.now() + 900_000,
      },
    ]);
  });

  it.each([
    ["nothing", {}],
    ["an empty object", { json: {} }],
    ["members of others", { json: { client_id: "x", scope: "openid", channel: "npm" } }],
    ["a form", { headers: FORM, body: "client_id=reckon-cli&scope=&channel=npm" }],
    ["an empty form", { headers: FORM, body: "" }],
  ])("takes %s", async (_, ask) => {
    const t = await startInstance();
    expect((await t.post(PATH, ask)).status).toBe(200);
    const channel = "body" in ask && ask.body ? "npm" : "json" in ask && "channel" in ask.json ? "npm" : null;
    expect(t.rows("SELECT channel FROM device_authorizations")).toEqual([{ channel }]);
  });

  it.each([
    ["an unknown channel", { json: { channel: "brew" } }],
    ["an unknown channel in a form", { headers: FORM, body: "channel=brew" }],
    ["a channel of another type", { json: { channel: 7 } }],
    ["no object", { json: [] }],
  ])("refuses %s and starts nothing", async (_, ask) => {
    const t = await startInstance();
    const answer = await t.post(PATH, ask);
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.body)).toEqual(["error"]);
    expect(t.count("device_authorizations")).toBe(0);
  });

  it("stores the secret's digest only, and neither keeps nor logs a secret from the user agent", async () => {
    const t = await startInstance();
    const leaked = `ghp_${"a1B2c3D4e5F6g7H8i9J0".repeat(2).slice(0, 36)}`;
    const { deviceCode } = await waiting(t, { headers: { "user-agent": `cli ${leaked} ${"x".repeat(400)}` } });
    const stored = t.rows("SELECT *, hex(device_code_hash) AS hash FROM device_authorizations");
    expect(JSON.stringify([stored, t.log])).not.toContain(deviceCode);
    expect(JSON.stringify([stored, t.log])).not.toContain(leaked);
    expect(stored[0].user_agent).toMatch(/^cli \[REDACTED:/);
    expect(stored[0].user_agent.length).toBeLessThanOrEqual(200);
  });

  it("sends the rate-limit headers on success too, and counts for each address", async () => {
    const t = await startInstance({ settings: { trustedProxies: "127.0.0.0/8" } });
    const from = (address: string) => t.post(PATH, { headers: { "x-forwarded-for": `203.0.113.9, ${address}` } });
    const first = await from("198.51.100.7");
    expect(first.headers.get("ratelimit-limit")).toBe("20");
    expect(first.headers.get("ratelimit-remaining")).toBe("19");
    expect(first.headers.get("ratelimit-reset")).toBe("3");
    expect(first.headers.get("ratelimit-policy")).toBe("device-code;q=20;w=60");
    expect(first.headers.get("retry-after")).toBeNull();
    for (let i = 1; i < 20; i++) expect((await from("198.51.100.7")).status).toBe(200);
    const limited = await from("198.51.100.7");
    expect([limited.status, Object.keys(limited.body)]).toEqual([429, ["error"]]);
    expect(limited.headers.get("retry-after")).toBe("3");
    expect((await from("198.51.100.8")).status).toBe(200);
    expect(t.rows("SELECT ip, count(*) AS n FROM device_authorizations GROUP BY ip ORDER BY ip")).toEqual([
      { ip: "198.51.100.7", n: 20 },
      { ip: "198.51.100.8", n: 1 },
    ]);
  });

  it("believes no forwarded address from a peer that is no trusted proxy", async () => {
    const t = await startInstance();
    await t.post(PATH, { headers: { "x-forwarded-for": "198.51.100.7" } });
    expect(t.rows("SELECT ip FROM device_authorizations")).toEqual([{ ip: "127.0.0.1" }]);
  });

  it("answers 503 that waiting cannot help when signing is switched off", async () => {
    const t = await startInstance({ settings: { signing: "off" } });
    const answer = await t.post(PATH);
    expect([answer.status, answer.body]).toEqual([503, { error: expect.any(String), retryable: false }]);
    expect(answer.headers.get("retry-after")).toBeNull();
    expect(t.count("device_authorizations")).toBe(0);
  });

  it("removes what expired a quarter of an hour ago, a bounded number at a time", async () => {
    const t = await startInstance({ settings: { limitDeviceCode: "off" } });
    for (let i = 0; i < 101; i++)
      await startAuthorization(t.instance.core, { channel: null, ip: "::1", userAgent: null });
    t.clock.advance(30 * 60_000 - 1);
    await t.post(PATH);
    expect(t.count("device_authorizations")).toBe(102);
    t.clock.advance(1);
    await t.post(PATH);
    expect(t.count("device_authorizations")).toBe(3);
    await t.post(PATH);
    expect(t.count("device_authorizations")).toBe(3);
  });

  it("answers 503 at the limit of stored authorizations, and accepts new ones once old ones have gone", async () => {
    const t = await startInstance();
    t.instance.core.store.db
      .prepare(
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
         INSERT INTO device_authorizations (device_code_hash, user_code, ip, status, created_at, expires_at)
         SELECT CAST(i AS BLOB), 'CODE-' || i, '::1', 'redeemed', ?, ? FROM n`,
      )
      .run(t.clock.now(), t.clock.now() + 900_000);
    const full = await t.post(PATH);
    expect([full.status, Object.keys(full.body), full.headers.get("retry-after")]).toEqual([503, ["error"], "60"]);
    expect(t.count("device_authorizations")).toBe(50_000);
    t.clock.advance(30 * 60_000);
    expect((await t.post(PATH)).status).toBe(200);
    expect(t.count("device_authorizations")).toBe(49_901);
  });

  it("at the limit removes authorizations of the sites with the most, so that a flood keeps nobody else out", async () => {
    const t = await startInstance();
    // One site with half of them, a provider whose 500 sites share the rest, and somebody elsewhere who came first.
    const honest = await waiting(t);
    t.instance.core.store.db
      .prepare(
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 49999)
         INSERT INTO device_authorizations (device_code_hash, user_code, ip, status, created_at, expires_at)
         SELECT CAST(i AS BLOB), 'CODE-' || i,
           CASE WHEN i = 7 THEN '2001:db9:7777::1' WHEN i % 2 THEN '2001:db8:1:' || (i % 9999) || '::1'
             ELSE '2001:db9:' || (i % 500) || '::1' END, 'pending', ?, ? FROM n`,
      )
      .run(t.clock.now(), t.clock.now() + 900_000);
    const late = await waiting(t);
    // Each of the 500 sites keeps a whole number, so the total is exact only to within 500.
    expect(t.count("device_authorizations")).toBeGreaterThan(44_500);
    expect(t.count("device_authorizations")).toBeLessThanOrEqual(45_001);
    expect(t.rows("SELECT count(*) AS n FROM device_authorizations WHERE ip LIKE '2001:db8:%'")).toEqual([
      { n: 22_499 },
    ]);
    // Each site lost its oldest; the only one of a site stays, and so does the one from elsewhere.
    expect(t.rows("SELECT 1 FROM device_authorizations WHERE user_code IN ('CODE-1', 'CODE-2')")).toEqual([]);
    expect(
      t.rows("SELECT ip FROM device_authorizations WHERE user_code IN ('CODE-7', 'CODE-49999') ORDER BY ip"),
    ).toEqual([{ ip: expect.stringContaining("2001:db8:1:") }, { ip: "2001:db9:7777::1" }]);
    for (const { deviceCode } of [honest, late])
      expect((await poll(t, deviceCode)).body).toEqual({ error: "authorization_pending" });
  });

  it("never shows two waiting people the same code", async () => {
    const t = await startInstance();
    // Bytes that spell BBBB-BBBB twice, then CCCC-CCCC.
    const scripted = [0, 0, 1];
    const core = {
      ...t.instance.core,
      random: (bytes: number) => (bytes === 8 ? Buffer.alloc(8, scripted.shift()) : t.instance.core.random(bytes)),
    };
    const from = { channel: null, ip: "::1", userAgent: null };
    const made = [await startAuthorization(core, from), await startAuthorization(core, from)];
    expect(made.map(({ userCode }) => userCode)).toEqual(["BBBB-BBBB", "CCCC-CCCC"]);
    expect(new Set(made.map(({ deviceCode }) => deviceCode)).size).toBe(2);
  });

  it("answers each tool about its own authorization alone", async () => {
    const t = await startInstance();
    await person(t);
    const [one, two] = [await waiting(t), await waiting(t)];
    expect(one.userCode).not.toBe(two.userCode);
    expect((await poll(t, one.deviceCode)).body).toEqual({ error: "authorization_pending" });
    expect((await poll(t, two.deviceCode)).body).toEqual({ error: "authorization_pending" });
    expect((await poll(t, one.userCode)).body).toEqual({ error: "invalid_grant" });
  });
});
