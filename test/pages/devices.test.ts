import { expect, it } from "vitest";
import { bindDevice, createCode, noteSeats, revokeDevice } from "../../src/identity/devices/devices.ts";
import { setMembersBind, updateTeam } from "../../src/identity/teams/teams.ts";
import { DAY_MS, HOUR_MS } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { parsePolicy, setPolicy } from "../../src/record/policy/policy.ts";
import { type Person, type Site, startSite, startSiteOf, useBrowser } from "../support/browser.ts";
import { eraseNow } from "../support/erasure.ts";
import { newMachine } from "../support/machine.ts";

useBrowser();

const HOSTILE = `<img src=x onerror="document.title='owned'">"'&lt;`;

/** Binds a device to somebody's team. */
async function bind(
  site: Site,
  { team }: Person,
  label: string | null,
  userAgent: string | null = null,
  personId: string | null = null,
) {
  const { code } = await createCode(site.t.instance.core, team.id, COMMAND_LINE, undefined, personId);
  const { deviceId, deviceToken } = await bindDevice(site.t.instance.core, code, "2026-01", label, userAgent);
  return { deviceId, token: deviceToken };
}

const send = (site: Site, token: string, repoKey: string, seqs: readonly number[], text = "x") =>
  site.t.post("/api/telemetry/ingest", {
    token,
    json: {
      ...(repoKey === "" ? {} : { repoKey }),
      entries: seqs.map((seq) => ({ seq, payload: { type: "prompt", text } })),
    },
  });

it("mints a connect code whose command connects the machine that runs it, and shows the code once", async () => {
  const { site, person: ada } = await startSiteOf({ email: "ada@example.com" });
  const { page, go, judge } = await site.open(ada);
  await go("/devices");
  await judge("devices-empty");
  await page.getByRole("button", { name: "Connect a device" }).click();
  await page.getByRole("heading", { name: "Connect a device" }).waitFor();
  await judge("devices-code");
  expect(await page.locator("time.countdown").textContent()).toMatch(/^expires in (?:15:00|14:\d\d)$/);
  const line = (await page.getByRole("region", { name: "On the machine" }).textContent()) ?? "";
  const code = await page.locator(".secret-value").textContent();
  expect(line).toBe(`reckon agent connect ${site.url} ${code}`);
  await page.getByText("or for a script of your own").click();
  const byHttp = (await page.getByRole("region", { name: "By HTTP" }).textContent()) ?? "";
  expect(byHttp).toContain(code);
  expect(JSON.parse(await newMachine().run(`${line} --yes --json --label build-7`))).toMatchObject({
    teamName: ada.team.name,
  });
  expect(site.t.rows("SELECT label, team_id, person_id FROM devices")).toEqual([
    { label: "build-7", team_id: ada.team.id, person_id: ada.userId },
  ]);
  expect(
    site.t.rows(
      "SELECT actor_label, team_id, ip FROM audit_events WHERE action = 'code.created' AND actor_kind = 'user'",
    ),
  ).toEqual([{ actor_label: "ada@example.com", team_id: ada.team.id, ip: "127.0.0.1" }]);
  await go("/devices/codes");
  expect(page.url()).toBe(`${site.url}/devices`);
  expect(site.t.count("connect_codes")).toBe(1);
  expect(await page.getByRole("rowheader", { name: "build-7" }).count()).toBe(1);
});

it("revokes an open code, after which it connects nothing", async () => {
  const { site, person: ada } = await startSiteOf();
  const other = await site.person();
  const { core } = site.t.instance;
  const { code } = await createCode(core, ada.team.id, COMMAND_LINE);
  const foreign = await createCode(core, other.team.id, COMMAND_LINE);
  const { page, go, judge } = await site.open(ada);
  await go("/devices");
  await judge("devices-codes");
  expect(await page.getByRole("table", { name: "Open connect codes" }).locator("tbody tr").count()).toBe(1);
  await page.locator("summary", { hasText: "Revoke" }).click();
  await page.getByRole("button", { name: "Revoke code" }).click();
  await page.getByText("The connect code is revoked.").waitFor();
  expect(await page.getByText("Open connect codes").count()).toBe(0);
  const refused = await site.t.post("/api/connect/exchange", { json: { code, consent: { version: "1" } } });
  expect(refused.status).toBe(400);
  expect(site.t.rows("SELECT action, team_id FROM audit_events WHERE action = 'code.revoked'")).toEqual([
    { action: "code.revoked", team_id: ada.team.id },
  ]);
  const still = await site.t.post("/api/connect/exchange", { json: { code: foreign.code, consent: { version: "1" } } });
  expect(still.status).toBe(200);
});

