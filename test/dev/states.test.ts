import { describe, expect, it } from "vitest";
import { type LocalAnswer, startLocal, type TestLocal } from "../support/dev.ts";

/** Every state of the contract's tables, reached through the control routes and the API alone. */

const told = ({ status, body }: LocalAnswer) => [status, body];
const reason = ({ status, body }: LocalAnswer) => [status, body.reason];
const rotate = (t: TestLocal, token: string) => t.post("/api/connect/rotate", { token });
const exchange = (t: TestLocal, code: string) =>
  t.post("/api/connect/exchange", { json: { code, consent: { version: "1" } } });
const poll = (t: TestLocal, device_code: string) => t.post("/api/cli/device/token", { json: { device_code } });

/** Starts a device authorization as a tool does. */
async function begin(t: TestLocal) {
  const { body } = await t.post("/api/cli/device/code", { json: { channel: "npm" } });
  return { deviceCode: body.device_code as string, userCode: body.user_code as string };
}

describe("a connect code", () => {
  it("binds a device once, and is then used", async () => {
    const t = await startLocal();
    const { connectCode, teamId } = t.local.credentials;
    const first = await exchange(t, connectCode);
    expect([first.status, first.body.teamId]).toEqual([200, teamId]);
    expect((await exchange(t, connectCode)).status).toBe(400);
  });

  it.each([
    ["open", 200, undefined],
    ["expired", 400, "expired"],
    ["used", 400, "used already"],
  ])("that was made %s answers %i", async (state, status, says) => {
    const t = await startLocal();
    const { connectCode } = await t.control("/_dev/credentials", { kind: "connectCode", state });
    const answer = await exchange(t, connectCode);
    expect(answer.status).toBe(status);
    if (says) expect(answer.body.error).toContain(says);
  });

  it("that nobody made belongs to no team", async () => {
    const t = await startLocal();
    expect((await exchange(t, "7F3K-9QWX-2B4M-H8TZ-5RCD-1VNP")).status).toBe(404);
  });
});

describe("a device token", () => {
  it("is replaced by a rotation, after which the old one was rotated already", async () => {
    const t = await startLocal();
    const { deviceToken, teamId } = t.local.credentials;
    const rotated = await rotate(t, deviceToken);
    expect([rotated.status, rotated.body.teamId]).toEqual([200, teamId]);
    expect(reason(await rotate(t, deviceToken))).toEqual([409, "already_rotated"]);
    expect((await t.get("/api/policy", { token: deviceToken })).status).toBe(401);
    expect((await t.get("/api/policy", { token: rotated.body.deviceToken })).status).toBe(200);
  });

  it("expires when the clock is moved past its ninety days, and not before", async () => {
    const t = await startLocal();
    const token = t.local.credentials.deviceToken;
    await t.control("/_dev/clock", { advance: "89d" });
    expect((await t.get("/api/policy", { token })).status).toBe(200);
    await t.control("/_dev/clock", { advance: "1d" });
    expect((await t.get("/api/policy", { token })).status).toBe(401);
    expect(reason(await rotate(t, token))).toEqual([403, "token_expired"]);
  });

  it.each([
    ["active", 200, undefined],
    ["expired", 403, "token_expired"],
    ["revoked", 403, "token_revoked"],
    ["rotated", 409, "already_rotated"],
  ])("that was made %s answers a rotation with %i", async (state, status, why) => {
    const t = await startLocal();
    const { deviceToken } = await t.control("/_dev/credentials", { kind: "device", state });
    expect(reason(await rotate(t, deviceToken))).toEqual([status, why]);
    expect((await t.get("/api/policy", { token: deviceToken })).status).toBe(401);
  });

  it("in use is revoked or replaced by a control route, as an admin or the device itself would", async () => {
    const t = await startLocal();
    const { deviceId, deviceToken } = t.local.credentials;
    const { deviceToken: next } = await t.control(`/_dev/devices/${deviceId}`, { action: "rotate" });
    expect(reason(await rotate(t, deviceToken))).toEqual([409, "already_rotated"]);
    expect((await t.get("/api/policy", { token: next })).status).toBe(200);
    expect(await t.control(`/_dev/devices/${deviceId}`, { action: "revoke" })).toMatchObject({ changed: true });
    expect(reason(await rotate(t, next))).toEqual([403, "token_revoked"]);
  });

  it("that an agent got by itself can be rotated behind its back", async () => {
    const t = await startLocal();
    const { body } = await exchange(t, t.local.credentials.connectCode);
    const { body: rotated } = await rotate(t, body.deviceToken);
    expect((await t.get("/api/policy", { token: rotated.deviceToken })).status).toBe(200);
    await t.control(`/_dev/devices/${body.deviceId}`, { action: "rotate" });
    expect((await t.get("/api/policy", { token: rotated.deviceToken })).status).toBe(401);
  });

  it("that is unknown is invalid, and one that disconnected is revoked", async () => {
    const t = await startLocal();
    expect(reason(await rotate(t, "rkd_nobody"))).toEqual([401, "invalid_token"]);
    const token = t.local.credentials.deviceToken;
    expect((await t.post("/api/connect/disconnect", { token })).body.ok).toBe(true);
    expect(reason(await rotate(t, token))).toEqual([403, "token_revoked"]);
  });
});

