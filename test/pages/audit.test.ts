import { expect, it } from "vitest";
import { renameDevice } from "../../src/identity/devices/devices.ts";
import { setRole } from "../../src/identity/members/members.ts";
import { createInvitation } from "../../src/identity/one-time-links/one-time-links.ts";
import { createReadToken } from "../../src/identity/read-tokens/read-tokens.ts";
import { updateTeam } from "../../src/identity/teams/teams.ts";
import { DAY_MS, HOUR_MS } from "../../src/kit/clock.ts";
import { type Actor, COMMAND_LINE, recordEvent } from "../../src/platform/audit/audit.ts";
import { type Person, type Site, startSite, startSiteOf, useBrowser } from "../support/browser.ts";
import { fillDefects } from "../support/defects.ts";
import { TestClock } from "../support/instance.ts";

useBrowser();

const HOSTILE = `=HYPERLINK("http://evil.example","<b>x</b>")`;

const get = (site: Site, path: string, person: Person) =>
  fetch(site.url + path, { headers: { cookie: person.cookie }, redirect: "manual" });

const by = (label: string, ip = "192.0.2.1"): Actor => ({ kind: "user", id: `usr_${label}`, label, ip });

/** Records events of a team that nothing else would make. */
function record(
  site: Site,
  teamId: string | null,
  events: readonly [actor: Actor, action: string, label: string | null][],
) {
  const { core } = site.t.instance;
  return core.store.write(() => {
    for (const [actor, action, label] of events)
      recordEvent(core, actor, { action, teamId, target: { kind: "thing", id: "thing_1", label } });
  });
}

it("tells in words who did what, from where, and what machines did by themselves", async () => {
  const site = await startSite();
  const { t } = site;
  const { core } = t.instance;
  const owner = await site.person({ email: "ada@example.com" });
  const actor = { kind: "user", id: owner.userId, label: owner.email, ip: "203.0.113.9" } as const;
  const member = await site.person({ role: "member", team: owner.team, email: "bob@example.com" });
  await setRole(core, owner.team.id, member.userId, "admin", actor);
  await createInvitation(core, { teamId: owner.team.id, role: "member", email: "grace@example.com" }, actor);
  await updateTeam(core, owner.team.id, { seats: 12, suspended: true }, actor);
  const code = await t.code(owner.team);
  const bound = await t.post("/api/connect/exchange", {
    json: { code, consent: { version: "1", deviceLabel: "build-7" } },
  });
  const rotated = await t.post("/api/connect/rotate", { token: bound.body.deviceToken });
  await t.post("/api/connect/disconnect", { token: rotated.body.deviceToken });
  await record(site, owner.team.id, [[by("mallory"), "made.up", HOSTILE]]);
  const { page, go, judge } = await site.open(owner);
  await go("/audit");
  await judge("audit");
  const rows = await page.locator("#events tbody tr").allTextContents();
  const expected = [
    /mallory.*made\.up =HYPERLINK.*<b>x<\/b>/,
    /build-7device.*disconnected the device build-7/,
    /build-7device.*replaced the token of the device build-7/,
    /build-7device.*connected the device build-7.*consent version: 1/,
    /command lineon the server.*minted a connect code/,
    /ada@example\.com.*changed the team Team \d+.*seats: 12 · suspended: 21 Nov 2026, 08:00 UTC203\.0\.113\.9$/,
    /ada@example\.com.*made an invitation grace@example\.com.*role: member/,
    /ada@example\.com.*changed the role of bob@example\.com.*before: member · role: admin/,
  ];
  for (const [i, words] of expected.entries()) expect(rows[i]).toMatch(words);
  expect(await page.locator("#events b").count()).toBe(0);
});

