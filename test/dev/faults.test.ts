import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { CONTRACT } from "../../src/contract.ts";
import { faultsOf } from "../../src/http/endpoint.ts";
import { SHAPE_SCHEMAS } from "../../src/http/faults.ts";
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
