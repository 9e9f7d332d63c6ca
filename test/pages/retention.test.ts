import { expect, it } from "vitest";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { placeHold, setRetention } from "../../src/share/erasure/erasure.ts";
import { retentionJob } from "../../src/share/erasure/nightly.ts";
import { startSiteOf, useBrowser } from "../support/browser.ts";

useBrowser();

it("shows that all is kept, accepts days, warns below half a year, and shows holds and the last run", async () => {
  const { site, core, person: ada } = await startSiteOf({ role: "admin" });
  const { page, go, judge } = await site.open(ada);
  await go("/retention");
  expect(await page.getByLabel("Telemetry, days").inputValue()).toBe("");
  await judge("retention-empty");
  await page.getByLabel("Sessions, days").fill("90");
  await page.getByLabel("Audit, days").fill("400");
  await page.locator("summary").getByText("Keep it so long").click();
  expect(await page.getByRole("dialog").textContent()).toContain("is removed for good");
  expect(site.t.rows("SELECT kind, days FROM retention_rules")).toEqual([]);
  await page.getByRole("dialog").getByRole("button", { name: "Keep it so long" }).click();
  await page.getByText("It is kept so long from now on.").waitFor();
  expect(site.t.rows("SELECT kind, days FROM retention_rules ORDER BY kind")).toEqual([
    { kind: "audit", days: 400 },
    { kind: "traces", days: 90 },
  ]);
  expect(await page.getByRole("main").textContent()).toContain("less than 183 days");
  expect(
    site.t.rows(
      "SELECT actor_label AS who, target_label AS what, detail FROM audit_events WHERE action = 'retention.set' ORDER BY id",
    ),
  ).toEqual([
    { who: ada.email, what: "traces", detail: '{"from":"forever","to":90}' },
    { who: ada.email, what: "audit", detail: '{"from":"forever","to":400}' },
  ]);
  await placeHold(core, { team: ada.team.id, reason: "A claim is open" }, COMMAND_LINE);
  await setRetention(core, ada.team.id, "traces", null, COMMAND_LINE);
  site.t.clock.advance(3_600_000);
  await retentionJob.run(core);
  await go("/retention");
  const main = await page.getByRole("main").textContent();
  expect(main).toContain("A claim is open");
  expect(main).toMatch(/Let gonothing/);
  await judge("retention");
});

it("changes back nothing that somebody else changed while the form stood open", async () => {
  const { site, core, person: ada } = await startSiteOf({ role: "admin" });
  const { page, go } = await site.open(ada);
  const keep = async () => {
    await page.locator("summary").getByText("Keep it so long").click();
    await page.getByRole("dialog").getByRole("button", { name: "Keep it so long" }).click();
  };
  const rules = () => site.t.rows("SELECT kind, days FROM retention_rules ORDER BY kind");
  await setRetention(core, ada.team.id, "telemetry", 30, COMMAND_LINE);
  await go("/retention");
  await setRetention(core, ada.team.id, "telemetry", 400, COMMAND_LINE);
  await page.getByLabel("Audit, days").fill("365");
  await keep();
  await page.getByText("It is kept so long from now on.").waitFor();
  const both = [
    { kind: "audit", days: 365 },
    { kind: "telemetry", days: 400 },
  ];
  expect(rules()).toEqual(both);
  await setRetention(core, ada.team.id, "telemetry", null, COMMAND_LINE);
  await page.getByLabel("Telemetry, days").fill("200");
  await keep();
  expect(await page.getByRole("alert").textContent()).toContain("Telemetry is kept for ever now. Nothing was changed");
  expect(rules()).toEqual(both.slice(0, 1));
  expect(await page.getByLabel("Telemetry, days").inputValue()).toBe("200");
  await keep();
  await page.getByText("It is kept so long from now on.").waitFor();
  expect(rules()).toEqual([both[0], { kind: "telemetry", days: 200 }]);
});
