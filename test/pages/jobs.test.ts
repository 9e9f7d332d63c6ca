import { expect, it } from "vitest";
import { startSite, useBrowser } from "../support/browser.ts";
import { leaveFailing } from "../support/jobs.ts";

useBrowser();

it("shows operators what fails in the background, and says so when all is done", async () => {
  const site = await startSite();
  const { page, go, judge } = await site.open(await site.person({ operator: true }));
  await go("/overview");
  await page.getByRole("link", { name: "Installation" }).click();
  await page.getByRole("link", { name: "Background work" }).click();
  await page.getByText("No job fails").waitFor();
  await judge("jobs-empty");
  const tries = await leaveFailing(site.t.instance.core);
  await go("/jobs");
  await judge("jobs");
  const rows = await page
    .locator("tbody tr")
    .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  expect(rows).toEqual([["test.interval", String(tries), expect.stringMatching(/^<b>no route<\/b>/)]]);
});
