import { expect, it } from "vitest";
import { saveView } from "../../src/identity/saved-views/saved-views.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { fillRecords } from "../support/api.ts";
import { startSiteOf, startSiteWithDevice, useBrowser } from "../support/browser.ts";

useBrowser();

it.each([
  ["/errors", "state=resolved&q=login", "States"],
  ["/spend", "days=90&by=repo", "Period"],
  ["/telemetry", "type=note&at=x", "Views"],
])("saves views of %s, and shows them there", async (place, query, label) => {
  const { site, person: ada } = await startSiteOf();
  await fillRecords(site.t, await site.t.device(ada.team));
  const { page, go, judge } = await site.open(ada);
  const tabs = page.getByRole("navigation", { name: label, exact: true });
  await go(`${place}?${query}`);
  await page.locator("summary", { hasText: "Views" }).click();
  await page.getByLabel("Save this view as").fill("Of mine");
  await page.getByRole("button", { name: "Save view" }).click();
  await page.getByText("The view is saved.").waitFor();
  expect(await tabs.locator("[aria-current]").allTextContents()).toEqual(["Of mine"]);
  await judge(`views${place.replaceAll("/", "-")}`);
  await go(place);
  expect(await tabs.locator("[aria-current]").allTextContents()).not.toContain("Of mine");
  await tabs.getByRole("link", { name: "Of mine" }).click();
  await tabs.locator("[aria-current]", { hasText: "Of mine" }).waitFor();
  expect(site.t.rows("SELECT place, query FROM saved_views")).toEqual([{ place, query: query.replace("&at=x", "") }]);
});

it("records who shares a view with the team and who removes one from it, but not changes to one's own", async () => {
  const { site, person: ada } = await startSiteOf();
  const bob = await site.person({ team: ada.team, role: "admin", email: "bob@example.com" });
  await fillRecords(site.t, await site.t.device(ada.team));
  const { page, go } = await site.open(ada);
  await go("/errors");
  for (const name of ["Of mine", "Of all"]) {
    await page.locator("summary", { hasText: "Views" }).click();
    await page.getByLabel("Save this view as").fill(name);
    if (name === "Of all") await page.getByLabel("Share with the team").check();
    await page.getByRole("button", { name: "Save view" }).click();
    await page.getByText("The view is saved.").waitFor();
  }
  const [{ id }] = site.t.rows("SELECT id FROM saved_views WHERE shared = 1");
  const admins = await site.open(bob);
  await admins.go("/errors");
  await admins.page.locator("summary", { hasText: "Views" }).click();
  await admins.page.getByRole("button", { name: "Delete Of all" }).click();
  await admins.page.getByText("The view is deleted.").waitFor();
  const told =
    "SELECT actor_label AS who, action, target_id AS id, detail FROM audit_events WHERE target_kind = 'view'";
  expect(site.t.rows(told)).toEqual([
    { who: ada.email, action: "view.shared", id, detail: '{"place":"/errors"}' },
    { who: bob.email, action: "view.withdrawn", id, detail: '{"place":"/errors"}' },
  ]);
  await admins.go("/audit");
  expect(await admins.page.locator("#events").textContent()).toMatch(
    /withdrew a shared viewplace: \/errors[\s\S]*shared a viewplace: \/errors/,
  );
});

it("saves what the filters ask for now, not what the page was opened with", async () => {
  const { site, person: ada } = await startSiteOf();
  await fillRecords(site.t, await site.t.device(ada.team));
  const { page, go } = await site.open(ada);
  await go("/telemetry");
  await page.getByRole("searchbox").fill("about");
  await page.waitForURL(/q=about/);
  await page.locator("summary", { hasText: "Views" }).click();
  await page.getByLabel("Save this view as").fill("About");
  await page.getByRole("button", { name: "Save view" }).click();
  await page.getByText("The view is saved.").waitFor();
  expect(site.t.rows("SELECT query FROM saved_views")).toEqual([{ query: "q=about" }]);
});

it("leads from a session to the telemetry that names it, and to no other", async () => {
  const { site, person: ada, device } = await startSiteWithDevice();
  await fillRecords(site.t, device);
  const payload = { type: "usage", sessionId: "login-10", text: "login-1" };
  const entries = [{ seq: 3, payload, clientTimestamp: "2026-11-20T14:00:00Z" }];
  await site.t.post("/api/telemetry/ingest", { token: device.token, json: { repoKey: "shop", entries } });
  const { page, go, judge } = await site.open(ada);
  const [{ id }] = site.t.rows("SELECT id FROM trace_sessions");
  await go(`/sessions/${id}`);
  await page.getByRole("region", { name: "Facts" }).getByRole("link", { name: "Entries" }).click();
  await page.getByRole("heading", { level: 1, name: "Telemetry" }).waitFor();
  expect(await page.locator("tbody th a").allTextContents()).toEqual(["1"]);
  await judge("telemetry-of-session");
});

it("leads back to the list that a view was deleted from in another tab", async () => {
  const { site, person: ada } = await startSiteOf();
  await fillRecords(site.t, await site.t.device(ada.team));
  await saveView(
    site.t.instance.core,
    ada.team.id,
    ada.userId,
    {
      ...{ place: "/telemetry", name: "Of mine", query: "type=note", shared: false },
    },
    COMMAND_LINE,
  );
  const { page, go, judge } = await site.open(ada);
  await go("/telemetry?type=usage");
  site.t.instance.core.store.db.prepare("DELETE FROM saved_views").run();
  await page.locator("summary", { hasText: "Views" }).click();
  await page.getByRole("button", { name: "Delete Of mine" }).click();
  await page.getByText("There is no such view.").waitFor();
  await judge("gone");
  await page.getByRole("link", { name: "Back to the page before" }).click();
  await page.waitForURL("**/telemetry?type=usage");
  // Nobody is led elsewhere by what another site says, nor in a circle.
  for (const referer of ["https://evil.example/telemetry", `${site.url}/views/none`, "about:blank"]) {
    const gone = await fetch(`${site.url}/views/none`, { headers: { cookie: ada.cookie, referer } });
    expect([gone.status, (await gone.text()).includes("the page before")]).toEqual([404, false]);
  }
});
