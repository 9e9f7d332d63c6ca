import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startLocal } from "../support/dev.ts";

describe("the control routes", () => {
  it("are listed at /_dev with examples that work", async () => {
    const t = await startLocal();
    const { body } = await t.get("/_dev");
    expect(body.routes.length).toBeGreaterThan(10);
    const { deviceId } = t.local.credentials;
    for (const { method, path, example } of body.routes) {
      const { body: started } = await t.post("/api/cli/device/code");
      const { body: asked } = await t.post("/api/requests/ingest", { json: { text: "Filter by branch, please." } });
      const json = example?.user_code ? { ...example, user_code: started.user_code } : (example ?? {});
      const ask = method === "POST" ? { json } : {};
      const id = path.includes("/requests/") ? asked.id : deviceId;
      const answer = await t.call(method, path.replace(":id", id), ask);
      expect([method, path, answer.status, answer.body.ok]).toEqual([method, path, 200, true]);
    }
  });

  it("register installers, served here or elsewhere, and withdraw them", async () => {
    const t = await startLocal({ frozen: true });
    const latest = () => t.get("/api/download/latest");
    expect((await latest()).status).toBe(404);
    const { release } = await t.control("/_dev/releases", { version: "2.4.0" });
    expect(release).toMatchObject({ platform: "win32", version: "2.4.0", createdAt: "2026-11-21T08:00:00.000Z" });
    const { url, version, sha512 } = (await latest()).body;
    expect([url, version, sha512]).toEqual([release.url, "2.4.0", release.sha512]);
    const file = await t.get(new URL(url).pathname);
    expect([file.status, createHash("sha512").update(file.body).digest("base64")]).toEqual([200, sha512]);
    await t.control("/_dev/releases", { version: "3.0.0-beta.1" });
    expect((await latest()).body.version).toBe("2.4.0");
    const elsewhere = { version: "2.5.0", url: "https://dl.example.com/Setup.exe", sha512: "0".repeat(128) };
    await t.control("/_dev/releases", elsewhere);
    expect((await latest()).body).toMatchObject({ version: "2.5.0", url: elsewhere.url });
    await t.control("/_dev/releases", { version: "2.5.0", withdraw: true });
    expect((await latest()).body.version).toBe("2.4.0");
    for (const [json, status, says] of [
      [{ version: "2.4.0" }, 409, "registered already"],
      [{ version: "two" }, 400, "three numbers"],
      [{ version: "9.0.0", withdraw: true }, 404, "no such release"],
      [{ version: "9.0.0", url: "https://dl.example.com/Setup.exe" }, 400, "SHA-512"],
    ] as const) {
      const refused = await t.post("/_dev/releases", { json });
      expect([json, refused.status, refused.body.error]).toEqual([json, status, expect.stringContaining(says)]);
    }
    // Nothing lies about but what is registered.
    expect(readdirSync(join(t.directory, "releases")).length).toBe(2);
  });

  it("decide about a product request as an operator would", async () => {
    const t = await startLocal();
    const { body } = await t.post("/api/requests/ingest", { json: { text: "Filter by branch, please." } });
    const { request } = await t.control(`/_dev/requests/${body.id}`, { status: "planned", note: "Next month." });
    expect(request).toMatchObject({ id: body.id, status: "planned", note: "Next month." });
    const told = await t.get(`/api/requests/status?ids=${body.id}`);
    expect([told.status, JSON.stringify(told.body)]).toEqual([200, expect.stringContaining('"status":"planned"')]);
    const unknown = await t.post("/_dev/requests/req_nothing", { json: { status: "planned" } });
    expect([unknown.status, unknown.body.ok]).toEqual([404, false]);
    const wrong = await t.post(`/_dev/requests/${body.id}`, { json: { status: "done" } });
    expect([wrong.status, wrong.body.error]).toEqual([400, expect.stringContaining('"status"')]);
  });

  it("are not part of the API: neither its description nor its hints know them", async () => {
    const t = await startLocal();
    const { body } = await t.get("/openapi.json");
    expect(body.openapi).toBe("3.1.0");
    expect(JSON.stringify(body)).not.toContain("_dev");
  });

  it("answer what nobody knows with 404, a wrong method with 405 and what would be right", async () => {
    const t = await startLocal();
    const unknown = await t.get("/_dev/clocks");
    expect([unknown.status, unknown.body]).toEqual([
      404,
      { ok: false, code: "not_found", error: "There is no control route /_dev/clocks. GET /_dev lists them all." },
    ]);
    const wrong = await t.call("DELETE", "/_dev/clock");
    expect([wrong.status, wrong.body.code, wrong.headers.get("allow")]).toEqual([
      405,
      "method_not_allowed",
      "GET, POST",
    ]);
  });

  it.each([
    ["/_dev/clock", "{", "not valid JSON"],
    ["/_dev/clock", "[]", "JSON object"],
    ["/_dev/clock", "1", "the document"],
    ["/_dev/team", '{"tier":"gold"}', '"tier"'],
    ["/_dev/clock", '{"to":"2027-01-01"}', 'In the body, "to" is not known. Members: freeze, advance, set.'],
    ["/_dev/clock", '{"set":"2027-02-31T00:00:00Z"}', 'In the body, "set" must be an instant'],
    ["/_dev/clock", '{"freeze":1}', 'In the body, "freeze" must be a boolean.'],
    ["/_dev/team", '{"tiers":"team"}', "tier, subscription, suspended, periodEnd, seats"],
    ["/_dev/team", '{"periodEnd":"2027-01-01T00:00:00+05"}', '"periodEnd"'],
    ["/_dev/devices/%zz", '{"action":"revoke"}', "percent-encoded"],
    ["/_dev/credentials", '{"kind":"device","state":"lost"}', "active, expired, revoked, rotated"],
    ["/_dev/credentials", '{"kind":"badge"}', '"kind"'],
    ["/_dev/authorizations", '{"user_code":"BCDF-GHJK","decision":"maybe"}', '"decision"'],
  ])("refuse %s %s with an explanation", async (path, body, says) => {
    const t = await startLocal();
    const answer = await t.call("POST", path, { body });
    expect([answer.status, answer.body.ok, answer.body.code]).toEqual([400, false, "bad_request"]);
    expect(answer.body.error).toContain(says);
  });

  it("say so when a device or an authorization is not there", async () => {
    const t = await startLocal();
    const device = await t.post("/_dev/devices/dev_nobody", { json: { action: "revoke" } });
    expect([device.status, device.body.error]).toEqual([404, expect.stringContaining("dev_nobody")]);
    const rotated = await t.post("/_dev/devices/dev_nobody", { json: { action: "rotate" } });
    expect(rotated.status).toBe(404);
    const answer = await t.post("/_dev/authorizations", { json: { user_code: "BCDF-GHJK", decision: "deny" } });
    expect([answer.status, answer.body.ok]).toEqual([404, false]);
  });

  it("refuse a body over 64 KiB, whether or not it tells its length", async () => {
    const t = await startLocal();
    const body = JSON.stringify({ advance: "x".repeat(70_000) });
    expect((await t.call("POST", "/_dev/clock", { body })).status).toBe(413);
    const stream = new Blob([body]).stream();
    const request = new Request("http://127.0.0.1:4870/_dev/clock", { method: "POST", body: stream, duplex: "half" });
    expect((await t.local.fetch(request)).status).toBe(413);
  });

  it.each([
    ["another host's name", { host: "reckon.example.com" }],
    ["a name that resolves here", { host: "127.0.0.1.nip.example:4870" }],
    ["another site's page", { origin: "https://evil.example" }],
    ["a sandboxed page", { origin: "null" }],
    ["another local site's page", { origin: "http://127.0.0.1:3000" }],
  ])("refuse %s", async (_, headers) => {
    const t = await startLocal();
    for (const path of ["/_dev/state", "/_dev"]) {
      const answer = await t.get(path, { headers: headers as unknown as Record<string, string> });
      expect([answer.status, answer.body.code]).toEqual([403, "forbidden"]);
      expect(JSON.stringify(answer.body)).not.toContain(t.local.credentials.teamId);
    }
  });

  it("answer this machine under each of its names", async () => {
    const t = await startLocal();
    for (const host of ["127.0.0.1:4870", "localhost:4870", "[::1]:4870"])
      expect((await t.get("/_dev", { headers: { host } })).status).toBe(200);
  });
});

describe("GET /_dev/state", () => {
  it("tells clock, team, credentials, devices, waiting authorizations, faults and counts", async () => {
    const t = await startLocal({ frozen: true });
    await t.control("/_dev/faults", { operationId: "getPolicy", status: 401, times: 3 });
    const token = t.local.credentials.deviceToken;
    await t.post("/api/telemetry/ingest", {
      token,
      json: {
        entries: [
          { seq: 1, payload: {} },
          { seq: 4, payload: {} },
        ],
      },
    });
    const { body } = await t.get("/_dev/state");
    expect(body).toMatchObject({
      ok: true,
      clock: { now: "2026-11-21T08:00:00.000Z", frozen: true, aheadMs: 0 },
      team: { id: t.local.credentials.teamId, tier: "team", subscription: "active", suspended: false },
      credentials: t.local.credentials,
      devices: [{ id: t.local.credentials.deviceId, label: "demo device", status: "active" }],
      authorizations: [],
      faults: [{ operationId: "getPolicy", status: 401, times: 3 }],
      counts: { devices: 1, deliveries: 1, telemetryEntries: 2, missingSequenceNumbers: 2, journal: 1 },
    });
  });
});