describe("a device authorization", () => {
  it("is pending, told to slow down, pending again after waiting, and approved", async () => {
    const t = await startLocal();
    const { deviceCode, userCode } = await begin(t);
    expect(told(await poll(t, deviceCode))).toEqual([400, { error: "authorization_pending" }]);
    expect(told(await poll(t, deviceCode))).toEqual([400, { error: "slow_down" }]);
    // The interval is ten seconds by now, counted from the poll that was in time.
    await t.control("/_dev/clock", { advance: "9s" });
    expect(told(await poll(t, deviceCode))).toEqual([400, { error: "slow_down" }]);
    await t.control("/_dev/clock", { advance: "6s" });
    expect(told(await poll(t, deviceCode))).toEqual([400, { error: "authorization_pending" }]);
    const { body: state } = await t.get("/_dev/state");
    expect(state.authorizations).toEqual([expect.objectContaining({ user_code: userCode, channel: "npm" })]);
    await t.control("/_dev/authorizations", { user_code: userCode, decision: "approve" });
    await t.control("/_dev/clock", { advance: "15s" });
    const answer = await poll(t, deviceCode);
    expect([answer.status, answer.body.token_type]).toEqual([200, "Bearer"]);
    const me = await t.get("/api/cli/me", { token: answer.body.access_token });
    expect(told(me)).toEqual([200, { userId: t.local.credentials.userId, email: "demo@example.com" }]);
    expect(told(await poll(t, deviceCode))).toEqual([400, { error: "invalid_grant" }]);
  });

  it("is denied, and expires", async () => {
    const t = await startLocal();
    const denied = await begin(t);
    await t.control("/_dev/authorizations", { user_code: denied.userCode, decision: "deny" });
    expect(told(await poll(t, denied.deviceCode))).toEqual([400, { error: "invalid_grant" }]);
    const late = await begin(t);
    await t.control("/_dev/clock", { advance: "15m" });
    expect(told(await poll(t, late.deviceCode))).toEqual([400, { error: "expired_token" }]);
    const answer = await t.post("/_dev/authorizations", { json: { user_code: late.userCode, decision: "approve" } });
    expect([answer.status, answer.body.code]).toEqual([410, "gone"]);
  });

  it.each(["expired", "revoked"])("leaves a token that answers 401 when it was made %s", async (state) => {
    const t = await startLocal();
    const { cliToken } = await t.control("/_dev/credentials", { kind: "cliToken", state });
    expect((await t.get("/api/cli/me", { token: cliToken })).status).toBe(401);
    expect((await t.get("/api/cli/me", { token: t.local.credentials.cliToken })).status).toBe(200);
  });
});

describe("a read token", () => {
  const ask = (t: TestLocal, token: string) => t.get("/api/me/brain/context?q=why", { token });

  it.each([
    ["active", 200],
    ["expired", 401],
    ["revoked", 401],
  ])("that was made %s answers %i", async (state, status) => {
    const t = await startLocal();
    const { readToken } = await t.control("/_dev/credentials", { kind: "readToken", state });
    expect((await ask(t, readToken)).status).toBe(status);
  });

  it("is whole again after its minute and its day", async () => {
    const t = await startLocal({ env: { RECKON_LIMIT_READ: "2/60", RECKON_LIMIT_READ_DAILY: "3" }, frozen: true });
    const token = t.local.credentials.readToken;
    expect([(await ask(t, token)).status, (await ask(t, token)).status]).toEqual([200, 200]);
    const limited = await ask(t, token);
    expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "30"]);
    await t.control("/_dev/clock", { advance: "60s" });
    expect([(await ask(t, token)).status, (await ask(t, token)).status]).toEqual([200, 429]);
    await t.control("/_dev/clock", { advance: "1d" });
    expect((await ask(t, token)).status).toBe(200);
  });
});