it("leads from an event to its device and its error, and nowhere from what is gone", async () => {
  const { site, core, person: owner } = await startSiteOf();
  const { deviceId } = await fillDefects(site, owner);
  const { page, go } = await site.open(owner);
  await go("/errors");
  const [one] = site.t.rows("SELECT class FROM triage_classes WHERE occurrences > 0");
  await core.store.write(() => {
    for (const id of [one?.class as string, "00000000"])
      recordEvent(core, COMMAND_LINE, {
        action: "error.commented",
        teamId: owner.team.id,
        target: { kind: "error", id, label: id },
      });
  });
  await go("/audit");
  expect(await page.locator("#events").getByRole("link", { name: "00000000" }).count()).toBe(0);
  await page
    .locator("#events")
    .getByRole("link", { name: one?.class as string })
    .click();
  expect(new URL(page.url()).pathname).toBe(`/errors/classes/${one?.class}`);
  await go("/audit");
  const devices = page.locator('#events a[href^="/devices/"]');
  expect(await devices.first().getAttribute("href")).toBe(`/devices/${deviceId}`);
});

it("names whom and what a detail is about, and says what is made of parts in words", async () => {
  const { site, core, person: owner } = await startSiteOf({ email: "ada@example.com" });
  const { team } = owner;
  const device = await site.t.device(team);
  await renameDevice(core, team.id, device.deviceId, "build-7", COMMAND_LINE);
  const stranger = await site.person({ email: "eve@example.com" });
  const token = { userId: owner.userId, name: "editor", lifetimeMs: DAY_MS };
  await createReadToken(core, token, by("ada"));
  await createReadToken(core, { ...token, scope: { repos: ["shop"], teams: [team.id] } }, by("ada"));
  const details = [
    { to: owner.userId },
    { to: "usr_gone" },
    { deviceId: device.deviceId },
    { other: stranger.team.id },
    { counts: { entries: 3, brainFiles: 0 }, captureMode: { from: "full", to: "off" } },
    { period: "month", from: "2026-11-01", to: "2026-11-30", threshold: 80 },
    { uses: 500, bindsForMs: 6 * HOUR_MS },
  ];
  await core.store.write(() => {
    for (const detail of details) recordEvent(core, by("ada"), { action: "made.up", teamId: team.id, detail });
  });
  const { page, go } = await site.open(owner);
  await go("/audit");
  expect((await page.locator("#events tbody td small").allTextContents()).slice(0, 9)).toEqual([
    "uses: 500 · bound for: 6 h",
    "period: month · from: 1 Nov 2026 · until: 30 Nov 2026 · threshold: 80",
    "counts: entries 3, brain files 0 · capture mode: before full, now off",
    `other: ${stranger.team.id}`,
    "device: build-7",
    "now: usr_gone",
    "now: ada@example.com",
    `owner: ada@example.com · until: 22 Nov 2026, 08:00 UTC · scope: teams ${team.name}, repos shop`,
    "owner: ada@example.com · until: 22 Nov 2026, 08:00 UTC · scope: everything",
  ]);
});

it("filters by person, action and day, while one types and without JavaScript", async () => {
  const { site, person: owner } = await startSiteOf();
  const { page, go, judge } = await site.open(owner);
  const { id } = owner.team;
  await record(site, id, [[by("alice"), "device.revoked", "old one"]]);
  site.t.clock.advance(3 * DAY_MS);
  await record(site, id, [
    [by("alice", "198.51.100.7"), "device.revoked", "build-100%"],
    [by("bob"), "policy.changed", null],
  ]);
  const texts = () => page.locator("#events tbody tr").allTextContents();
  await go("/audit");
  await page.getByLabel("Person, thing or address").fill("100%");
  await page.locator("#events[data-count='1']").waitFor();
  expect((await texts())[0]).toContain("revoked the device build-100%");
  await page.getByLabel("Person, thing or address").fill("");
  await page.getByLabel("What").selectOption("device.revoked");
  await page.locator("#events[data-count='2']").waitFor();
  await page.getByLabel("From (UTC)").fill("2026-11-24");
  await page.locator("#events[data-count='1']").waitFor();
  expect((await texts())[0]).toContain("198.51.100.7");
  await page.getByLabel("Person, thing or address").fill("nobody at all");
  await page.getByText("Nothing like that").waitFor();
  await judge("audit-nothing");
  const plain = await site.open(owner, { javaScript: false });
  await plain.go("/audit");
  await plain.page.getByLabel("To (UTC)").fill("2026-11-21");
  await plain.page.getByLabel("What").selectOption("device.revoked");
  await plain.page.getByRole("button", { name: "Apply" }).click();
  expect(await plain.page.locator("#events tbody tr").allTextContents()).toEqual([expect.stringContaining("old one")]);
  for (const nonsense of [
    "from=soon&to=2026-13-45",
    "before=-1&after=x",
    "what=%00&q=%27%25",
    `q=${"x".repeat(9_000)}`,
    "before=999999999999999",
    "after=0",
  ])
    await plain.go(`/audit?${nonsense}`);
});