it("makes a code for many machines, says how many it may still connect, and takes no nonsense", async () => {
  const { site, person: ada } = await startSiteOf({ email: "ada@example.com" });
  const { page, go, judge } = await site.open(ada);
  await go("/devices");
  await page.getByRole("link", { name: "Connect many" }).click();
  await page.getByRole("heading", { name: "Connect many machines" }).waitFor();
  await judge("devices-fleet");
  const csrf = (await page.locator("input[name=_csrf]").first().getAttribute("value")) ?? "";
  for (const wrong of [
    { uses: "0", days: "30" },
    { uses: "2.5", days: "30" },
    { uses: "100001", days: "30" },
    { uses: "3", days: "91" },
    { uses: "3", days: "30", hours: "0" },
    { uses: "3", days: "30", hours: "169" },
  ]) {
    const reply = await page.request.post(`${site.url}/devices/fleet`, {
      form: { _csrf: csrf, ...wrong },
      headers: { origin: site.url },
    });
    expect([wrong, reply.status()]).toEqual([wrong, 400]);
    expect(await reply.text()).toContain("Choose a whole number from 1 to");
  }
  expect(site.t.count("connect_codes")).toBe(0);
  await page.getByLabel("Machines").fill("3");
  await page.getByLabel("Days").fill("30");
  await page.getByRole("button", { name: "Make the code" }).click();
  await page.getByText("It works for 3 machines").waitFor();
  const code = (await page.locator(".secret-value").textContent()) as string;
  for (const deviceLabel of ["build-1", "build-2"]) {
    const json = { code, consent: { version: "1", deviceLabel } };
    expect((await site.t.post("/api/connect/exchange", { json })).status).toBe(200);
  }
  await go("/devices");
  await judge("devices-fleet-used");
  expect(await page.getByRole("table", { name: "Open connect codes" }).locator("tbody").textContent()).toContain(
    "1 of 3",
  );
  expect(site.t.rows("SELECT label, person_id AS person FROM devices ORDER BY label")).toEqual([
    { label: "build-1", person: null },
    { label: "build-2", person: null },
  ]);
  expect(
    site.t.rows("SELECT actor_label, detail ->> 'uses' AS uses FROM audit_events WHERE action = 'code.created'"),
  ).toEqual([{ actor_label: "ada@example.com", uses: 3 }]);
  expect(site.t.rows("SELECT expires_at - created_at AS lives FROM connect_codes")).toEqual([{ lives: 30 * DAY_MS }]);
});

it("makes a code for machines of one job, and keeps those that ended out of the list", async () => {
  const { site, person: ada } = await startSiteOf({ email: "ada@example.com" });
  const { page, go } = await site.open(ada);
  await go("/devices/fleet");
  await page.getByLabel("Hours each is bound").fill("6");
  await page.getByRole("button", { name: "Make the code" }).click();
  const code = (await page.locator(".secret-value").textContent()) as string;
  for (const deviceLabel of ["job-1", "job-2"]) {
    const json = { code, consent: { version: "1", deviceLabel } };
    expect((await site.t.post("/api/connect/exchange", { json })).status).toBe(200);
    site.t.clock.advance(5 * HOUR_MS);
  }
  const listed = () => page.getByRole("table", { name: "Devices" }).locator("tbody th").allTextContents();
  await go("/devices");
  expect(await listed()).toEqual(["job-2"]);
  await go("/devices?state=expired");
  expect(await listed()).toEqual([]);
  await go("/devices?state=ended");
  expect(await listed()).toEqual(["job-1"]);
  await page.getByRole("link", { name: "job-1" }).click();
  await page.getByText("connected for one job").waitFor();
  expect(await page.locator(".facts").first().textContent()).toContain("Ended");
  expect(site.t.rows("SELECT label, ends_at - created_at AS lives FROM devices ORDER BY label")).toEqual([
    { label: "job-1", lives: 6 * HOUR_MS },
    { label: "job-2", lives: 6 * HOUR_MS },
  ]);
});

