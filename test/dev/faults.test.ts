import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { CONTRACT } from "../../src/app.ts";
import { faultsOf } from "../../src/platform/http/endpoint.ts";
import { SHAPE_SCHEMAS } from "../../src/platform/http/faults.ts";
import { startLocal } from "../support/dev.ts";

const plan = { operationId: "telemetryIngest", status: 503 };
const ingest = "/api/telemetry/ingest";

describe("POST /_dev/faults", () => {
  it("can plan every fault that any operation declares, each in its shape and with its headers", async () => {
    const t = await startLocal({ frozen: true });
    let planned = 0;
    for (const endpoint of CONTRACT) {
      const { id, method, path } = endpoint.spec;
      for (const { status, name, shape } of faultsOf(endpoint)) {
        await t.control("/_dev/faults", { operationId: id, status, fault: name, retryAfter: 3 });
        const answer = await t.call(method, path);
        const schema = SHAPE_SCHEMAS[shape];
        const strict = schema.type === "object" ? v.strictObject(schema.entries) : schema;
        expect([id, name, answer.status]).toEqual([id, name, status]);
        expect([id, name, v.safeParse(strict, answer.body).issues]).toEqual([id, name, undefined]);
        if (status === 429) expect([id, answer.headers.get("retry-after")]).toEqual([id, "3"]);
        if (status === 401) expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer/);
        planned++;
      }
    }
    expect(planned).toBeGreaterThan(100);
    expect((await t.get("/_dev/faults")).body.faults).toEqual([]);
  });

  it("says what the real reply says, down to optional members and headers", async () => {
    const t = await startLocal({ frozen: true });
    const headersOf = ({ headers }: { headers: Headers }) =>
      Object.fromEntries([...headers].filter(([name]) => name !== "content-length"));
    for (const [operationId, status, path, fault] of [
      ["downloadLatest", 404, "/api/download/latest?platform=darwin", "unsupportedPlatform"],
      ["downloadLatest", 404, "/api/download/latest", "notAvailable"],
    ] as const) {
      const real = await t.get(path);
      await t.control("/_dev/faults", { operationId, status, fault });
      const planned = await t.get(path);
      expect([fault, planned.status, planned.body]).toEqual([fault, real.status, real.body]);
      expect([fault, headersOf(planned)]).toEqual([fault, headersOf(real)]);
    }
    // What the endpoints themselves say when they cannot sign, and when too many wait.
    for (const [operationId, fault, wait] of [
      ["getLicense", "signingUnavailable", "30"],
      ["cliDeviceToken", "signingUnavailable", "30"],
      ["cliDeviceCode", "tooManyWaiting", "60"],
    ] as const) {
      await t.control("/_dev/faults", { operationId, status: 503, fault });
      const { method, path } = CONTRACT.find(({ spec }) => spec.id === operationId)?.spec ?? {};
      expect([fault, (await t.call(method ?? "", path ?? "")).headers.get("retry-after")]).toEqual([fault, wait]);
    }
  });

  it("can plan by name all that it lists, the health check's degraded state too", async () => {
    const t = await startLocal();
    const { declared } = (await t.get("/_dev/faults")).body as {
      declared: Record<string, { status: number; name: string }[]>;
    };
    for (const [operationId, faults] of Object.entries(declared))
      for (const { status, name: fault } of faults) {
        const { planned } = await t.control("/_dev/faults", { operationId, status, fault });
        expect(planned).toMatchObject({ operationId, status, fault: expect.any(String) });
      }
    expect(declared.getHealth?.find(({ status }) => status === 503)?.name).toBe("degraded");
    await t.control("/_dev/faults", { operationId: "getHealth", status: 503, fault: "degraded" });
    const { status, body } = await t.get("/api/health");
    expect([status, body]).toMatchObject([503, { status: "degraded", db: "down" }]);
    const other = await t.post("/_dev/faults", { json: { operationId: "getHealth", status: 503, fault: "nothing" } });
    expect([other.status, other.body.error]).toEqual([400, expect.stringContaining("503 degraded")]);
  });

  it("answers as many requests as it was told, then lets them through", async () => {
    const t = await startLocal();
    const token = t.local.credentials.deviceToken;
    const send = async () => (await t.post(ingest, { token, json: { entries: [] } })).status;
    const { planned } = await t.control("/_dev/faults", { ...plan, times: 2 });
    expect(planned).toMatchObject({ ...plan, times: 2 });
    expect([await send(), await send(), await send()]).toEqual([503, 503, 200]);
    await t.control("/_dev/faults", { ...plan, times: 9 });
    expect(await send()).toBe(503);
    expect((await t.get("/_dev/faults")).body.faults).toMatchObject([{ times: 8 }]);
    await t.control("/_dev/faults", { ...plan, times: 0 });
    expect(await send()).toBe(200);
  });

  it("stores nothing of the requests that it answers", async () => {
    const t = await startLocal();
    await t.control("/_dev/faults", plan);
    const token = t.local.credentials.deviceToken;
    await t.post(ingest, { token, json: { entries: [{ seq: 1, payload: {} }] } });
    expect((await t.get("/_dev/state")).body.counts).toMatchObject({ deliveries: 0, telemetryEntries: 0 });
  });

  it("leaves other operations alone", async () => {
    const t = await startLocal();
    await t.control("/_dev/faults", plan);
    expect((await t.get("/api/policy", { token: t.local.credentials.deviceToken })).status).toBe(200);
  });

  it("gives a 429 the headers of the operation's own quotas, used up", async () => {
    const t = await startLocal();
    await t.control("/_dev/faults", { operationId: "telemetryIngest", status: 429, retryAfter: 12 });
    const { headers } = await t.post(ingest);
    expect(
      ["retry-after", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "ratelimit-policy"].map((name) =>
        headers.get(name),
      ),
    ).toEqual(["12", "600", "0", "12", "telemetry;q=600;w=60"]);
  });

  it("picks among several faults of a status by name or code", async () => {
    const t = await startLocal();
    const rotate = () => t.post("/api/connect/rotate");
    const one = { operationId: "connectRotate", status: 403 };
    await t.control("/_dev/faults", { ...one, fault: "tokenRevoked" });
    expect((await rotate()).body.reason).toBe("token_revoked");
    await t.control("/_dev/faults", { ...one, fault: "token_expired" });
    expect((await rotate()).body.reason).toBe("token_expired");
  });

  it("refuses a status that the operation does not declare, naming those it does", async () => {
    const t = await startLocal();
    const answer = await t.post("/_dev/faults", { json: { operationId: "getLicense", status: 418 } });
    expect([answer.status, answer.body.code]).toEqual([400, "bad_request"]);
    expect(answer.body.error).toContain("The operation getLicense declares no 418.");
    for (const { status, name } of faultsOf(CONTRACT.find(({ spec }) => spec.id === "getLicense") as never))
      expect(answer.body.error).toContain(`${status} ${name}`);
    const nobody = await t.post("/_dev/faults", { json: { operationId: "getLicence", status: 402 } });
    expect([nobody.status, nobody.body.error]).toEqual([400, expect.stringContaining("getLicense,")]);
  });

  it("is taken back by DELETE, for one operation or all", async () => {
    const t = await startLocal();
    for (const operationId of ["telemetryIngest", "getPolicy", "brainIngest"])
      await t.control("/_dev/faults", { operationId, status: 500 });
    const one = await t.call("DELETE", "/_dev/faults?operationId=getPolicy");
    expect([one.body.cleared, one.body.faults.length]).toEqual([1, 2]);
    expect((await t.call("DELETE", "/_dev/faults")).body).toMatchObject({ cleared: 2, faults: [] });
    expect((await t.call("DELETE", "/_dev/faults?operationId=nothing")).status).toBe(400);
  });
});
