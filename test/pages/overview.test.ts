import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { createCode } from "../../src/identity/devices/devices.ts";
import { setMembersBind, updateTeam } from "../../src/identity/teams/teams.ts";
import { DAY_MS, isoInstant } from "../../src/kit/clock.ts";
import { startSite, useBrowser } from "../support/browser.ts";
import { newMachine } from "../support/machine.ts";

useBrowser();

const ERRORS = `# Errors

## ⏳ 2026-11-20 Login loop
The cookie lacked its path.

## [2026-11-19]: Flaky test
- **Status**: in progress

## 2026-11-18 - <img src=x onerror="document.title='owned'">
**Status:** resolved

## Not dated
Status: open
`;

it("leads from nothing to a first record by commands that work as they stand", async () => {
  const site = await startSite();
  const ada = await site.person();
  const { core } = site.t.instance;
  const { page, go, judge } = await site.open(ada);
  const machine = newMachine();
  const command = async (region: string) => (await page.getByRole("region", { name: region }).textContent()) ?? "";
  await go("/overview");
  await judge("overview-first");
  expect(await page.getByText("0 of 3 done.").count()).toBe(1);
  await page.getByRole("link", { name: "Mint a connect code" }).click();
  await page.waitForURL("**/devices");

  const { code } = await createCode(core, ada.team.id);
  await go("/overview");
  const line = (await command("Connect the machine")).replace("THE-CODE", code);
  await machine.run(`${line} --yes --json --label first`);
  await go("/overview");
  expect(await page.getByText("1 of 3 done.").count()).toBe(1);
  const transcript = join(machine.home, ".claude", "projects", "-work-shop", "s1.jsonl");
  mkdirSync(dirname(transcript), { recursive: true });
  const said = { type: "user", uuid: "p1", sessionId: "s1", cwd: "/work/shop", version: "2.1.330" };
  const message = { role: "user", content: "Fix the login test" };
  writeFileSync(transcript, `${JSON.stringify({ ...said, timestamp: isoInstant(Date.now()), message })}\n`);
  await machine.run(await command("On the machine"));
  await go("/overview");
  expect(await page.getByText("2 of 3 done.").count()).toBe(1);
  const { token } = JSON.parse(readFileSync(join(machine.home, "state", "credentials.json"), "utf8"));
  const publish = (await command("Publish a first snapshot")).replace("rkd_…", token);
  expect(JSON.parse(await machine.run(`${publish} -sS`))).toMatchObject({ ok: true });
  await go("/overview");
  expect(await page.getByText("First steps").count()).toBe(0);
  expect(site.t.rows("SELECT label FROM devices")).toEqual([{ label: "first" }]);
  expect([site.t.count("telemetry_entries"), site.t.count("brain_snapshots")]).toEqual([1, 1]);
});

it("shows the team at a glance, and every figure leads on", async () => {
  const site = await startSite();
  const first = await site.person();
  const { team } = first;
  const quiet = await site.t.device(team);
  await site.t.post("/api/telemetry/heartbeat", { token: quiet.token });
  const busy = await site.t.device(team);
  const entries = async (from: number, count: number, text = "x") =>
    site.t.post("/api/telemetry/ingest", {
      token: busy.token,
      json: {
        repoKey: "shop",
        entries: Array.from({ length: count }, (_, i) => ({ seq: from + i, payload: { text } })),
      },
    });
  let seq = 1;
  for (const count of [3, 40, 12, 0, 7, 60, 25, 31, 2, 18]) {
    if (count > 0) await entries(seq, count);
    seq += count;
    await site.t.post("/api/agent-traces/ingest", {
      token: busy.token,
      json: {
        repoKey: "shop",
        sessions: Array.from({ length: count % 7 }, (_, i) => ({
          id: `${seq}-${i}`,
          outcome: "done",
          spans: [],
          startedAt: isoInstant(site.t.clock.now()),
          // One of each lot says nothing that is a cost.
          costUsd: i === 0 ? "cheap" : 0.25,
        })),
      },
    });
    site.t.clock.advance(DAY_MS);
  }
  await entries(seq + 4, 5);
  await entries(1, 1, "rewritten");
  await site.t.post("/api/brain/ingest", {
    token: busy.token,
    json: { repoKey: "shop", version: 1, files: [{ path: ".claude/brain/errors.md", content: ERRORS }] },
  });
  const ada = await site.person({ team });
  const { page, go, judge } = await site.open(ada);
  await go("/overview");
  await judge("overview");
  const tile = async (name: string) =>
    (await page.locator(".stat").filter({ hasText: name }).locator("dd").allTextContents()).join(" | ");
  expect(await tile("Devices alive")).toBe("1 of 2 | heard of in the last 24 hours");
  expect(await tile("Entries in 7 days")).toBe("149 | 6 today (UTC)");
  expect(await tile("Sessions in 7 days")).toBe("17 | 0 today (UTC)");
  expect(await tile("Spend in 7 days")).toBe("$3.00 | as agents reported it");
  expect(await tile("Open errors")).toBe("2 | of 3 entries in errors.md");
  expect(await tile("New errors in 7 days")).toBe("0 | ↓ down, from a mean of 1");
  expect(await tile("Gaps and rollbacks")).toBe("2 | deliveries flagged in 14 days");
  expect(await tile("Licence")).toBe("Active | tier team");
  expect(await tile("Seats used")).toBe("2 of 5 | devices that can report");
  const flags = page.getByRole("table", { name: "Latest gaps and rollbacks" }).locator("tbody tr");
  expect(await flags.locator("th").allTextContents()).toEqual(["Rollback", "Gap"]);
  await flags.first().getByRole("link", { name: "Rollback" }).click();
  await page.getByRole("heading", { name: "Entry 1 of shop" }).waitFor();
  await go("/overview");
  const summary = await page
    .getByRole("img", { name: /Telemetry entries per day/ })
    .locator("desc")
    .textContent();
  expect(summary).toBe("204 entries in 14 days, most on 26 Nov 2026 (60).");
  const links = await page.locator(".stat a").all();
  const places = await Promise.all(links.map((link) => link.getAttribute("href")));
  expect(places).toEqual([
    "/devices",
    "/telemetry",
    "/sessions",
    "/spend?days=7",
    "/errors",
    "/errors",
    "/telemetry/streams",
    "/license",
    "/license",
  ]);
});