it("lists devices by state and finds them as one types", async () => {
  const { site, person: ada } = await startSiteOf();
  const lost = await bind(site, ada, "lost-laptop");
  site.t.clock.advance(2 * DAY_MS);
  const busy = await bind(site, ada, "build-7", "reckon-agent/2.1 (linux; x64)");
  await bind(site, ada, HOSTILE, "<script>1</script>");
  await bind(
    site,
    ada,
    "a-machine-with-a-label-that-is-so-long-that-it-has-to-break-somewhere-or-else-".repeat(2).slice(0, 190),
  );
  await send(site, busy.token, "github.com/acme/shop", [1, 2, 5, 9]);
  await send(site, busy.token, "github.com/acme/shop", [2], "rewritten");
  await send(site, lost.token, "github.com/acme/site", [1]);
  site.t.clock.advance(2 * DAY_MS);
  await send(site, busy.token, "github.com/acme/shop", [10]);
  // Signed in before the clock moves.
  const grace = await site.person({ team: ada.team, role: "admin" });
  const { page, go, judge } = await site.open(grace);
  await go("/devices");
  await judge("devices");
  expect(await page.getByText("4 of 5 are taken").count()).toBe(1);
  const row = (name: string) => page.getByRole("row").filter({ has: page.getByRole("rowheader", { name }) });
  expect(await row("build-7").textContent()).toMatch(
    /active.*just now.*reckon-agent\/2\.1.*5 missing entries.*1 conflict/s,
  );
  expect(await row("lost-laptop").textContent()).toMatch(/active.*2 days ago/s);
  expect(await page.getByRole("rowheader", { name: HOSTILE }).count()).toBe(1);
  expect(await page.title()).toBe("Devices · Reckon");
  await page.getByLabel("Search").fill("LOST-");
  await page.locator("#results[data-count='1']").waitFor();
  expect(page.url()).toContain("q=LOST-");
  expect(await page.getByRole("rowheader").allTextContents()).toEqual(["lost-laptop"]);
  await page.getByLabel("Search").fill("");
  // A weekend is too short for a device to be called quiet, on every page.
  site.t.clock.advance(2 * DAY_MS);
  await send(site, busy.token, "github.com/acme/shop", [11]);
  await go("/overview");
  await page.getByRole("link", { name: "3 devices quiet" }).click();
  await page.locator("#results[data-count='3']").waitFor();
  expect(await page.getByLabel("State").inputValue()).toBe("quiet");
  expect(await row("lost-laptop").textContent()).toMatch(/quiet.*4 days ago/s);
  expect(await row(HOSTILE).textContent()).toMatch(/never used.*never/s);
  await go("/devices?state=nonsense&after=dev_none&q=%00");
});

it("pages through many devices, of which one is revoked meanwhile", async () => {
  const { site, person: ada } = await startSiteOf();
  const insert = site.t.instance.core.store.db.prepare(
    "INSERT INTO devices (id, team_id, label, consent_version, created_at) VALUES (?, ?, ?, '1', ?)",
  );
  for (let i = 0; i < 120; i++) insert.run(`dev_${String(i).padStart(4, "0")}`, ada.team.id, `agent-${i}`, 1_000 + i);
  const { page, go } = await site.open(ada, { javaScript: false });
  await go("/devices");
  const names: string[] = [];
  for (let pages = 0; pages < 10; pages++) {
    names.push(...(await page.getByRole("rowheader").allTextContents()));
    const older = page.getByRole("link", { name: "Older" });
    if ((await older.count()) === 0) break;
    if (pages === 0)
      site.t.instance.core.store.db.prepare("UPDATE devices SET revoked_at = 2000 WHERE label = ?").run(names.at(-1));
    await older.click();
  }
  expect(names).toEqual(Array.from({ length: 120 }, (_, i) => `agent-${119 - i}`));
});

