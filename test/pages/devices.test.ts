import { expect, it } from "vitest";
import { bindDevice, createCode } from "../../src/identity/devices/devices.ts";
import { DAY_MS, MINUTE_MS } from "../../src/kit/clock.ts";
import { type Person, type Site, startSite, useBrowser } from "../support/browser.ts";
import { newMachine } from "../support/machine.ts";

useBrowser();

const HOSTILE = `<img src=x onerror="document.title='owned'">"'&lt;`;

/** Binds a device to somebody's team. */
async function bind(site: Site, { team }: Person, label: string | null, userAgent: string | null = null) {
  const { code } = await createCode(site.t.instance.core, team.id);
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
  const site = await startSite();
  const ada = await site.person({ email: "ada@example.com" });
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
  await page.getByText("For an agent or a script of your own").click();
  const byHttp = (await page.getByRole("region", { name: "By HTTP" }).textContent()) ?? "";
  expect(byHttp).toContain(code);
  expect(JSON.parse(await newMachine().run(`${line} --yes --json --label build-7`))).toMatchObject({
    teamName: ada.team.name,
  });
  expect(site.t.rows("SELECT label, team_id FROM devices")).toEqual([{ label: "build-7", team_id: ada.team.id }]);
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
  const site = await startSite();
  const ada = await site.person();
  const other = await site.person();
  const { core } = site.t.instance;
  const { code } = await createCode(core, ada.team.id);
  const foreign = await createCode(core, other.team.id);
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

it("lists devices by state and finds them as one types", async () => {
  const site = await startSite();
  const ada = await site.person();
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
  // Signed in before the clock moved.
  const grace = await site.person({ team: ada.team, role: "admin" });
  const { page, go, judge } = await site.open(grace);
  await go("/devices");
  await judge("devices");
  expect(await page.getByText("4 of 5 are taken").count()).toBe(1);
  const row = (name: string) => page.getByRole("row").filter({ has: page.getByRole("rowheader", { name }) });
  expect(await row("build-7").textContent()).toMatch(
    /active.*just now.*reckon-agent\/2\.1.*5 missing entries.*1 conflict/s,
  );
  expect(await row("lost-laptop").textContent()).toMatch(/quiet.*2 days ago/s);
  expect(await page.getByRole("rowheader", { name: HOSTILE }).count()).toBe(1);
  expect(await page.title()).toBe("Devices · Reckon");
  await page.getByLabel("Search").fill("LOST-");
  await page.locator("#results[data-count='1']").waitFor();
  expect(page.url()).toContain("q=LOST-");
  expect(await page.getByRole("rowheader").allTextContents()).toEqual(["lost-laptop"]);
  await page.getByLabel("Search").fill("");
  await page.getByLabel("State").selectOption("Not heard of for a day");
  await page.locator("#results[data-count='3']").waitFor();
  await go("/devices?state=nonsense&after=dev_none&q=%00");
});

it("pages through many devices", async () => {
  const site = await startSite();
  const ada = await site.person();
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
    await older.click();
  }
  expect(names).toEqual(Array.from({ length: 120 }, (_, i) => `agent-${119 - i}`));
});

