import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { maskBody } from "../../src/surfaces/dev/journal.ts";
import { startLocal, type TestLocal } from "../support/dev.ts";

const entries = async (t: TestLocal, query = "") => (await t.get(`/_dev/journal${query}`)).body.entries;

describe("GET /_dev/journal", () => {
  it("tells of each request and its reply", async () => {
    const t = await startLocal({ frozen: true });
    const token = t.local.credentials.deviceToken;
    await t.post("/api/telemetry/ingest", { token, json: { entries: [{ seq: 1, payload: { text: "hello" } }] } });
    const [one] = await entries(t);
    expect(one).toMatchObject({
      id: 1,
      at: "2026-11-21T08:00:00.000Z",
      method: "POST",
      path: "/api/telemetry/ingest",
      operationId: "telemetryIngest",
      status: 200,
      fault: null,
      injected: false,
      ms: expect.any(Number),
      request: { headers: { authorization: "Bearer rkd_[masked]" } },
      reply: { headers: { "service-api-version": "1" } },
    });
    expect(JSON.parse(one.request.body).entries).toEqual([{ seq: 1, payload: { text: "hello" } }]);
    expect(JSON.parse(one.reply.body)).toMatchObject({ ok: true, accepted: 1 });
  });

  it("tells refusals by name, planned ones as such, and unknown paths", async () => {
    const t = await startLocal();
    await t.get("/api/policy");
    await t.control("/_dev/faults", { operationId: "getPolicy", status: 500 });
    await t.get("/api/policy");
    await t.get("/api/nowhere");
    expect(
      (await entries(t)).map(({ operationId, status, fault, injected }: Record<string, unknown>) => ({
        operationId,
        status,
        fault,
        injected,
      })),
    ).toEqual([
      { operationId: "getPolicy", status: 401, fault: "unauthorized", injected: false },
      { operationId: "getPolicy", status: 500, fault: "internal", injected: true },
      { operationId: null, status: 404, fault: null, injected: false },
    ]);
    expect(JSON.parse((await entries(t)).at(-1).reply.body).code).toBe("not_found");
  });

  it("shows no credential, wherever it stood", async () => {
    const t = await startLocal();
    const { connectCode, deviceToken, readToken, cliToken } = t.local.credentials;
    const exchanged = await t.post("/api/connect/exchange", {
      json: { code: connectCode, consent: { version: "1" } },
    });
    const rotated = await t.post("/api/connect/rotate", { token: exchanged.body.deviceToken });
    const started = await t.post("/api/cli/device/code", { json: { channel: "npm" } });
    await t.control("/_dev/authorizations", { user_code: started.body.user_code, decision: "approve" });
    const granted = await t.post("/api/cli/device/token", {
      body: `device_code=${started.body.device_code}`,
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    await t.get(`/api/me/brain/context?q=${readToken}`, { token: readToken });
    await t.get("/api/cli/me", { token: cliToken });
    await t.get("/api/license", { token: rotated.body.deviceToken });
    await t.post("/api/telemetry/ingest", { token: deviceToken, body: `{"entries": "cut short ${readToken}` });
    await t.post("/login", { body: "email=a%40example.com&password=the-secret-of-a", headers: { cookie: "s=canary" } });
    const shown = JSON.stringify(await entries(t));
    const secrets = [
      connectCode,
      deviceToken,
      exchanged.body.deviceToken,
      rotated.body.deviceToken,
      started.body.device_code,
      started.body.user_code,
      granted.body.access_token,
      readToken,
      cliToken,
      "the-secret-of-a",
      "canary",
    ];
    for (const secret of secrets) {
      expect(typeof secret).toBe("string");
      expect(shown).not.toContain(secret);
    }
    expect(shown).toContain("connectExchange");
  });

  it("unpacks compressed bodies", async () => {
    const t = await startLocal();
    const body = gzipSync(JSON.stringify({ entries: [{ seq: 1, payload: { said: "packed" } }] }));
    const request = new Request("http://127.0.0.1:4870/api/telemetry/ingest", {
      method: "POST",
      headers: {
        authorization: `Bearer ${t.local.credentials.deviceToken}`,
        "content-type": "application/json",
        "content-encoding": "gzip",
      },
      body,
    });
    expect((await t.local.fetch(request)).status).toBe(200);
    expect((await entries(t))[0].request.body).toContain("packed");
  });

  it("keeps the last 200, numbers them on, and gives those after an id or of an operation", async () => {
    const t = await startLocal();
    for (let i = 0; i < 203; i++) await t.get("/api/health");
    await t.get("/api/license/pubkey");
    const all = (await t.get("/_dev/journal")).body;
    expect([all.entries.length, all.entries[0].id, all.next]).toEqual([200, 5, 204]);
    expect((await entries(t, "?since=203")).map(({ id }: { id: number }) => id)).toEqual([204]);
    expect(await entries(t, `?since=${all.next}`)).toEqual([]);
    expect((await entries(t, "?operationId=getLicensePubkey")).length).toBe(1);
    expect((await t.get("/_dev/journal?since=now")).status).toBe(400);
    expect((await t.call("DELETE", "/_dev/journal")).body.cleared).toBe(200);
    await t.get("/api/health");
    expect((await entries(t)).map(({ id }: { id: number }) => id)).toEqual([205]);
  });

  it("leaves out pages and control routes", async () => {
    const t = await startLocal();
    await t.get("/login");
    await t.get("/_dev/state");
    expect(await entries(t)).toEqual([]);
  });

  it("cuts long bodies, telling their length", () => {
    const shown = maskBody(JSON.stringify({ text: "x".repeat(10_000) })) as string;
    expect(shown.length).toBeLessThan(4_200);
    expect(shown).toMatch(/… \(10011 characters\)$/);
  });
});