it("shows a device with its gaps and rollbacks explained, renames it and revokes it", async () => {
  const { site, person: ada } = await startSiteOf({ email: "ada@example.com" });
  const device = await bind(site, ada, "build-7", "reckon-agent/2.1");
  await send(site, device.token, "github.com/acme/shop", [1, 2, 5, 9]);
  await send(site, device.token, "github.com/acme/shop", [2], "rewritten");
  await send(site, device.token, "", [1, 2]);
  const { page, go, judge } = await site.open(ada);
  await go(`/devices/${device.deviceId}`);
  await judge("device");
  const stream = page.getByRole("row").filter({ hasText: "acme/shop" });
  expect(await stream.textContent()).toMatch(/5 missing entries.*3 to 4, 6 to 8.*1 conflict/s);
  expect(await page.getByRole("row").filter({ hasText: "no repository named" }).textContent()).toMatch(/none.*none/s);
  expect(await page.getByText("A gap is a run of numbers that never arrived.").count()).toBe(1);
  expect(await page.getByText("A rollback is a number that came again with other content.").count()).toBe(1);
  await page.getByLabel("Label").fill(`  ${HOSTILE}\u0007 `);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The device is renamed.").waitFor();
  expect(site.t.rows("SELECT label FROM devices")).toEqual([{ label: HOSTILE }]);
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(HOSTILE);
  await page.locator("summary", { hasText: "Revoke this device" }).click();
  await page.getByRole("button", { name: "Revoke device" }).click();
  await page.getByText("is revoked.").waitFor();
  await judge("device-revoked");
  expect((await site.t.post("/api/telemetry/heartbeat", { token: device.token })).status).toBe(401);
  expect(await page.getByText("Revoke this device").count()).toBe(0);
  expect(
    site.t.rows(
      "SELECT action, actor_label, target_id, target_label FROM audit_events WHERE action IN ('device.renamed', 'device.revoked') AND actor_kind = 'user' ORDER BY id",
    ),
  ).toEqual([
    { action: "device.renamed", actor_label: "ada@example.com", target_id: device.deviceId, target_label: HOSTILE },
    { action: "device.revoked", actor_label: "ada@example.com", target_id: device.deviceId, target_label: HOSTILE },
  ]);
});

it("says whose a device is, finds a person's, and assigns it to somebody else in the team or to nobody", async () => {
  const { site, person: ada } = await startSiteOf({ email: "ada@example.com", name: HOSTILE });
  const bob = await site.person({ email: "bob@example.com", team: ada.team, role: "member" });
  const stranger = await site.person({ email: "eve@example.com" });
  const mine = await bind(site, ada, "mine", null, ada.userId);
  const shared = await bind(site, ada, "build-7");
  const { page, go, judge } = await site.open(ada);
  await go("/devices");
  await judge("devices-people");
  await page.getByLabel("Person").selectOption("nobody’s");
  await page.locator("#results[data-count='1']").waitFor();
  expect(await page.getByRole("rowheader").allTextContents()).toEqual(["build-7"]);
  await go(`/devices?person=${ada.userId}`);
  expect(await page.getByRole("rowheader").allTextContents()).toEqual(["mine"]);
  await go("/devices?q=ADA@");
  expect(await page.getByRole("rowheader").allTextContents()).toEqual(["mine"]);

  const owners = () => site.t.rows("SELECT id, person_id AS person FROM devices ORDER BY label");
  await go(`/devices/${shared.deviceId}`);
  await page.getByLabel("E-mail address").fill(stranger.email);
  await page.getByRole("button", { name: "Assign" }).click();
  await page.getByText(`This person is not in ${ada.team.name}, the device's team: invite them there first`).waitFor();
  await judge("device-assign-wrong");
  await page.getByLabel("E-mail address").fill("BOB@example.com");
  await page.getByRole("button", { name: "Assign" }).click();
  await page.getByText("The device is BOB@example.com’s now.").waitFor();
  expect(owners()).toEqual([
    { id: shared.deviceId, person: bob.userId },
    { id: mine.deviceId, person: ada.userId },
  ]);
  await go(`/devices/${mine.deviceId}`);
  await page.getByLabel("E-mail address").fill("");
  await page.getByRole("button", { name: "Assign" }).click();
  await page.getByText("The device is nobody’s now.").waitFor();
  expect(owners()[1]).toEqual({ id: mine.deviceId, person: null });
  expect(
    site.t
      .rows("SELECT actor_label, target_id, detail FROM audit_events WHERE action = 'device.assigned' ORDER BY id")
      .map(({ detail, ...event }) => ({ ...event, detail: JSON.parse(detail) })),
  ).toEqual([
    { actor_label: ada.email, target_id: shared.deviceId, detail: { from: null, to: "bob@example.com" } },
    { actor_label: ada.email, target_id: mine.deviceId, detail: { from: "ada@example.com", to: null } },
  ]);
});

