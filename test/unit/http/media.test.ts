import { expect, it } from "vitest";
import { startInstance, startWithDevice } from "../../support/instance.ts";

const PLAIN = { headers: { "content-type": "text/plain" }, body: "channel=npm" };

it("names the media types that a route accepts when it gets another", async () => {
  const { t, device } = await startWithDevice();
  const form = await t.post("/api/cli/device/code", PLAIN);
  expect([form.status, form.body]).toEqual([
    400,
    { error: "The body must be application/json or application/x-www-form-urlencoded." },
  ]);
  const json = await t.post("/api/telemetry/ingest", { token: device.token, ...PLAIN });
  expect([json.status, json.body.error]).toEqual([400, "The body must be application/json."]);
});

it("names the choices of a member that has a fixed set", async () => {
  const t = await startInstance();
  const answer = await t.post("/api/cli/device/code", { json: { channel: "x" } });
  expect([answer.status, answer.body]).toEqual([
    400,
    { error: 'In the body, "channel" must be one of "npm", "desktop".' },
  ]);
});
