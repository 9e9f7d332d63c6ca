import { expect, it } from "vitest";
import { assignDevice } from "../../src/identity/devices/devices.ts";
import { DAY_MS } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { setRetention } from "../../src/share/erasure/erasure.ts";
import { retentionJob } from "../../src/share/erasure/nightly.ts";
import { eraseNow } from "../support/erasure.ts";
import { ask, somebody } from "../support/every-page.ts";
import { startInstance } from "../support/instance.ts";

/** The record of who opened whose session. */

async function start() {
  const t = await startInstance();
  const team = await t.team({ name: "Acme" });
  const [ada, bob, cy] = [
    await somebody(t, team, "member"),
    await somebody(t, team, "member"),
    await somebody(t, team, "admin"),
  ];
  const device = await t.device(team);
  await assignDevice(t.instance.core, device.deviceId, ada.email, COMMAND_LINE);
  const session = { id: "s1", agent: "codex", outcome: "done", spans: [], prompts: [{ text: "Fix the login test" }] };
  await t.post("/api/agent-traces/ingest", { token: device.token, json: { repoKey: "r", sessions: [session] } });
  await t.instance.settle();
  const id = t.rows("SELECT id FROM trace_sessions")[0]?.id as number;
  const open = (as: typeof ada, path = "") => ask(t, "GET", `/sessions/${id}${path}`, { as });
  const views = () => t.rows("SELECT user_id, device_id, day FROM session_views ORDER BY day, at, user_id");
  return { t, team, ada, bob, cy, device, id, open, views };
}

it("records once a day who opened another person's session, and shows it to that person and admins", async () => {
  const { t, ada, bob, cy, device, open, views } = await start();
  await open(ada);
  expect(views()).toEqual([]);
  for (const path of ["", "/waterfall", "/record", "/record.json", "/files", "/proof"])
    expect([path, (await open(bob, path)).status]).toEqual([path, 200]);
  const day = Math.floor(t.instance.core.clock.now() / DAY_MS);
  expect(views()).toEqual([{ user_id: bob.id, device_id: device.deviceId, day }]);
  t.clock.advance(DAY_MS);
  await open(bob, "/record");
  expect(views().map((view) => view.day)).toEqual([day, day + 1]);
  const account = (await ask(t, "GET", "/account", { as: ada })).text;
  expect(account).toContain("Who opened my sessions");
  expect(account).toContain(bob.email);
  expect(account).toContain("Fix the login test");
  expect((await ask(t, "GET", "/account", { as: bob })).text).not.toContain("Fix the login test");
  // The session's person and admins see it beside the session; others do not.
  expect((await open(ada)).text).toContain("Opened by");
  expect((await open(cy)).text).toContain("Opened by");
  expect((await open(bob)).text).not.toContain("Opened by");
});

it("records nothing where a session belongs to nobody, or is not there", async () => {
  const { t, bob, device, open, views } = await start();
  await ask(t, "GET", "/sessions/999", { as: bob });
  await assignDevice(t.instance.core, device.deviceId, null, COMMAND_LINE);
  expect((await open(bob)).status).toBe(200);
  expect(views()).toEqual([]);
});

it("is erased with either person", async () => {
  const { t, bob, cy, ada, open, views } = await start();
  const { core } = t.instance;
  const erase = async (person: string) => eraseNow(core, { person });
  await open(bob);
  await open(cy);
  await erase(bob.email);
  expect(views().map((view) => view.user_id)).toEqual([cy.id]);
  await erase(ada.email);
  expect(views()).toEqual([]);
});

it("is kept as long as reads are", async () => {
  const { t, bob, open, views } = await start();
  await open(bob);
  await setRetention(t.instance.core, "Acme", "reads", 30, COMMAND_LINE);
  await retentionJob.run(t.instance.core);
  expect(views()).toHaveLength(1);
  t.clock.advance(31 * DAY_MS);
  await retentionJob.run(t.instance.core);
  expect(views()).toEqual([]);
});
