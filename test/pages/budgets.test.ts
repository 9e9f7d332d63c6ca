import { expect, it } from "vitest";
import { setBudget } from "../../src/insight/budgets/budgets.ts";
import { checkBudgets } from "../../src/insight/budgets/check.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { makeAccount } from "../support/accounts.ts";
import { startSiteOf, useBrowser } from "../support/browser.ts";
import { fillUsage, TILL } from "../support/usage.ts";

useBrowser();

it("shows where budgets stand, and lets admins set and remove them", async () => {
  const { site, person: ada } = await startSiteOf({ email: "ada@example.com" });
  await fillUsage(site, ada);
  const { page, go, judge } = await site.open(ada);
  await go("/spend");
  await page.getByRole("link", { name: "Manage budgets" }).click();
  const set = async (of: string, usd: string, period = "month") => {
    await page.getByLabel("Budget of").selectOption({ label: of });
    await page.getByLabel("For each").selectOption(period);
    await page.getByLabel("Amount ($)").fill(usd);
    await page.getByRole("button", { name: "Set budget" }).click();
  };
  await set("The whole team", "lots");
  await page.getByText("Give an amount in dollars").waitFor();
  expect(site.t.count("budgets")).toBe(0);
  await set("The whole team", "120");
  await page.getByText("The budget is set.").waitFor();
  await set(`Repository ${TILL}`, "$5.00");
  await set("Person ada@example.com", "10000", "week");
  await set("Model claude-sonnet-4-5", "400");
  await checkBudgets(site.t.instance.core);
  await go("/spend/budgets");
  await judge("budgets");
  const row = (name: string) => page.getByRole("row").filter({ hasText: name });
  expect(await row("Whole team").textContent()).toMatch(/this month.*\$120\.00.*(used up|exceeded)/s);
  // The name stands there without the host, which all of a team's have: a tablet showed nothing but that.
  expect(await page.getByRole("link", { name: "acme/till", exact: true }).getAttribute("title")).toBe(TILL);
  expect(await row("acme/till").textContent()).toMatch(/\$5\.03.*100 %.*exceeded/s);
  const cut =
    "[...document.querySelectorAll('[data-label=State]')].filter((td) => td.scrollWidth > td.clientWidth).length";
  expect(await page.evaluate(cut)).toBe(0);
  expect(site.t.rows("SELECT detail FROM audit_events WHERE action = 'budget.reached'").length).toBeGreaterThan(1);
  await go("/spend");
  await judge("spend-budgets");
  await go("/spend/budgets");
  await row("acme/till").getByText("Remove").first().click();
  await page.getByRole("button", { name: "Remove budget" }).click();
  await page.getByText("The budget is removed.").waitFor();
  expect(await row("acme/till").count()).toBe(0);
});

it("lets members look and nobody else change", async () => {
  const {
    site,
    person: { team },
  } = await startSiteOf();
  const member = await site.person({ team, role: "member" });
  const { page, go } = await site.open(member);
  await go("/spend/budgets");
  expect(await page.getByRole("button", { name: "Set budget" }).count()).toBe(0);
  await go("/spend");
  expect(await page.getByRole("link", { name: "Manage budgets" }).count()).toBe(0);
});

it("shows people's names in a team of hundreds, and says that the choice does not list all of them", async () => {
  const { site, core, person: ada } = await startSiteOf();
  const joins = (i: number) =>
    makeAccount(core, {
      email: `p${String(i).padStart(3, "0")}@example.org`,
      team: { id: ada.team.id, role: "member" },
    });
  const people = await Promise.all(Array.from({ length: 201 }, (_, i) => joins(i)));
  const budget = {
    scope: "person",
    subject: people[200]?.id ?? "",
    period: "month",
    amountUsd: 5,
    thresholds: [80],
  } as const;
  await setBudget(core, ada.team.id, budget, COMMAND_LINE);
  const { page, go } = await site.open(ada);
  await go("/spend/budgets");
  await page.getByRole("rowheader", { name: "p200@example.org" }).waitFor();
  expect(await page.getByLabel("Budget of").textContent()).toContain("2 more, by reckon budget set --person");
});