it("revokes without JavaScript through the question", async () => {
  const { site, person: ada } = await startSiteOf();
  const device = await bind(site, ada, "build-7");
  const { page, go } = await site.open(ada, { javaScript: false });
  await go(`/devices/${device.deviceId}`);
  await page.locator("summary", { hasText: "Revoke this device" }).click();
  await page.getByRole("button", { name: "Revoke device" }).click();
  await page.getByText("is revoked.").waitFor();
  expect(site.t.rows("SELECT revoked_at IS NOT NULL AS revoked FROM devices")).toEqual([{ revoked: 1 }]);
});

it("says that a token ran out and that the machine has to be connected again", async () => {
  const { site, person: first } = await startSiteOf();
  const device = await bind(site, first, "forgotten");
  site.t.clock.advance(91 * DAY_MS);
  const ada = await site.person({ team: first.team });
  const { page, go } = await site.open(ada);
  await go(`/devices/${device.deviceId}`);
  expect(await page.getByText("Its token ran out before the machine replaced it").count()).toBe(1);
});

it("lets members connect, see, rename and revoke machines of their own, and no others", async () => {
  const { site, core, person: ada } = await startSiteOf();
  const theirs = await bind(site, ada, "build-7", null, ada.userId);
  const shared = await bind(site, ada, "shared");
  await createCode(core, ada.team.id, COMMAND_LINE);
  const [foreign] = site.t.rows(
    "SELECT lower(hex(substr(code_hash, 1, 8))) AS id FROM connect_codes WHERE consumed_at IS NULL",
  );
  const bob = await site.person({ team: ada.team, role: "member", email: "bob@example.com" });
  const { page, go, judge } = await site.open(bob);
  await go("/devices");
  await judge("devices-member-none");
  expect([await page.getByRole("rowheader").count(), await page.getByText("Open connect codes").count()]).toEqual([
    0, 0,
  ]);
  await page.getByRole("button", { name: "Connect a device" }).click();
  await page.getByText("It will be yours: what its agents do and cost counts as bob@example.com’s.").waitFor();
  const code = (await page.locator(".secret-value").textContent()) as string;
  await go("/devices");
  expect(await page.getByRole("table", { name: "Open connect codes" }).locator("tbody tr").count()).toBe(1);
  const bound = await site.t.post("/api/connect/exchange", {
    json: { code, consent: { version: "1", deviceLabel: "bobs" } },
  });
  expect(bound.body).toMatchObject({ person: "bob@example.com" });
  await go("/devices");
  await judge("devices-member");
  expect(await page.getByRole("rowheader").allTextContents()).toEqual(["bobs"]);
  await page.getByRole("link", { name: "bobs" }).click();
  await page.getByLabel("Label").fill("bobs-laptop");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The device is renamed.").waitFor();
  expect(await page.getByText("Whose it is").count()).toBe(0);
  await page.locator("summary", { hasText: "Revoke this device" }).click();
  await page.getByRole("button", { name: "Revoke device" }).click();
  await page.getByText("is revoked.").waitFor();
  const csrf = (await page.locator("input[name=_csrf]").first().getAttribute("value")) ?? "";
  const mine = bound.body.deviceId;
  for (const [path, status] of [
    [`/devices/${theirs.deviceId}/revoke`, 404],
    [`/devices/${theirs.deviceId}/rename`, 404],
    [`/devices/${shared.deviceId}/revoke`, 404],
    [`/devices/${mine}/person`, 403],
    ["/devices/codes/revoke", 404],
    ["/devices/binding", 403],
  ] as const) {
    const reply = await page.request.post(site.url + path, {
      form: { _csrf: csrf, label: "taken", id: foreign.id, email: "" },
      headers: { origin: site.url },
    });
    expect([path, reply.status()]).toEqual([path, status]);
  }
  await go(`/devices/${theirs.deviceId}`, 404);
  expect(
    site.t.rows("SELECT label, person_id AS person, revoked_at IS NOT NULL AS revoked FROM devices ORDER BY label"),
  ).toEqual([
    { label: "bobs-laptop", person: bob.userId, revoked: 1 },
    { label: "build-7", person: ada.userId, revoked: 0 },
    { label: "shared", person: null, revoked: 0 },
  ]);
  expect(site.t.rows("SELECT count(*) AS open FROM connect_codes WHERE consumed_at IS NULL")).toEqual([{ open: 1 }]);
});