it("pages both ways and meets every event once, whatever arrives meanwhile", async () => {
  const { site, person: owner } = await startSiteOf();
  const { id } = owner.team;
  const batch = (from: number, count: number) =>
    record(
      site,
      id,
      Array.from({ length: count }, (_, i) => [by("alice"), "device.renamed", `no. ${from + i}`] as const).map(
        (one) => [...one],
      ),
    );
  await batch(0, 120);
  const { page, go } = await site.open(owner);
  const labels = () => page.locator("#events tbody strong").allTextContents();
  await go("/audit?what=device.renamed");
  const seen = [await labels()];
  await batch(120, 5);
  for (let i = 0; i < 2; i++) {
    await page.getByRole("link", { name: "Older" }).click();
    await page.getByRole("link", { name: "Newer" }).waitFor();
    seen.push(await labels());
  }
  expect(seen.flat()).toEqual(Array.from({ length: 120 }, (_, i) => `no. ${119 - i}`));
  await page.getByRole("link", { name: "Newer" }).click();
  await page.waitForURL(/after=/);
  expect(await labels()).toEqual(seen[1]);
  await page.getByRole("link", { name: "Newer" }).click();
  await page.waitForURL(/after=/);
  expect((await labels()).length).toBe(50);
  await page.getByRole("link", { name: "First" }).click();
  expect((await labels())[0]).toBe("no. 124");
});

it("exports what is filtered as JSON lines and as CSV that no spreadsheet runs", async () => {
  const { site, person: owner } = await startSiteOf();
  await record(site, owner.team.id, [
    [by("+alice"), "device.revoked", HOSTILE],
    [by("bob"), "policy.changed", `two\nlines, "quoted"`],
  ]);
  const lines = await get(site, "/audit/export?format=jsonl&what=device.revoked", owner);
  expect(lines.headers.get("content-type")).toContain("application/x-ndjson");
  expect(lines.headers.get("content-disposition")).toMatch(/^attachment; filename="reckon-audit-2026-11-21\.jsonl"$/);
  const parsed = (await lines.text())
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(parsed).toMatchObject([
    {
      at: "2026-11-21T08:00:00.000Z",
      actorLabel: "+alice",
      action: "device.revoked",
      targetLabel: HOSTILE,
      detail: {},
    },
  ]);
  const csv = Buffer.from(await (await get(site, "/audit/export?format=csv", owner)).arrayBuffer()).toString();
  const [head, ...rest] = csv.split("\r\n");
  expect(head).toBe(
    "\uFEFFid,at,teamId,actorKind,actorId,actorLabel,action,targetKind,targetId,targetLabel,ip,detail,leaf",
  );
  expect(csv).toContain(`"'=HYPERLINK(""http://evil.example"",""<b>x</b>"")"`);
  expect(csv).toContain(`,'+alice,`);
  expect(csv).toContain(`"two\nlines, ""quoted"""`);
  // Every record ends in CRLF; what is in quotes does not count.
  expect(rest.length).toBe(
    site.t.rows("SELECT count(*) AS n FROM audit_events WHERE team_id = ?", owner.team.id)[0].n + 1,
  );
});

