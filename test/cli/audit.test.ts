import { expect, it } from "vitest";
import { ask } from "../support/every-page.ts";
import { startInstance } from "../support/instance.ts";
import { command, commandJson } from "../support/remote.ts";

/** Commands are recorded in the audit, and a command shows it. */
async function running() {
  const t = await startInstance({ settings: { port: "0" } });
  await t.instance.listen();
  const device = await t.device(await t.team({ name: "Acme" }));
  const run = (...args: string[]) => command([...args, "--data", t.directory]);
  const json = (...args: string[]) => commandJson([...args, "--data", t.directory]);
  return { t, device, run, json };
}

it("shows who did what, the newest first, narrowed as it is asked for, and says that there is more", async () => {
  const { t, device, run, json } = await running();
  const { deviceId, team } = device;
  expect(await json("device", "rename", deviceId, "build-7 \u001b[31m")).toEqual({ deviceId, label: "build-7  [31m" });
  expect(t.rows("SELECT label FROM devices")).toEqual([{ label: "build-7  [31m" }]);
  await run("team", "create", "Other");
  const [event, ...others] = await json("audit", "--team", "Acme", "--action", "device.renamed");
  expect([event, others]).toMatchObject([
    { action: "device.renamed", actorKind: "command", teamId: team.id, targetId: deviceId, detail: { from: null } },
    [],
  ]);
  // By its leaf it can be proved.
  const { proof } = await json("ledger", "prove", `event:${event.leaf}`);
  const extra = Buffer.from(/^extra (.*)$/m.exec(proof)?.[1] ?? "", "base64").toString();
  expect(JSON.parse(JSON.parse(extra).items[0].text)).toMatchObject({
    targetId: deviceId,
    targetLabel: "build-7  [31m",
  });
  const all = await json("audit");
  expect(all.map((one: { action: string }) => one.action).slice(0, 2)).toEqual(["team.created", "device.renamed"]);
  expect(all).toHaveLength(t.count("audit_events"));
  expect(await json("audit", "--text", "build-7")).toEqual([event]);
  const day = event.at.slice(0, 10);
  const ofDay = all.filter(({ at }: { at: string }) => at.startsWith(day));
  expect(await json("audit", "--since", day, "--until", day)).toEqual(ofDay);
  expect(ofDay.length).toBeLessThan(all.length);
  expect(await json("audit", "--until", event.at)).not.toContainEqual(event);
  const cut = await run("audit", "--limit", "1");
  expect([cut.code, cut.stdout.split("\n").length, cut.stderr]).toEqual([0, 2, expect.stringContaining("older")]);
  const wrong = await run("audit", "--limit", "0");
  expect([wrong.code, wrong.stdout]).toEqual([2, ""]);
  expect((await run("device", "rename", "dev_none", "x")).stderr).toContain('no device with the id "dev_none"');
});

it("invites somebody by a link that lets them in, with the role that was said", async () => {
  const { t, device, json } = await running();
  const invited = await json("user", "invite", "Eve@example.com", "--team", "Acme", "--role", "own-only");
  expect(invited).toMatchObject({ teamId: device.team.id, role: "own_only", email: "Eve@example.com" });
  expect(t.rows("SELECT kind, role, email, used_at FROM one_time_links")).toEqual([
    { kind: "invitation", role: "own_only", email: "Eve@example.com", used_at: null },
  ]);
  expect((await ask(t, "GET", new URL(invited.url).pathname)).status).toBe(200);
  const [event] = await json("audit", "--action", "invitation.made");
  expect(event).toMatchObject({ targetLabel: "Eve@example.com", detail: { role: "own_only" } });
});