it("names machines in the record to members, and leads them to their own alone", async () => {
  const { site, person: ada } = await startSiteOf();
  const bob = await site.person({ team: ada.team, role: "member" });
  const theirs = await bind(site, ada, "adas", null, ada.userId);
  const own = await bind(site, ada, "bobs", null, bob.userId);
  for (const { token } of [theirs, own]) await send(site, token, "github.com/acme/shop", [1]);
  const { page, go } = await site.open(bob);
  await go("/telemetry");
  expect(await page.getByText("adas").count()).toBeGreaterThan(0);
  const links = await page.locator("main a[href*='/devices/']").evaluateAll((all) => all.map((a) => a.textContent));
  expect(new Set(links)).toEqual(new Set(["bobs"]));
});

it("keeps connecting machines to owners and admins once the team says so, also with codes made before", async () => {
  const { site, person: ada } = await startSiteOf({ email: "ada@example.com" });
  const bob = await site.person({ team: ada.team, role: "member" });
  const visit = await site.open(bob);
  await visit.go("/devices");
  await visit.page.getByRole("button", { name: "Connect a device" }).click();
  const code = (await visit.page.locator(".secret-value").textContent()) as string;
  const { page, go } = await site.open(ada);
  await go("/devices");
  await page.getByLabel("Members connect machines of their own").uncheck();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Only owners and admins connect machines.").waitFor();
  const late = await site.t.post("/api/connect/exchange", { json: { code, consent: { version: "1" } } });
  expect([late.status, site.t.count("devices")]).toEqual([400, 0]);

  await visit.go("/devices");
  await visit.judge("devices-member-closed");
  expect(await visit.page.getByRole("button", { name: "Connect a device" }).count()).toBe(0);
  await visit.page.getByText("only owners and admins connect machines").first().waitFor();
  const csrf = (await visit.page.locator("input[name=_csrf]").first().getAttribute("value")) ?? "";
  const refused = await visit.page.request.post(`${site.url}/devices/codes`, {
    form: { _csrf: csrf },
    headers: { origin: site.url },
  });
  expect([refused.status(), site.t.count("connect_codes")]).toEqual([403, 1]);
  expect(await refused.text()).toContain("only owners and admins connect machines");

  await page.getByLabel("Members connect machines of their own").check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Members connect machines of their own.", { exact: true }).waitFor();
  await visit.go("/devices");
  expect(await visit.page.getByRole("button", { name: "Connect a device" }).count()).toBe(1);
  expect(
    site.t.rows(
      "SELECT action, actor_label, target_id FROM audit_events WHERE action LIKE 'team.binding%' ORDER BY id",
    ),
  ).toEqual(
    ["team.binding_closed", "team.binding_opened"].map((action) => ({
      action,
      actor_label: "ada@example.com",
      target_id: ada.team.id,
    })),
  );
});

it("warns owners and admins when more devices can report than there are seats, with one event each time it becomes so", async () => {
  const site = await startSite();
  const { core } = site.t.instance;
  const ada = await site.person({ team: await site.t.team({ seats: 2 }) });
  const bob = await site.person({ team: ada.team, role: "member" });
  const events = () =>
    site.t
      .rows("SELECT team_id, actor_kind, detail FROM audit_events WHERE action = 'team.seats_exceeded' ORDER BY id")
      .map((row) => ({ ...row, detail: JSON.parse(row.detail) }));
  const crossed = (devices: number, seats: number) => ({
    team_id: ada.team.id,
    actor_kind: "system",
    detail: { devices, seats },
  });
  const [, second] = [await bind(site, ada, "1"), await bind(site, ada, "2")];
  expect(events()).toEqual([]);
  const { page, go, judge } = await site.open(ada);
  await go("/devices");
  expect(await page.locator(".flash.warn").count()).toBe(0);
  await bind(site, ada, "3");
  await bind(site, ada, "4");
  expect(events()).toEqual([crossed(3, 2)]);
  await go("/devices");
  await page.getByText("4 devices can report, and the team has 2 seats.").waitFor();
  await go("/overview");
  await page.locator(".concerns").getByText("4 of 2 are taken").waitFor();
  await judge("overview-seats");
  await updateTeam(core, ada.team.id, { seats: 4 }, COMMAND_LINE, noteSeats);
  await revokeDevice(core, second.deviceId, COMMAND_LINE);
  expect(events()).toHaveLength(1);
  await updateTeam(core, ada.team.id, { seats: 2 }, COMMAND_LINE, noteSeats);
  await updateTeam(core, ada.team.id, { seats: 1 }, COMMAND_LINE, noteSeats);
  expect(events()).toEqual([crossed(3, 2), crossed(3, 2)]);
  const visit = await site.open(bob);
  await visit.go("/overview");
  expect(await visit.page.locator(".concerns").count()).toBe(0);
});

