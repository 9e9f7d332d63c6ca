import { expect, it } from "vitest";
import { HOUR_MS, MINUTE_MS } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { chooseEvents, createChannel, getChannel, messagesOf } from "../../src/share/notifications/notifications.ts";
import { startSite, startSiteOf, useBrowser } from "../support/browser.ts";
import { addChannel, arrived } from "../support/notifications.ts";
import { startReceiver } from "../support/receiver.ts";

useBrowser();

const HOSTILE = '<img src=x onerror="alert(1)">';

it("says which line is missing where nothing may leave, adds a channel all the same, and shows its secret once", async () => {
  const site = await startSite();
  const ada = await site.person({ role: "admin", team: await site.t.team({ name: "Shop" }) });
  const { page, go, judge } = await site.open(ada);
  await go("/notifications");
  expect(await page.locator("main").textContent()).toContain("RECKON_OUTBOUND lists no host");
  await judge("notifications-empty");
  await page.getByLabel("Name").fill("CI <b>hook</b>");
  await page.getByLabel("URL or addresses").fill("https://hooks.example.com/reckon?key=hidden");
  await page.getByLabel("Device went quiet").uncheck();
  await page.getByRole("button", { name: "Add the channel" }).click();
  await page.locator(".secret-value").waitFor();
  await judge("notifications-secret");
  expect(await page.locator(".secret-value").textContent()).toMatch(/^whsec_/);
  expect(await page.locator(".code code").textContent()).toBe("RECKON_OUTBOUND=hooks.example.com");
  await page.getByRole("link", { name: "Done" }).click();
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByText("RECKON_OUTBOUND does not list hooks.example.com.").first().waitFor();
  await judge("notifications-refused");
  const text = await page.locator("main").textContent();
  for (const part of ["CI <b>hook</b>", "https://hooks.example.com/reckon?…", "not delivered"])
    expect(text).toContain(part);
  expect(text).not.toContain("hidden");
  expect(site.t.rows("SELECT team_id, kind, events FROM notification_channels")).toEqual([
    { team_id: ada.team.id, kind: "webhook", events: expect.not.stringContaining("device.quiet") },
  ]);
  expect(site.t.rows("SELECT action FROM audit_events WHERE action LIKE 'channel.%' ORDER BY id")).toEqual([
    { action: "channel.created" },
    { action: "channel.tested" },
  ]);
});

it("shows the hosts that the installation may call to its operators, and not to whoever administers a team", async () => {
  const site = await startSite({ settings: { outbound: "hooks.rival.example,lake.corp.example" } });
  const team = await site.t.team({ name: "Shop" });
  const target = { url: "https://hooks.example.com/reckon" };
  const { channel } = await addChannel(site.t, target, team.id, ["gap"]);
  const shown = async (person: Parameters<typeof site.open>[0]) => {
    const { page, go } = await site.open(person);
    await go(`/notifications/${channel.id}`);
    return String(await page.locator("main").textContent());
  };
  const toAdmin = await shown(await site.person({ role: "admin", team }));
  expect(toAdmin).toContain("RECKON_OUTBOUND does not list hooks.example.com.");
  expect(toAdmin).toContain("An operator of this installation can add hooks.example.com.");
  expect(toAdmin).not.toMatch(/rival|lake\.corp/);
  expect(await shown(await site.person({ role: "admin", team, operator: true }))).toContain(
    "RECKON_OUTBOUND=hooks.rival.example,lake.corp.example,hooks.example.com",
  );
});

