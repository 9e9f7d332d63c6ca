import { describe, expect, it } from "vitest";
import { DAY_MS } from "../../src/kit/clock.ts";
import { startInstance, startWithDevice } from "../support/instance.ts";

const PATH = "/api/connect/rotate";

describe("connectRotate", () => {
  it("replaces the token: the new one works, the old one does not", async () => {
    const { t, device } = await startWithDevice();
    t.clock.advance(DAY_MS);
    const answer = await t.post(PATH, { token: device.token });
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body).sort()).toEqual(["deviceToken", "expiresAt", "teamId"]);
    expect(answer.body).toMatchObject({ teamId: device.team.id, expiresAt: "2027-02-20T08:00:00.000Z" });
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect((await t.get("/api/policy", { token: answer.body.deviceToken })).status).toBe(200);
    expect((await t.get("/api/policy", { token: device.token })).status).toBe(401);
  });

  it.each([
    ["no token", undefined],
    ["an unknown token", "rkd_000000000000000000000000000000000000"],
  ])("answers 401 invalid_token to %s", async (_, token) => {
    const t = await startInstance();
    const answer = await t.post(PATH, token === undefined ? {} : { token });
    expect([answer.status, answer.body.reason]).toEqual([401, "invalid_token"]);
    expect(answer.headers.get("www-authenticate")).toBe(
      token === undefined ? "Bearer" : 'Bearer error="invalid_token"',
    );
  });

  it("answers 403 token_expired from the instant of expiry on", async () => {
    const { t, device } = await startWithDevice();
    t.clock.advance(90 * DAY_MS);
    const answer = await t.post(PATH, { token: device.token });
    expect([answer.status, answer.body.reason]).toEqual([403, "token_expired"]);
    expect(t.count("device_tokens")).toBe(1);
  });

  it("answers 403 token_revoked after a disconnect", async () => {
    const { t, device } = await startWithDevice();
    await t.post("/api/connect/disconnect", { token: device.token });
    const answer = await t.post(PATH, { token: device.token });
    expect([answer.status, answer.body.reason]).toEqual([403, "token_revoked"]);
  });
});
