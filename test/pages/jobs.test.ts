import { expect, it } from "vitest";
import { startSite, useBrowser } from "../support/browser.ts";
import { leaveUnfinished } from "../support/jobs.ts";

useBrowser();

it("shows operators what fails and what waits in the background, and says so when all is done", async () => {
  const site = await startSite();
  const { core } = site.t.instance;
  const { page, go, judge } = await site.open(await site.person({ operator: true }));
  await go("/overview");
  await page.getByRole("link", { name: "Installation" }).click();
  await page.getByRole("link", { name: "Background work" }).click();
  await page.getByText("All is done").waitFor();
  await judge("jobs-empty");
  await leaveUnfinished(core);
  const [{ failures }] = site.t.rows("SELECT failures FROM job_failures");
  await go("/jobs");
  await judge("jobs");
  const rows = await page
    .locator("tbody tr")
    .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  const cause = expect.stringContaining("Error: <b>no route</b>");
  expect(rows).toEqual([
    ["test.interval", "–", String(failures), "at its interval", cause],
    ["test.send", "1", "1", "in under a minute", cause],
    ["test.wait", "1", "0", "just now", "–"],
  ]);
});

it("is for operators alone", async () => {
  const site = await startSite();
  const owner = await site.person({ role: "owner" });
  const ask = (path: string) => fetch(site.url + path, { headers: { cookie: owner.cookie } });
  expect([(await ask("/jobs")).status, (await (await ask("/overview")).text()).includes("Background work")]).toEqual([
    403,
    false,
  ]);
});