it("shows a device with its gaps and rollbacks explained, renames it and revokes it", async () => {
  const site = await startSite();
  const ada = await site.person({ email: "ada@example.com" });
  const device = await bind(site, ada, "build-7", "reckon-agent/2.1");
  await send(site, device.token, "github.com/acme/shop", [1, 2, 5, 9]);
  await send(site, device.token, "github.com/acme/shop", [2], "rewritten");
  await send(site, device.token, "", [1, 2]);
  const { page, go, judge } = await site.open(ada);
  await go(`/devices/${device.deviceId}`);
  await judge("device");
  const stream = page.getByRole("row").filter({ hasText: "github.com/acme/shop" });
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

it("revokes without JavaScript through the question", async () => {
  const site = await startSite();
  const ada = await site.person();
  const device = await bind(site, ada, "build-7");
  const { page, go } = await site.open(ada, { javaScript: false });
  await go(`/devices/${device.deviceId}`);
  await page.locator("summary", { hasText: "Revoke this device" }).click();
  await page.getByRole("button", { name: "Revoke device" }).click();
  await page.getByText("is revoked.").waitFor();
  expect(site.t.rows("SELECT revoked_at IS NOT NULL AS revoked FROM devices")).toEqual([{ revoked: 1 }]);
});

it("says that a token ran out and that the machine has to be connected again", async () => {
  const site = await startSite();
  const first = await site.person();
  const device = await bind(site, first, "forgotten");
  site.t.clock.advance(91 * DAY_MS);
  const ada = await site.person({ team: first.team });
  const { page, go } = await site.open(ada);
  await go(`/devices/${device.deviceId}`);
  expect(await page.getByText("Its token ran out before the machine replaced it").count()).toBe(1);
});

it("shows members everything but the acts, and refuses them the acts", async () => {
  const site = await startSite();
  const ada = await site.person();
  const device = await bind(site, ada, "build-7");
  await createCode(site.t.instance.core, ada.team.id);
  const member = await site.person({ team: ada.team, role: "member" });
  const { page, go } = await site.open(member);
  await go("/devices");
  expect(await page.getByRole("rowheader", { name: "build-7" }).count()).toBe(1);
  expect(await page.getByRole("button", { name: "Connect a device" }).count()).toBe(0);
  expect(await page.getByText("Open connect codes").count()).toBe(0);
  await go(`/devices/${device.deviceId}`);
  expect(await page.getByText("Revoke this device").count()).toBe(0);
  expect(await page.getByLabel("Label").count()).toBe(0);
  const csrf = await page.locator("input[name=_csrf]").first().getAttribute("value");
  const codes = site.t.count("connect_codes");
  for (const path of ["/devices/codes", `/devices/${device.deviceId}/revoke`, `/devices/${device.deviceId}/rename`]) {
    const reply = await page.request.post(site.url + path, {
      form: { _csrf: csrf ?? "", label: "taken" },
      headers: { origin: site.url },
    });
    expect([path, reply.status()]).toEqual([path, 403]);
    expect(await reply.text()).toContain("Only owners and admins of the team can do this.");
  }
  expect(site.t.count("connect_codes")).toBe(codes);
  expect(site.t.rows("SELECT label, revoked_at FROM devices")).toEqual([{ label: "build-7", revoked_at: null }]);
});

it("knows nothing of another team's devices and codes", async () => {
  const site = await startSite();
  const ada = await site.person();
  const device = await bind(site, ada, "canary-device");
  await createCode(site.t.instance.core, ada.team.id, 15 * MINUTE_MS);
  const [open] = site.t.rows(
    "SELECT lower(hex(substr(code_hash, 1, 8))) AS id FROM connect_codes WHERE consumed_at IS NULL",
  );
  const eve = await site.person();
  const { page, go } = await site.open(eve);
  await go("/devices");
  expect(await page.content()).not.toContain("canary-device");
  await go(`/devices/${device.deviceId}`, 404);
  expect(await page.content()).not.toContain("canary-device");
  await go("/devices");
  const csrf = (await page.locator("input[name=_csrf]").first().getAttribute("value")) ?? "";
  for (const [path, form] of [
    [`/devices/${device.deviceId}/revoke`, {}],
    [`/devices/${device.deviceId}/rename`, { label: "taken" }],
    ["/devices/codes/revoke", { id: open.id }],
  ] as const) {
    const reply = await page.request.post(site.url + path, {
      form: { _csrf: csrf, ...form },
      headers: { origin: site.url },
    });
    expect([path, reply.status()]).toEqual([path, 404]);
  }
  expect(site.t.rows("SELECT label, revoked_at FROM devices")).toEqual([{ label: "canary-device", revoked_at: null }]);
  expect(site.t.rows("SELECT count(*) AS open FROM connect_codes WHERE expires_at > ?", site.t.clock.now())).toEqual([
    { open: 2 },
  ]);
});