describe("a team", () => {
  const license = (t: TestLocal) => t.get("/api/license", { token: t.local.credentials.deviceToken });

  it("without a subscription gets no licence, past due gets one for its fourteen days", async () => {
    const t = await startLocal();
    expect((await license(t)).body.status).toBe("active");
    await t.control("/_dev/team", { subscription: "canceled" });
    expect((await license(t)).status).toBe(402);
    await t.control("/_dev/team", { subscription: "past_due" });
    expect((await license(t)).body.status).toBe("past_due");
    await t.control("/_dev/clock", { advance: "14d" });
    expect((await license(t)).status).toBe(402);
    await t.control("/_dev/team", { subscription: "active", periodEnd: "2027-06-01T00:00:00Z", seats: 3 });
    expect((await license(t)).body).toMatchObject({ status: "active", seatCount: 3 });
    await t.control("/_dev/team", { suspended: true });
    expect((await license(t)).status).toBe(403);
    await t.control("/_dev/team", { suspended: false, periodEnd: null });
    expect((await license(t)).status).toBe(200);
  });

  it("of the smallest tier is told what would include the brain", async () => {
    const t = await startLocal();
    await t.control("/_dev/team", { tier: "starter" });
    const token = t.local.credentials.deviceToken;
    const answer = await t.post("/api/brain/ingest", { token, json: { version: 1, files: [] } });
    expect([answer.status, answer.body.entitled]).toEqual([402, ["team", "enterprise"]]);
    const telemetry = await t.post("/api/telemetry/ingest", { token, json: { entries: [] } });
    expect(telemetry.status).toBe(200);
    await t.control("/_dev/team", { tier: "none" });
    const none = await t.post("/api/telemetry/ingest", { token, json: { entries: [] } });
    expect([none.status, none.body.entitled]).toEqual([402, ["starter", "team", "enterprise"]]);
  });
});

describe("an ingest", () => {
  it("is too large, holds a secret, comes too fast", async () => {
    const t = await startLocal({
      env: { RECKON_MAX_BRAIN_FILE_BYTES: "2000", RECKON_LIMIT_BRAIN: "2/60" },
      frozen: true,
    });
    const send = (content: string) =>
      t.post("/api/brain/ingest", {
        token: t.local.credentials.deviceToken,
        json: { version: 1, repoKey: "r", files: [{ path: "a.md", content }] },
      });
    expect((await send("x".repeat(2_001))).status).toBe(413);
    const tripped = await send(`A token: ${t.local.credentials.readToken}`);
    expect([tripped.status, tripped.body.error]).toEqual([422, expect.stringContaining("a.md line 1")]);
    const limited = await send("fine");
    expect([limited.status, limited.headers.get("retry-after"), limited.headers.get("ratelimit-policy")]).toEqual([
      429,
      "30",
      "brain;q=2;w=60",
    ]);
    await t.control("/_dev/clock", { advance: "30s" });
    expect((await send("fine")).status).toBe(200);
  });
});

describe("trouble on the server's side", () => {
  it("answers health with degraded and 503, then ok again", async () => {
    const t = await startLocal();
    await t.control("/_dev/faults", { operationId: "getHealth", status: 503 });
    const down = await t.get("/api/health");
    expect([down.status, down.body.status, down.body.db]).toEqual([503, "degraded", "down"]);
    expect(down.headers.get("retry-after")).toBe("5");
    expect((await t.get("/api/health")).body).toMatchObject({ status: "ok", db: "up" });
  });

  it.each([
    ["getLicensePubkey", 501, "GET", "/api/license/pubkey", { error: expect.any(String) }],
    ["getLicense", 503, "GET", "/api/license", { error: expect.any(String), retryable: true }],
    ["telemetryIngest", 503, "POST", "/api/telemetry/ingest", { error: expect.any(String) }],
    [
      "telemetryIngest",
      402,
      "POST",
      "/api/telemetry/ingest",
      { error: expect.any(String), entitled: expect.any(Array) },
    ],
    ["connectRotate", 409, "POST", "/api/connect/rotate", { error: expect.any(String), reason: "already_rotated" }],
    ["cliDeviceToken", 503, "POST", "/api/cli/device/token", { error: expect.any(String) }],
    ["brainIngest", 500, "POST", "/api/brain/ingest", { error: expect.any(String) }],
  ])("makes %s answer %i once, in its own shape", async (operationId, status, method, path, body) => {
    const t = await startLocal();
    await t.control("/_dev/faults", { operationId, status, ...(status === 503 ? { retryAfter: 9 } : {}) });
    const first = await t.call(method, path);
    expect(told(first)).toEqual([status, body]);
    if (status === 503) expect(first.headers.get("retry-after")).toBe("9");
    expect((await t.call(method, path)).status).not.toBe(status);
  });
});