it("speaks neither of seats nor of licences where nobody pays", async () => {
  const site = await startSite({ settings: { billing: "off" } });
  const ada = await site.person({ team: await site.t.team({ seats: 0 }) });
  const device = await bind(site, ada, "build-7");
  await revokeDevice(site.t.instance.core, (await bind(site, ada, "gone")).deviceId, COMMAND_LINE);
  const { page, go } = await site.open(ada);
  for (const path of ["/overview", "/devices", "/devices?state=all", `/devices/${device.deviceId}`]) {
    await go(path);
    expect([path, ((await page.locator("body").textContent()) ?? "").match(/\bseats?\b|licen[cs]e/i)]).toEqual([
      path,
      null,
    ]);
  }
  await go("/license", 404);
  const csrf = (await page.locator("input[name=_csrf]").first().getAttribute("value")) ?? "";
  const minted = await page.request.post(`${site.url}/license/mint`, {
    form: { _csrf: csrf, days: "30" },
    headers: { origin: site.url },
  });
  expect(minted.status()).toBe(404);
  expect(
    site.t.rows("SELECT action FROM audit_events WHERE action IN ('team.seats_exceeded', 'license.minted')"),
  ).toEqual([]);
  expect((await site.t.get("/api/license", { token: device.token })).status).toBe(200);
});

it("shows which device sends more than the policy lets be recorded", async () => {
  const { site, person: ada } = await startSiteOf();
  const [heeds, ignores] = [await bind(site, ada, "heeds"), await bind(site, ada, "ignores")];
  await setPolicy(site.t.instance.core, ada.team.id, parsePolicy('{"captureMode":"off"}'), COMMAND_LINE);
  for (const seqs of [[1, 2], [3]])
    expect((await send(site, ignores.token, "acme/shop", seqs)).body).toMatchObject({ accepted: 0 });
  const { page, go, judge } = await site.open(ada);
  await go("/devices");
  const row = (name: string) => page.getByRole("row").filter({ hasText: name }).textContent();
  expect(await row("ignores")).toContain("2 against the policy");
  expect(await row("heeds")).not.toContain("policy");
  await go(`/devices/${ignores.deviceId}`);
  await judge("device-against-policy");
  expect(await page.getByRole("main").textContent()).toMatch(/Against the policy\s*2 deliveries, the last/);
  await go(`/devices/${heeds.deviceId}`);
  expect(await page.getByRole("main").textContent()).not.toContain("Against the policy");
});

it("gives the lines for agents that export by themselves, which work as they stand", async () => {
  const { site, person: ada } = await startSiteOf({ email: "ada@example.com" });
  const { page, go, judge } = await site.open(ada);
  await go("/devices");
  await page.getByRole("link", { name: "OpenTelemetry" }).click();
  await page.getByRole("heading", { name: "Without installing anything" }).waitFor();
  await judge("devices-otel");
  const managed = page.getByRole("region", { name: "/etc/claude-code/managed-settings.json" });
  expect(JSON.parse((await managed.textContent()) ?? "").env).toMatchObject({
    OTEL_EXPORTER_OTLP_ENDPOINT: site.url,
    CLAUDE_CODE_ENABLE_TELEMETRY: "1",
  });
  const lines = (await page.getByRole("region", { name: "In the shell's profile" }).textContent()) ?? "";
  for (const name of ["Codex", "Gemini CLI", "Copilot CLI", "opencode", "Others"]) {
    await page.getByRole("navigation", { name: "Agents" }).getByRole("link", { name }).click();
    await page.locator(`nav[aria-label="Agents"] a[aria-current="page"]`, { hasText: name }).waitFor();
    expect(await page.locator("main").textContent()).toContain(site.url);
    if (name === "Codex") await judge("devices-otel-codex");
  }
  await page.getByRole("button", { name: "Make a code" }).click();
  const code = await page.locator(".secret-value").textContent();
  const made = await site.t.post("/api/connect/exchange", { json: { code, consent: { version: "1" } } });
  const run = await newMachine().run(`export RECKON_DEVICE_TOKEN=${made.body.deviceToken}
${lines}
curl -s "$OTEL_EXPORTER_OTLP_ENDPOINT/v1/logs" -H "$(printf %s "$OTEL_EXPORTER_OTLP_HEADERS" | sed 's/=/: /; s/%20/ /')" -H 'content-type: application/json' -d '{}'`);
  expect(run.trim()).toBe("{}");
});