it("sends a test and shows the receiver's reply as text, lists what was sent, and sends it again", async () => {
  const receiver = await startReceiver();
  receiver.answer = (_, response) => response.writeHead(500, "It <i>broke").end(`${HOSTILE} ${"long ".repeat(2_000)}`);
  const site = await startSite({ withJobs: true, settings: { outbound: `${receiver.host},+private` } });
  const { t } = site;
  const ada = await site.person({ role: "owner", team: await t.team({ name: "Shop" }) });
  const device = await t.device(ada.team);
  const { channel } = await addChannel(t, receiver, ada.team.id, ["gap", "session.failed", "digest.weekly"]);
  await addChannel(t, { url: "https://hooks.slack.com/services/T0/B0/secret" }, ada.team.id, ["gap"], "slack");
  await createChannel(
    t.instance.core,
    {
      ...{
        teamId: ada.team.id,
        kind: "mail",
        name: "Leads",
        target: "ada@example.com, bob@example.com",
        events: ["digest.weekly"],
      },
    },
    COMMAND_LINE,
  );
  for (const seq of [1, 5, 9])
    await t.post("/api/telemetry/ingest", {
      token: device.token,
      json: { repoKey: "acme/shop", entries: [{ seq, payload: { seq } }] },
    });
  await arrived(receiver, 1);
  receiver.answer = (_, response) => response.writeHead(202).end("queued");
  // A try that is under way when the clock is moved is followed by the next five seconds later.
  const delivered = () =>
    messagesOf(t.instance.core, channel.id, 9).filter(({ state }) => state === "delivered").length;
  await expect
    .poll(() => {
      t.clock.advance(HOUR_MS);
      return delivered();
    })
    .toBe(2);
  receiver.answer = (_, response) => response.writeHead(500, "It <i>broke").end(`${HOSTILE} ${"long ".repeat(2_000)}`);
  await t.post("/api/telemetry/ingest", {
    token: device.token,
    json: { repoKey: "acme/shop", entries: [{ seq: 20, payload: {} }] },
  });
  await expect.poll(() => messagesOf(t.instance.core, channel.id, 1)[0]?.outcome).toMatch("500");
  t.clock.advance(MINUTE_MS);
  const { page, go, judge } = await site.open(ada);
  await go("/notifications");
  await judge("notifications");
  expect(await page.locator("main").textContent()).not.toContain("secret");
  await page.getByRole("link", { name: "Ours" }).first().click();
  await judge("notifications-channel");
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByRole("heading", { name: "Test", exact: true }).waitFor();
  await judge("notifications-test");
  const text = await page.locator("main").textContent();
  for (const part of ["500 It <i>broke", HOSTILE, "not delivered"]) expect(text).toContain(part);
  // A gap that was answered with 500 may be tried again meanwhile.
  expect(receiver.received.map(({ json }) => json)).toContainEqual(
    expect.objectContaining({ type: "test", data: expect.objectContaining({ channel: channel.id }) }),
  );
  const before = receiver.received.length;
  receiver.answer = (_, response) => response.writeHead(200).end();
  await page.getByRole("button", { name: "Send again" }).first().click();
  await page.getByText("It is sent again.").waitFor();
  await expect.poll(() => receiver.received.length).toBeGreaterThan(before);
  await page.getByText("Rotate secret").first().click();
  await page.getByRole("button", { name: "Rotate secret" }).last().click();
  await page.locator(".secret-value").waitFor();
  await go(`/notifications/${channel.id}`);
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("Paused: nothing is sent").waitFor();
  await page.getByText("Remove", { exact: true }).click();
  await page.getByRole("button", { name: "Remove channel" }).click();
  await page.getByText("The channel is removed.").waitFor();
  expect(
    t.rows(
      "SELECT secret, target, removed_at IS NOT NULL AS removed FROM notification_channels WHERE id = ?",
      channel.id,
    ),
  ).toEqual([{ secret: null, target: "", removed: 1 }]);
});

it("is for owners and admins, who reach the channels of their own team alone; the installation's are for operators", async () => {
  const site = await startSite();
  const [ada, bob, op] = [
    await site.person({ role: "owner" }),
    await site.person({ role: "member" }),
    await site.person({ operator: true }),
  ];
  const foreign = await site.t.team();
  const url = "https://canary.example.com/hook";
  const { channel } = await addChannel(site.t, { url }, foreign.id, ["gap"]);
  const ours = await addChannel(site.t, { url }, null, ["backup.stale"]);
  const status = async (who: { cookie: string }, path: string) =>
    (await fetch(`${site.url}${path}`, { headers: { cookie: who.cookie } })).status;
  expect(await status(ada, `/notifications/${channel.id}`)).toBe(404);
  expect(await status(ada, `/notifications/${ours.channel.id}`)).toBe(404);
  expect(await status(bob, "/notifications")).toBe(403);
  expect(await status(ada, "/installation-notifications")).toBe(403);
  expect(await status(op, `/installation-notifications/${channel.id}`)).toBe(404);
  const visit = await site.open(op);
  await visit.go(`/installation-notifications/${ours.channel.id}`);
  await visit.judge("notifications-installation");
  const { page, go } = await site.open(op, { javaScript: false });
  await go(`/installation-notifications/${ours.channel.id}`);
  await page.getByLabel("Disk low").check();
  await page.getByRole("button", { name: "Save" }).click();
  expect(site.t.rows("SELECT events FROM notification_channels WHERE id = ?", ours.channel.id)).toEqual([
    { events: '["backup.stale","disk.low"]' },
  ]);
});

it("adds and takes away the events that somebody chose, whatever another chose while the form stood open", async () => {
  const { site, core, person: ada } = await startSiteOf({ role: "admin" });
  const { channel } = await createChannel(
    core,
    {
      ...{ teamId: ada.team.id, kind: "mail", name: "Ops", target: "ops@example.com" },
      events: ["device.quiet"],
    },
    COMMAND_LINE,
  );
  const { page, go } = await site.open(ada);
  await go(`/notifications/${channel.id}`);
  await chooseEvents(core, { id: channel.id, by: COMMAND_LINE }, ["device.quiet", "defect.new"]);
  await page.getByLabel("Device went quiet").uncheck();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  expect(getChannel(core, channel.id).events).toEqual(["defect.new"]);
});
