import { describe, expect, it } from "vitest";
import type { Core } from "../../../src/core.ts";
import {
  createCode,
  listDevices,
  listOpenCodes,
  renameDevice,
  revokeDevice,
} from "../../../src/identity/devices/devices.ts";
import { DAY_MS, MINUTE_MS } from "../../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { readUserAgent } from "../../../src/redact/redact.ts";
import { deviceOverview } from "../../../src/surfaces/web/dashboard/devices/list.ts";
import { makeAccount } from "../../support/accounts.ts";
import { startInstance, startWithDevice, startWithTeam } from "../../support/instance.ts";

/** A team's devices, newest first. */
const overviewOf = (core: Core, teamId: string) => deviceOverview(core, listDevices(core, teamId)).reverse();

const ANN = { kind: "user", id: "usr_1", label: "ann@acme.example", ip: null } as const;

describe("deviceOverview", () => {
  it("says that a device's token ran out, unless it was rotated, and that it was revoked", async () => {
    const t = await startInstance();
    const [stale, fresh, gone] = [await t.device(), await t.device(), await t.device()];
    t.clock.advance(60 * DAY_MS);
    expect((await t.post("/api/connect/rotate", { token: fresh.token })).status).toBe(200);
    expect(await revokeDevice(t.instance.core, gone.deviceId, COMMAND_LINE)).toBe(true);
    t.clock.advance(31 * DAY_MS);
    const status = (team: string) => overviewOf(t.instance.core, team)[0]?.status;
    expect([stale, fresh, gone].map((one) => status(one.team.id))).toEqual(["expired", "active", "revoked"]);
  });
});

it("counts no seat for a device whose token ran out", async () => {
  const t = await startInstance();
  const { team } = await t.device(await t.team({ seats: 1 }));
  t.clock.advance(91 * DAY_MS);
  const exceeded = () => t.rows("SELECT detail FROM audit_events WHERE action = 'team.seats_exceeded'");
  await t.post("/api/connect/exchange", { json: { code: await t.code(team), consent: { version: "1" } } });
  expect(exceeded()).toEqual([]);
  await t.post("/api/connect/exchange", { json: { code: await t.code(team), consent: { version: "1" } } });
  expect(exceeded()).toEqual([{ detail: '{"devices":2,"seats":1}' }]);
});

it("keeps a label without control characters and secrets; blank takes it away", async () => {
  const { t, deviceId, team, token } = await startWithDevice();
  const label = async (text: string) => {
    await renameDevice(t.instance.core, team.id, deviceId, text, COMMAND_LINE);
    return overviewOf(t.instance.core, team.id)[0]?.label;
  };
  expect(await label("  build\u0000\u001b[31m agent  ")).toBe("build [31m agent");
  expect(await label(`is ${token}`)).not.toContain(token);
  expect(await label("x".repeat(500))).toHaveLength(200);
  expect(await label(" \n ")).toBeNull();
});

describe("the User-Agent", () => {
  it("is kept at exchange, replaced at rotation and heartbeat, and left alone when none is sent", async () => {
    const { t, team } = await startWithTeam();
    const agent = () => overviewOf(t.instance.core, team.id)[0]?.userAgent;
    const sent = (name: string) => ({ "user-agent": name });
    const made = await t.post("/api/connect/exchange", {
      json: { code: await t.code(team), consent: { version: "1" } },
      headers: sent("agent/1"),
    });
    expect(agent()).toBe("agent/1");
    const { body } = await t.post("/api/connect/rotate", { token: made.body.deviceToken, headers: sent("agent/2") });
    expect(agent()).toBe("agent/2");
    await t.post("/api/telemetry/heartbeat", { token: body.deviceToken, headers: sent("agent/3") });
    expect(agent()).toBe("agent/3");
    await t.post("/api/telemetry/heartbeat", { token: body.deviceToken });
    expect(agent()).toBe("agent/3");
  });

  it("is kept without secrets and control characters, and not at any length", async () => {
    const { token } = await startWithDevice();
    expect(readUserAgent(null)).toBeNull();
    expect(readUserAgent(" \u0007 ")).toBeNull();
    expect(readUserAgent("a\u001bb")).toBe("a b");
    expect(readUserAgent(`${"x".repeat(180)} ${token}`)).not.toContain(token.slice(0, 10));
    expect(readUserAgent("x".repeat(9_000))).toHaveLength(200);
  });
});

describe("open codes", () => {
  it("are those of the team that can still be exchanged, with who minted them", async () => {
    const t = await startInstance();
    const [team, other] = [await t.team(), await t.team()];
    const { core } = t.instance;
    const { code: used } = await createCode(core, team.id, COMMAND_LINE);
    await createCode(core, other.id, COMMAND_LINE);
    await createCode(core, team.id, COMMAND_LINE, MINUTE_MS);
    const { id } = await makeAccount(core, { email: ANN.label });
    await createCode(core, team.id, { ...ANN, id }, 5 * MINUTE_MS);
    await t.post("/api/connect/exchange", { json: { code: used, consent: { version: "1" } } });
    t.clock.advance(2 * MINUTE_MS);
    const open = listOpenCodes(core, team.id);
    expect(open).toMatchObject([{ createdBy: "ann@acme.example", expiresAt: t.clock.now() + 3 * MINUTE_MS }]);
    expect(open[0]?.id).toMatch(/^[0-9a-f]{16}$/);
  });
});