it("tells a member who may not connect whom to ask, also for OpenTelemetry", async () => {
  const { site, person: ada } = await startSiteOf();
  await setMembersBind(site.t.instance.core, ada.team.id, false, COMMAND_LINE);
  const mel = await site.person({ team: ada.team, role: "member" });
  const { page, go } = await site.open(mel);
  await go("/devices/opentelemetry?agent=nonsense");
  expect(await page.locator("main").textContent()).toContain("ask one for a connect code");
  expect(await page.getByRole("button", { name: "Make a code" }).count()).toBe(0);
});

it("says of an erased device that what it sent is gone, and asks for no name of it", async () => {
  const { site, core, person: ada } = await startSiteOf();
  const { deviceId, token } = await bind(site, ada, "build-7");
  expect((await send(site, token, "shop", [1])).status).toBe(200);
  await eraseNow(core, { device: deviceId });
  expect(site.t.rows("SELECT label FROM devices")).toEqual([{ label: `erased-${deviceId}` }]);
  const { page, go } = await site.open(ada);
  await go(`/devices/${deviceId}`);
  const main = (await page.locator("main").textContent()) as string;
  expect(main).toContain("What it sent was erased");
  expect(main).not.toContain("stays");
  expect(await page.locator("main form").count()).toBe(0);
  // What was received is told beside what is stored; the one does not go down when something is erased.
  await go("/devices");
  expect(await page.locator(".stat").filter({ hasText: "Entries" }).textContent()).toContain("received in 14 days");
});

it("leads from a device to its sessions, its telemetry and what it cost", async () => {
  const { site, person: ada } = await startSiteOf();
  const [one, other] = [await bind(site, ada, "build-7"), await bind(site, ada, "build-8")];
  for (const { token, deviceId } of [one, other]) {
    const startedAt = site.t.clock.now() - 60_000;
    const span = {
      ...{ id: "a", name: "chat", startedAt, endedAt: startedAt + 1_000, model: "claude-sonnet-4-6" },
      usage: { input_tokens: 9_000, output_tokens: 500 },
    };
    const sessions = [{ id: `of ${deviceId}`, outcome: "success", startedAt, spans: [span] }];
    expect((await site.t.post("/api/agent-traces/ingest", { token, json: { repoKey: "shop", sessions } })).status).toBe(
      200,
    );
    expect((await send(site, token, "shop", [1])).status).toBe(200);
  }
  await site.t.instance.settle();
  const { page, go } = await site.open(ada);
  const follow = async (name: string) => {
    await go(`/devices/${one.deviceId}`);
    await page.locator(".page-head .actions").getByRole("link", { name, exact: true }).click();
    return page.locator("main tbody th").allTextContents();
  };
  expect(await follow("Sessions")).toEqual([expect.stringContaining(`of ${one.deviceId}`)]);
  expect(await follow("Telemetry")).toHaveLength(1);
  expect(await follow("Spend")).toEqual(expect.arrayContaining([expect.stringContaining("build-7")]));
  expect(page.url()).toContain("by=device");
});

it("says to viewers what keeps them from connecting a machine", async () => {
  const site = await startSite();
  const { page, go } = await site.open(await site.person({ role: "viewer" }));
  for (const path of ["/devices", "/overview", "/devices/opentelemetry"]) {
    await go(path);
    const main = await page.locator("main").textContent();
    expect([path, main]).toEqual([path, expect.stringContaining("Viewers connect no machines: ask an owner or admin")]);
    expect(main).not.toContain("only owners and admins connect machines");
  }
});
