import { expect, it } from "vitest";
import { createCode, revokeDevice } from "../../../src/identity/devices/devices.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { rotateKey } from "../../../src/platform/keys/keys.ts";
import { parsePolicy, setPolicy } from "../../../src/record/policy/policy.ts";
import { startInstance, type TestInstance } from "../../support/instance.ts";

/** Every change that a machine or a command makes is recorded with the transaction that makes it. */

const events = (t: TestInstance, what: string) =>
  t.rows(
    "SELECT actor_kind AS kind, actor_label AS who, action, team_id AS team, target_id AS target, ip FROM audit_events WHERE action LIKE ? ORDER BY id",
    what,
  );

async function connect(t: TestInstance, deviceLabel?: string) {
  const team = await t.team();
  const code = await t.code(team);
  const headers = { "x-forwarded-for": "203.0.113.9", "user-agent": "agent/1" };
  const consent = { version: "2026-01", ...(deviceLabel === undefined ? {} : { deviceLabel }) };
  const { body } = await t.post("/api/connect/exchange", { json: { code, consent }, headers });
  return { team, code, headers, token: body.deviceToken as string, deviceId: body.deviceId as string };
}

const start = () => startInstance({ settings: { trustedProxies: "127.0.0.1" } });

it("connecting, replacing the token and disconnecting, by the device itself, from its address", async () => {
  const t = await start();
  const { team, token, deviceId, headers } = await connect(t, "build-7");
  const rotated = await t.post("/api/connect/rotate", { token, headers });
  await t.post("/api/connect/disconnect", { token: rotated.body.deviceToken, headers });
  const same = { kind: "device", who: "build-7", team: team.id, target: deviceId, ip: "203.0.113.9" };
  expect(events(t, "device.%")).toEqual([
    { ...same, action: "device.connected" },
    { ...same, action: "device.rotated" },
    { ...same, action: "device.disconnected" },
  ]);
  const [{ detail }] = t.rows("SELECT detail FROM audit_events WHERE action = 'device.connected'");
  expect(JSON.parse(detail)).toMatchObject({ consentVersion: "2026-01", userAgent: "agent/1" });
});

it("names a device without a label by its id, and no secret anywhere", async () => {
  const t = await start();
  const { code, token, deviceId } = await connect(t);
  expect(events(t, "device.%")).toMatchObject([{ who: deviceId }]);
  const all = JSON.stringify(t.rows("SELECT * FROM audit_events"));
  expect([all.includes(token), all.includes(code), all.includes(code.replaceAll("-", ""))]).toEqual([
    false,
    false,
    false,
  ]);
});

it("nothing when nothing was done: refused exchanges, lost races, bindings that had ended", async () => {
  const t = await start();
  const { code, token, deviceId } = await connect(t, "build-7");
  const again = await t.post("/api/connect/exchange", { json: { code, consent: { version: "1" } } });
  expect(again.status).toBe(400);
  const races = await Promise.all(Array.from({ length: 10 }, () => t.post("/api/connect/rotate", { token })));
  expect(races.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)]);
  expect([
    await revokeDevice(t.instance.core, deviceId, COMMAND_LINE),
    await revokeDevice(t.instance.core, deviceId, COMMAND_LINE),
  ]).toEqual([true, false]);
  expect(events(t, "device.%").map(({ action, kind }) => `${kind} ${action}`)).toEqual([
    "device device.connected",
    "device device.rotated",
    "command device.revoked",
  ]);
});

it("what is done from the command line: codes, policies, keys", async () => {
  const t = await start();
  const { core } = t.instance;
  const team = await t.team();
  await createCode(core, team.id, COMMAND_LINE);
  await setPolicy(core, team.id, parsePolicy('{"captureMode":"full"}'), COMMAND_LINE);
  const { kid } = await rotateKey(core, COMMAND_LINE);
  const by = { kind: "command", who: "command line", ip: null };
  expect(events(t, "code.%")).toMatchObject([{ ...by, action: "code.created", team: team.id }]);
  expect(events(t, "policy.%")).toMatchObject([{ ...by, action: "policy.changed", team: team.id }]);
  expect(events(t, "key.%")).toEqual([{ ...by, action: "key.rotated", team: null, target: kid }]);
});