it("adds up what devices count in their brains, and names what several have met", async () => {
  const site = await startSite();
  const ada = await site.person();
  const devices = [await site.t.device(ada.team), await site.t.device(ada.team)];
  const send = async (path: string, token: string, json: object) =>
    expect((await site.t.post(path, { token, json })).status).toBe(200);
  const rule = "Set `Path` on every cookie.";
  await send("/api/brain/ingest", devices[0]?.token ?? "", {
    ...{ repoKey: "shop", version: 1 },
    files: [{ path: ".claude/brain/errors.md", content: `## 2026-11-20 Login loop\n\n**Prevention rule:** ${rule}\n` }],
  });
  const { page, go, judge } = await site.open(ada);
  await go("/overview");
  expect(await page.locator("#pulses").count()).toBe(0);
  const [{ known }] = site.t.rows("SELECT lower(hex(substr(fingerprint, 1, 4))) AS known FROM defects");
  for (const [i, { token }] of devices.entries())
    await send("/api/brain-pulse/ingest", token, {
      ...{ repoKey: "shop", at: isoInstant(site.t.clock.now()), fingerprints: ["00c0ffee", known, `1234567${i}`] },
      counts: { errors: 2 + i, open: 1, "<img src=x>": 1 },
    });
  await go("/overview");
  await judge("overview-pulses");
  const pulses = page.locator("#pulses");
  expect(await pulses.textContent()).toContain("What 2 devices counted in their brains");
  expect(await pulses.locator(".facts > div").allTextContents()).toEqual(["<img src=x>2", "errors5", "open2"]);
  const shared = pulses.getByRole("table").locator("tbody tr");
  expect((await shared.allTextContents()).sort()).toEqual([
    "00c0ffee in no published brain2",
    "Set Path on every cookie.2",
  ]);
  await shared.getByRole("link").click();
  await page.locator(".rule", { hasText: "Set Path on every cookie." }).waitFor();
  const eve = await site.person();
  await site.t.device(eve.team);
  const other = await site.open(eve);
  await other.go("/overview");
  expect(await other.page.locator("#pulses").count()).toBe(0);
});

it("says when the licence is in trouble and when seats are overdrawn", async () => {
  const site = await startSite();
  const ada = await site.person();
  const { core } = site.t.instance;
  await site.t.device(ada.team);
  await updateTeam(core, ada.team.id, { seats: 0, periodEndAt: site.t.clock.now() - DAY_MS });
  const { page, go } = await site.open(ada);
  await go("/overview");
  expect(await page.getByText("works until 4 Dec 2026").count()).toBe(1);
  expect(await page.getByText("more devices than seats").count()).toBe(1);
  await updateTeam(core, ada.team.id, { suspended: true });
  await go("/overview");
  expect(await page.locator(".stat.bad").textContent()).toMatch(/Licence.*Suspended/s);
});

it("asks for no brain of a team whose tier has none, and tells members whom to ask", async () => {
  const site = await startSite();
  const team = await site.t.team({ tier: "starter" });
  const member = await site.person({ team, role: "member" });
  const { page, go } = await site.open(member);
  await go("/overview");
  expect(await page.getByText("0 of 2 done.").count()).toBe(1);
  expect(await page.getByRole("link", { name: "Mint a connect code" }).count()).toBe(1);
  await setMembersBind(site.t.instance.core, team.id, false);
  await go("/overview");
  expect(await page.getByText("In this team only owners and admins connect machines: ask one").count()).toBe(1);
  expect(await page.getByRole("link", { name: "Mint a connect code" }).count()).toBe(0);
});

it("shows nothing of other teams, and to somebody in none whom to ask", async () => {
  const site = await startSite();
  const ada = await site.person();
  const device = await site.t.device(ada.team);
  await site.t.post("/api/telemetry/ingest", {
    token: device.token,
    json: { repoKey: "canary", entries: [1, 5].map((seq) => ({ seq, payload: {} })) },
  });
  const eve = await site.person();
  await site.t.device(eve.team);
  const { page, go, judge } = await site.open(eve);
  await go("/overview");
  expect(await page.content()).not.toContain("canary");
  expect(await page.locator(".stat-value").allTextContents()).toEqual([
    "0 of 1",
    "0",
    "0",
    "–",
    "0",
    "Active",
    "1 of 5",
  ]);
  site.t.instance.core.store.db.prepare("DELETE FROM memberships WHERE user_id = ?").run(eve.userId);
  await go("/overview");
  await judge("overview-no-team");
  expect(await page.getByText("You are in no team yet").count()).toBe(1);
  await go("/devices", 403);
});
