import { decodeJwt, decodeProtectedHeader } from "jose";
import { describe, expect, it } from "vitest";
import { decideAuthorization } from "../../src/identity/device-flow/device-flow.ts";
import { setDisabled, setPassword } from "../../src/identity/sign-in/sign-in.ts";
import { DAY_MS } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { answered, person, poll, waiting } from "../support/cli.ts";
import { startInstance } from "../support/instance.ts";

const PATH = "/api/cli/device/token";
const GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const FORM = { "content-type": "application/x-www-form-urlencoded" };

describe("cliDeviceToken", () => {
  it("gives an approved tool an access token that says who, for what and until when", async () => {
    const t = await startInstance({ settings: { baseUrl: "https://reckon.example/sub" } });
    const { deviceCode, userCode, user } = await answered(t);
    const answer = await poll(t, deviceCode, { headers: { "user-agent": "reckon-cli/2.1" } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("ratelimit-policy")).toBe("device-token;q=240;w=60");
    expect(answer.headers.get("ratelimit-remaining")).toBe("239");
    expect(answer.body).toEqual({ access_token: expect.any(String), token_type: "Bearer", expires_in: 2_592_000 });
    const kid = t.rows("SELECT kid FROM signing_keys")[0].kid;
    expect(decodeProtectedHeader(answer.body.access_token)).toEqual({ alg: "RS256", typ: "at+jwt", kid });
    const claims = decodeJwt(answer.body.access_token);
    const seconds = t.clock.now() / 1000;
    expect(claims).toEqual({
      iss: "https://reckon.example/sub",
      aud: "https://reckon.example/sub",
      sub: user.id,
      email: user.email,
      client_id: "reckon-cli",
      jti: expect.stringMatching(/^cli_/),
      iat: seconds,
      exp: seconds + 2_592_000,
    });
    expect(t.rows("SELECT * FROM cli_tokens")).toEqual([
      {
        id: claims.jti,
        user_id: user.id,
        channel: "npm",
        ip: "127.0.0.1",
        user_agent: "reckon-cli/2.1",
        created_at: t.clock.now(),
        expires_at: t.clock.now() + 30 * DAY_MS,
        last_used_at: null,
        revoked_at: null,
      },
    ]);
    expect(t.rows("SELECT status, user_id FROM device_authorizations")).toEqual([
      { status: "redeemed", user_id: user.id },
    ]);
    expect(
      t.rows(
        "SELECT action, actor_kind, actor_label, target_id, target_label FROM audit_events WHERE action LIKE 'cli%'",
      ),
    ).toEqual([
      {
        action: "cli_authorization.approved",
        actor_kind: "command",
        actor_label: "command line",
        target_id: userCode,
        target_label: user.email,
      },
      {
        action: "cli_token.created",
        actor_kind: "user",
        actor_label: user.email,
        target_id: claims.jti,
        target_label: user.email,
      },
    ]);
  });

  it("stores and logs neither the device code nor the token", async () => {
    const t = await startInstance();
    const { deviceCode } = await answered(t);
    const token = (await poll(t, deviceCode)).body.access_token;
    const kept = JSON.stringify([
      t.rows("SELECT * FROM device_authorizations"),
      t.rows("SELECT * FROM cli_tokens"),
      t.rows("SELECT * FROM audit_events"),
      t.log,
    ]);
    for (const secret of [deviceCode, token, token.split(".")[2]]) expect(kept).not.toContain(secret);
  });

  it.each([
    ["a grant type", { json: (device_code: string) => ({ device_code, grant_type: GRANT }) }],
    ["members of others", { json: (device_code: string) => ({ device_code, client_id: "x", client_secret: 7 }) }],
    ["a form", { form: (code: string) => `grant_type=${encodeURIComponent(GRANT)}&device_code=${code}&client_id=x` }],
    ["a form with the code alone", { form: (code: string) => `device_code=${code}` }],
  ] as const)(
    "takes %s",
    async (_, { json, form }: { json?: (code: string) => object; form?: (code: string) => string }) => {
      const t = await startInstance();
      const { deviceCode } = await answered(t);
      const ask = json ? { json: json(deviceCode) } : { headers: FORM, body: form?.(deviceCode) as string };
      expect((await t.post(PATH, ask)).status).toBe(200);
    },
  );

  it.each([
    ["a wrong grant type", (device_code: string) => ({ json: { device_code, grant_type: "authorization_code" } })],
    ["a grant type of another type", (device_code: string) => ({ json: { device_code, grant_type: 7 } })],
    [
      "a wrong grant type in a form",
      (code: string) => ({ headers: FORM, body: `device_code=${code}&grant_type=password` }),
    ],
    ["no device code", () => ({ json: {} })],
    ["an empty form", () => ({ headers: FORM, body: "" })],
    ["no body", () => ({})],
    ["an empty device code", () => ({ json: { device_code: "" } })],
    ["a device code of another type", () => ({ json: { device_code: 7 } })],
    ["an endless device code", () => ({ json: { device_code: "x".repeat(300) } })],
    [
      "broken JSON",
      (code: string) => ({ headers: { "content-type": "application/json" }, body: `{"device_code":"${code}"` }),
    ],
    ["an unknown device code", () => ({ json: { device_code: "A".repeat(43) } })],
    ["the code in another case", (code: string) => ({ json: { device_code: code.toLowerCase() } })],
  ])("answers invalid_grant to %s and leaves the approval", async (_, ask) => {
    const t = await startInstance();
    const { deviceCode } = await answered(t);
    const answer = await t.post(PATH, ask(deviceCode));
    expect([answer.status, answer.body]).toEqual([400, { error: "invalid_grant" }]);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect((await poll(t, deviceCode)).status).toBe(200);
  });

  it("answers invalid_grant to a body it cannot read, and keeps the legacy shape for 429", async () => {
    const t = await startInstance({ settings: { limitDeviceToken: "3/60" } });
    const wrongType = await t.post(PATH, { body: "device_code=x", headers: { "content-type": "text/plain" } });
    const tooLarge = await t.post(PATH, { json: { device_code: "x", filler: "x".repeat(17_000) } });
    for (const { status, body } of [wrongType, tooLarge])
      expect([status, body]).toEqual([400, { error: "invalid_grant" }]);
    await poll(t, "x");
    const limited = await poll(t, "x");
    expect([limited.status, limited.body]).toEqual([429, { error: expect.stringContaining(" ") }]);
    expect(limited.headers.get("retry-after")).toBe("20");
  });

  it("says that nobody has answered yet, and writes nothing for it", async () => {
    const t = await startInstance();
    const { deviceCode } = await waiting(t);
    const { transactions } = t.instance.core.store.stats;
    const changes = () => t.rows("SELECT total_changes() AS n")[0].n;
    const before = changes();
    for (let i = 0; i < 3; i++) {
      const answer = await poll(t, deviceCode);
      expect([answer.status, answer.body]).toEqual([400, { error: "authorization_pending" }]);
      t.clock.advance(5_000);
    }
    expect(t.instance.core.store.stats.transactions).toBe(transactions);
    expect(changes()).toBe(before);
  });

  it("answers invalid_grant after a denial, also once the code has expired", async () => {
    const t = await startInstance();
    const { deviceCode } = await answered(t, "denied");
    expect((await poll(t, deviceCode)).body).toEqual({ error: "invalid_grant" });
    t.clock.advance(900_000);
    expect((await poll(t, deviceCode)).body).toEqual({ error: "invalid_grant" });
    expect(t.count("cli_tokens")).toBe(0);
  });

  it("answers invalid_grant to an approval from before somebody set the account another password", async () => {
    const t = await startInstance();
    const { deviceCode, user } = await answered(t);
    await setPassword(t.instance.core, user.id, "another-north-field", COMMAND_LINE);
    expect((await poll(t, deviceCode)).body).toEqual({ error: "invalid_grant" });
    expect(t.count("cli_tokens")).toBe(0);
  });

  it("answers invalid_grant when the code is used again", async () => {
    const t = await startInstance();
    const { deviceCode } = await answered(t);
    await poll(t, deviceCode);
    for (const later of [0, 60_000, 900_000]) {
      t.clock.advance(later);
      const answer = await poll(t, deviceCode);
      expect([answer.status, answer.body]).toEqual([400, { error: "invalid_grant" }]);
    }
    expect(t.count("cli_tokens")).toBe(1);
  });

  it("answers expired_token at the end of the lifetime, and invalid_grant once the row is gone", async () => {
    const t = await startInstance();
    const { deviceCode } = await waiting(t);
    t.clock.advance(899_999);
    expect((await poll(t, deviceCode)).body).toEqual({ error: "authorization_pending" });
    t.clock.advance(1);
    expect((await poll(t, deviceCode)).body).toEqual({ error: "expired_token" });
    t.clock.advance(900_000);
    await waiting(t);
    expect((await poll(t, deviceCode)).body).toEqual({ error: "invalid_grant" });
  });

  it("answers expired_token to an approval that was not fetched in time", async () => {
    const t = await startInstance();
    const { deviceCode } = await answered(t);
    t.clock.advance(900_000);
    const answer = await poll(t, deviceCode);
    expect([answer.status, answer.body]).toEqual([400, { error: "expired_token" }]);
    expect(t.count("cli_tokens")).toBe(0);
  });

  it("gives no token for an account that was closed after the approval", async () => {
    const t = await startInstance();
    const { deviceCode, user } = await answered(t);
    await setDisabled(t.instance.core, user.id, true, COMMAND_LINE);
    expect((await poll(t, deviceCode)).body).toEqual({ error: "invalid_grant" });
    expect(t.count("cli_tokens")).toBe(0);
  });

  it("gives no token for an account that is closed while it is signed", async () => {
    const t = await startInstance();
    const { deviceCode } = await answered(t);
    const { db } = t.instance.core.store;
    db.exec(`CREATE TEMP TRIGGER closed AFTER UPDATE ON main.device_authorizations
      BEGIN UPDATE users SET disabled_at = 1 WHERE id = NEW.user_id; END`);
    expect((await poll(t, deviceCode)).body).toEqual({ error: "invalid_grant" });
    expect(t.count("cli_tokens")).toBe(0);
  });

  it("ends a tool's wait when signing is switched off meanwhile", async () => {
    const t = await startInstance();
    const { deviceCode } = await answered(t);
    await t.close();
    const off = await startInstance({ directory: t.directory, clock: t.clock, settings: { signing: "off" } });
    const answer = await poll(off, deviceCode);
    expect([answer.status, answer.body]).toEqual([400, { error: "invalid_grant" }]);
    expect(off.rows("SELECT status FROM device_authorizations")).toEqual([{ status: "approved" }]);
  });

  it("answers 503 while the key cannot be used, and gives the token once it can", async () => {
    const t = await startInstance();
    const { deviceCode } = await answered(t);
    const { kid } = t.rows("SELECT kid FROM signing_keys")[0];
    const { db } = t.instance.core.store;
    db.prepare("UPDATE signing_keys SET kid = 'another'").run();
    const broken = await poll(t, deviceCode);
    expect([broken.status, Object.keys(broken.body), broken.headers.get("retry-after")]).toEqual([
      503,
      ["error"],
      "30",
    ]);
    expect(broken.text).not.toContain(t.directory);
    db.prepare("UPDATE signing_keys SET kid = ?").run(kid);
    expect((await poll(t, deviceCode)).status).toBe(200);
  });

  it("keeps the approval when the redemption could not be stored", async () => {
    const t = await startInstance();
    const { deviceCode } = await answered(t);
    const { db } = t.instance.core.store;
    db.pragma("query_only = ON");
    expect((await poll(t, deviceCode)).status).toBe(503);
    db.pragma("query_only = OFF");
    expect((await poll(t, deviceCode)).status).toBe(200);
    expect(t.count("cli_tokens")).toBe(1);
  });

  it("gives exactly one of thirty parallel polls the token", async () => {
    const t = await startInstance();
    const { deviceCode } = await answered(t);
    const answers = await Promise.all(Array.from({ length: 30 }, () => poll(t, deviceCode)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const others = answers.filter(({ status }) => status !== 200);
    expect(others.map(({ status, body }) => [status, body.error])).toEqual(Array(29).fill([400, "invalid_grant"]));
    expect(t.count("cli_tokens")).toBe(1);
    expect(t.rows("SELECT count(*) AS n FROM audit_events WHERE action = 'cli_token.created'")).toEqual([{ n: 1 }]);
  });

  it("counts only one of thirty parallel approvals and denials", async () => {
    const t = await startInstance();
    const user = await person(t);
    const { userCode } = await waiting(t);
    const answers = await Promise.allSettled(
      Array.from({ length: 30 }, (_, i) =>
        decideAuthorization(t.instance.core, userCode, i % 2 ? "approved" : "denied", user, COMMAND_LINE),
      ),
    );
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const one of answers) if (one.status === "rejected") expect(one.reason).toMatchObject({ status: 409 });
    expect(t.rows("SELECT count(*) AS n FROM audit_events WHERE action LIKE 'cli_auth%'")).toEqual([{ n: 1 }]);
  });
});

describe("the pace of polls", () => {
  const errorOf = async (answer: ReturnType<typeof poll>) => (await answer).body.error;

  it("slows a hasty tool down by five seconds each time, counted from its last poll in time", async () => {
    const t = await startInstance();
    const { deviceCode } = await waiting(t);
    const at = async (ms: number) => {
      t.clock.advance(ms);
      return errorOf(poll(t, deviceCode));
    };
    expect(await at(0)).toBe("authorization_pending");
    expect(await at(4_999)).toBe("slow_down");
    // Ten seconds from the first poll, not from the hasty one.
    expect(await at(5_001)).toBe("authorization_pending");
    expect(await at(9_999)).toBe("slow_down");
    expect(await at(1)).toBe("slow_down");
    // Now twenty.
    expect(await at(9_999)).toBe("slow_down");
    expect(await at(5_001)).toBe("authorization_pending");
    // For good: 25 seconds from now on.
    expect(await at(24_999)).toBe("slow_down");
    expect(await at(5_001)).toBe("authorization_pending");
  });

  it("paces each tool separately, and tells of the end at once, however early the poll", async () => {
    const t = await startInstance();
    const user = await person(t);
    const [one, two] = [await waiting(t), await waiting(t)];
    await poll(t, one.deviceCode);
    expect(await errorOf(poll(t, two.deviceCode))).toBe("authorization_pending");
    await decideAuthorization(t.instance.core, one.userCode, "denied", user, COMMAND_LINE);
    expect(await errorOf(poll(t, one.deviceCode))).toBe("invalid_grant");
    const three = await waiting(t);
    await poll(t, three.deviceCode);
    await decideAuthorization(t.instance.core, three.userCode, "approved", user, COMMAND_LINE);
    expect((await poll(t, three.deviceCode)).status).toBe(200);
    expect(t.count("cli_tokens")).toBe(1);
    t.clock.advance(899_000);
    await poll(t, two.deviceCode);
    t.clock.advance(1_000);
    expect(await errorOf(poll(t, two.deviceCode))).toBe("expired_token");
  });

  it("keeps its interval when the wall clock jumps back or forward", async () => {
    const t = await startInstance();
    const { deviceCode } = await waiting(t);
    expect(await errorOf(poll(t, deviceCode))).toBe("authorization_pending");
    t.clock.jump(-3_600_000);
    t.clock.advance(5_000);
    expect(await errorOf(poll(t, deviceCode))).toBe("authorization_pending");
    t.clock.jump(3_600_000 + 60_000);
    expect(await errorOf(poll(t, deviceCode))).toBe("slow_down");
  });
});