it("shows owners and admins their own team, members why not, and operators everything", async () => {
  const { site, person: owner } = await startSiteOf({ operator: false });
  const admin = await site.person({ role: "admin", team: owner.team });
  const member = await site.person({ role: "member", team: owner.team });
  const foreign = await site.person();
  const operator = await site.person({ operator: true });
  await record(site, owner.team.id, [[by("alice"), "device.revoked", "own-canary"]]);
  await record(site, foreign.team.id, [[by("eve"), "device.revoked", "foreign-canary"]]);
  await record(site, null, [[by("root"), "key.rotated", "installation-canary"]]);
  const canaries = async (person: Person, path: string) => {
    const reply = await get(site, path, person);
    const text = await reply.text();
    return [reply.status, ...["own", "foreign", "installation"].filter((one) => text.includes(`${one}-canary`))];
  };
  for (const path of ["/audit", "/audit/export", "/audit/export?format=csv"]) {
    expect([path, await canaries(owner, path)]).toEqual([path, [200, "own"]]);
    expect([path, await canaries(admin, path)]).toEqual([path, [200, "own"]]);
    expect([path, await canaries(member, path)]).toEqual([path, [403]]);
    expect([path, await canaries(foreign, path)]).toEqual([path, [200, "foreign"]]);
    const all = `${path}${path.includes("?") ? "&" : "?"}all=1`;
    expect([path, await canaries(operator, all)]).toEqual([path, [200, "own", "foreign", "installation"]]);
    expect([path, await canaries(owner, all)]).toEqual([path, [403]]);
  }
  const { page, go, judge } = await site.open(operator);
  await go("/audit");
  await page.getByRole("link", { name: "Whole installation" }).click();
  await page.getByText("Who did what on this installation").waitFor();
  await judge("audit-all");
  const rows = await page.locator("#events tbody tr").allTextContents();
  expect(rows.find((row) => row.includes("foreign-canary"))).toContain(foreign.team.name);
  const other = await site.open(member);
  await other.go("/audit", 403);
  await other.judge("audit-member");
  expect(await other.page.locator("main").textContent()).toContain("only the team's owners and admins see it");
});

it("goes on answering others while a filter without a match walks a long record", async () => {
  const clock = new TestClock();
  // The walk gives way by time that really passes.
  clock.monotonic = () => performance.now();
  const { site, core, person: owner } = await startSiteOf(undefined, { clock });
  core.store.db
    .prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
       INSERT INTO audit_events (at, team_id, actor_kind, actor_label, action, detail) SELECT 0, ?, 'user', 'alice', 'device.renamed', '{}' FROM n`,
    )
    .run(owner.team.id);
  let settled = false;
  const slow = get(site, "/audit?q=nothing-like-this", owner).then(async (reply) => {
    settled = true;
    return (await reply.text()).includes("Nothing like that");
  });
  let answered = 0;
  while (!settled) {
    expect((await fetch(`${site.url}/api/health`)).status).toBe(200);
    answered++;
  }
  expect(await slow).toBe(true);
  expect(answered).toBeGreaterThan(3);
});

it("tells of an event in a few lines on a phone", async () => {
  const { site, person: ada } = await startSiteOf({ email: "ada@example.com" });
  await updateTeam(site.t.instance.core, ada.team.id, { seats: 12 }, by("ada@example.com"));
  const { page, go, judge } = await site.open(ada);
  await page.setViewportSize({ width: 380, height: 800 });
  await go("/audit");
  const event = page.locator("#events tbody tr").first();
  expect(await event.textContent()).toMatch(/UTC.*ada@example\.com.*seats: 12.*192\.0\.2\.1/s);
  expect((await event.boundingBox())?.height).toBeLessThan(150);
  await judge("audit-phone");
});
