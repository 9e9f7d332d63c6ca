import { expect, it } from "vitest";
import { assignDevice, revokeDevice } from "../../src/identity/devices/devices.ts";
import { DAY_MS } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { startWithDevice, type TestDevice, type TestInstance } from "../support/instance.ts";
import { memberOf } from "../support/reads.ts";

const PATH = "/api/agent-traces/known";
const tell = (t: TestInstance, { token }: TestDevice, id: string) =>
  t.post("/api/agent-traces/ingest", {
    token,
    json: {
      sessions: [
        {
          ...{ id, outcome: "committed", startedAt: "2026-11-21T07:00:00Z", endedAt: "2026-11-21T07:30:00Z" },
          ...{ commits: [{ sha: "a".repeat(40) }], spans: [{ id: "a" }, { id: "b" }] },
        },
      ],
    },
  });
const knownTo = async (t: TestInstance, { token }: TestDevice, ...ids: string[]) =>
  (await t.call("GET", `${PATH}?ids=${ids.join()}`, { token })).body.sessions;
const s = (id: string) => ({ id, endedAt: "2026-11-21T07:30:00.000Z", spans: 2, commits: 1 });

it("names the sessions that disconnected devices of the team sent, the device's own where it asks for them, and no others", async () => {
  const { t, device: old } = await startWithDevice();
  const other = await t.device();
  await tell(t, old, "s1");
  await tell(t, old, "s2");
  await tell(t, other, "s3");
  const before = t.count("deliveries");
  const now = await t.device(old.team);
  expect(await knownTo(t, now, "s1")).toEqual([]);
  expect(await knownTo(t, old, "s1", "s3")).toEqual([]);
  const { body } = await t.call("GET", `${PATH}?ids=s1,s3&own=true`, { token: old.token });
  expect(body.sessions).toEqual([s("s1")]);
  for (const { deviceId } of [old, other]) await revokeDevice(t.instance.core, deviceId, COMMAND_LINE);
  expect(await knownTo(t, now, "s1", "s1", "s3", "s4")).toEqual([s("s1")]);
  // A disconnected device's session is still named when another machine goes on with it, to that machine and to others.
  const second = await t.device(old.team);
  await tell(t, second, "s2");
  expect(await knownTo(t, second, "s2")).toEqual([s("s2")]);
  expect(await knownTo(t, now, "s2")).toEqual([s("s2")]);
  expect(t.count("deliveries")).toBe(before + 1);
  expect((await t.call("GET", `${PATH}?ids=${Array(101).fill("s1")}`, { token: now.token })).status).toBe(400);
});

it("names the sessions of a device whose token expired, but not those of another person's device", async () => {
  const { t, device: old } = await startWithDevice();
  await tell(t, old, "s1");
  t.clock.advance(91 * DAY_MS);
  const now = await t.device(old.team);
  const [kim, lee] = [await memberOf(t, old.team), await memberOf(t, old.team)];
  const { core } = t.instance;
  expect(await knownTo(t, now, "s1")).toEqual([s("s1")]);
  await assignDevice(core, old.deviceId, kim.id, COMMAND_LINE);
  expect(await knownTo(t, now, "s1")).toEqual([s("s1")]);
  await assignDevice(core, now.deviceId, lee.id, COMMAND_LINE);
  expect(await knownTo(t, now, "s1")).toEqual([]);
  await assignDevice(core, now.deviceId, kim.id, COMMAND_LINE);
  expect(await knownTo(t, now, "s1")).toEqual([s("s1")]);
});
