import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { picture, signedIn, useBrowser, type Visit } from "../support/browser.ts";
import { type Started, startProcess } from "../support/dev.ts";

/**
 * The questions that a lead opens the dashboard with, asked of the demo team: each is answered in two clicks from the overview at most,
 * in sight and without scrolling. With RECKON_TEST_SCREENSHOTS=1 each leaves a picture of what is in sight, and the table is printed.
 */

useBrowser();

const SCREEN = { width: 1440, height: 900 };
const answered: { question: string; clicks: number; file: string }[] = [];

afterAll(() => {
  if (process.env.RECKON_TEST_SCREENSHOTS) console.table(answered);
});

/** A lead who looks for an answer, by mouse or by keys alone. */
class Lead {
  clicks = 0;
  readonly page: Page;
  readonly #byKeys: boolean;

  constructor({ page }: Visit, byKeys: boolean) {
    this.page = page;
    this.#byKeys = byKeys;
  }

  /** Follows a link that is in sight; by keys, goes to it by Tab. */
  async follow(link: Locator): Promise<void> {
    this.clicks++;
    if (!this.#byKeys) {
      await this.sees(link);
      await link.click();
      return;
    }
    await this.tabTo(link);
    await this.page.keyboard.press("Enter");
  }

  async tabTo(target: Locator): Promise<void> {
    for (let presses = 0; presses < 200; presses++) {
      if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) return;
      await this.page.keyboard.press("Tab");
    }
    throw new Error(`Tab does not lead to ${target}`);
  }

  /** Whether all of something is in sight, and nothing lies over it. */
  async sees(what: Locator): Promise<void> {
    await what.waitFor();
    await expect
      .poll(() =>
        what.evaluate((element) => {
          const { innerHeight, innerWidth } = element.ownerDocument.defaultView as {
            innerHeight: number;
            innerWidth: number;
          };
          const { left, right, top, bottom } = element.getBoundingClientRect();
          const at = element.ownerDocument.elementFromPoint((left + right) / 2, (top + bottom) / 2);
          // A link spans all of the figure that it stands in.
          const within = at?.closest(".stat") ?? at;
          const isCovered = !within || !(element.contains(at) || within.contains(element));
          return [top >= 0, left >= 0, bottom <= innerHeight, right <= innerWidth, isCovered ? String(at) : "in sight"];
        }),
      )
      .toEqual([true, true, true, true, "in sight"]);
  }
}

const inPlaces = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Main", exact: true }).getByRole("link", { name, exact: true });
const stat = (page: Page, name: string) => page.locator(".stat").filter({ has: page.getByText(name, { exact: true }) });

interface Question {
  readonly question: string;
  readonly file: string;
  /** Also asked with the keys alone. */
  readonly byKeys?: boolean;
  answer(lead: Lead): Promise<void>;
}

const QUESTIONS: readonly Question[] = [
  {
    question: "What did our agents do this week?",
    file: "1-this-week",
    byKeys: true,
    async answer(lead) {
      const { page } = lead;
      await lead.sees(page.getByRole("figure").filter({ hasText: "Outcomes by day" }));
      await lead.follow(stat(page, "Sessions").getByRole("link"));
      await page.waitForURL("**/sessions?from=2026-11-15&to=2026-11-21");
      const rows = page.locator("#results tbody tr");
      await lead.sees(rows.first());
      await lead.sees(rows.nth(11));
      await lead.sees(page.getByText(/^28 sessions/));
    },
  },
  {
    question: "How many sessions succeeded, and is that better than last week?",
    file: "2-better-than-last-week",
    async answer(lead) {
      const { page } = lead;
      await lead.sees(stat(page, "Sessions"));
      const text = (await stat(page, "Sessions").textContent()) ?? "";
      const [, now, before] = /\d+ succeeded, (\d+) % better than (\d+) %/.exec(text) ?? [];
      expect(Number(now)).toBeGreaterThan(Number(before) + 20);
      await lead.sees(page.getByText(`better than ${before} %`));
    },
  },
  {
    question: "Which mistake came back, and who is on it?",
    file: "3-came-back",
    byKeys: true,
    async answer(lead) {
      const { page } = lead;
      await lead.follow(inPlaces(page, "Errors"));
      await page.waitForURL("**/errors");
      const row = page.getByRole("row").filter({ hasText: "Label bought twice" });
      await lead.sees(row);
      expect(await row.textContent()).toMatch(/Came again.*Mira/s);
    },
  },
  {
    question: "Why did this session fail?",
    file: "4-why-it-failed",
    byKeys: true,
    async answer(lead) {
      const { page } = lead;
      await lead.follow(
        page.locator("#attention").getByRole("link", { name: "Two labels were bought for one parcel" }),
      );
      await lead.follow(page.getByRole("link", { name: "Jump to the failure" }));
      const step = page.locator("li.bad").filter({ hasText: "exit 1" });
      await lead.sees(step.locator(".timeline-head"));
      expect(await step.locator(".timeline-head").textContent()).toContain("python -m pytest tests/test_labels.py -q");
      await lead.sees(step.getByText("AssertionError: assert ['L-1001', 'L-1002'] == ['L-1001']").last());
    },
  },
  {
    question: "Who spends how much on what, and when does the budget end?",
    file: "5-spend",
    async answer(lead) {
      const { page } = lead;
      await lead.follow(inPlaces(page, "Spend"));
      await page.waitForURL("**/spend");
      // What it was spent on, by model and day, and when it ends.
      await lead.sees(page.getByRole("figure").filter({ hasText: "Cost per day" }));
      await lead.sees(page.getByText(/used up on \d+ Nov 2026/));
      await picture(page, "questions/5-spend-on-what", false);
      await lead.follow(page.locator("#groups").getByRole("link", { name: "Person", exact: true }));
      await page.waitForURL("**/spend?by=person#groups");
      for (const name of ["Tomas", "Mira", "Jonas"]) {
        const row = page.locator("#groups").getByRole("row").filter({ hasText: name });
        await lead.sees(row);
        expect(await row.textContent()).toMatch(/\$\d+\.\d\d/);
      }
      await lead.sees(page.locator("#budgets").getByText(/used up \d+ Nov/));
    },
  },
  {
    question: "What needs me now?",
    file: "6-needs-me",
    async answer(lead) {
      const { page } = lead;
      await lead.follow(stat(page, "Needs attention").getByRole("link"));
      const items = page.locator("#attention li");
      await lead.sees(items.first());
      await lead.sees(items.last());
      const all = (await items.allTextContents()).join("\n");
      for (const kind of ["Rollback", "Came again", "Failed session", "Gap", "Budget at risk"])
        expect(all).toContain(kind);
    },
  },
  {
    question: "What happened in this repository?",
    file: "7-repository",
    byKeys: true,
    async answer(lead) {
      const { page } = lead;
      await lead.follow(inPlaces(page, "Repositories"));
      await lead.follow(page.locator("main").getByRole("link", { name: "github.com/brightloom/parcel-sync" }));
      await lead.sees(page.getByRole("heading", { level: 1, name: "github.com/brightloom/parcel-sync" }));
      await lead.sees(stat(page, "Open errors"));
      await lead.sees(page.getByRole("figure").filter({ hasText: "Outcomes by day" }));
      await lead.sees(
        page.getByRole("region", { name: "Sessions" }).getByRole("link", { name: "Write the intent to buy first" }),
      );
    },
  },
  {
    question: "Is the record complete, and can I prove it?",
    file: "8-complete",
    async answer(lead) {
      const { page } = lead;
      await lead.follow(inPlaces(page, "Evidence"));
      await lead.sees(page.getByText("1 gap and 1 rollback are open, 3 entries missing; 1 gap was filled later."));
      await lead.sees(page.getByRole("link", { name: "Download checkpoint" }));
      await picture(page, "questions/8-complete-verdict", false);
      await lead.follow(page.getByRole("link", { name: "by command" }));
      await lead.sees(page.getByText("reckon ledger check FILE --key"));
    },
  },
  {
    question: "Where is the work on vouchers? (Ctrl-K, three letters)",
    file: "9-where-is",
    byKeys: true,
    async answer(lead) {
      const { page } = lead;
      await page.keyboard.press("Control+k");
      await page.keyboard.type("vou");
      const found = page
        .getByRole("option", { selected: true })
        .filter({ hasText: "One voucher was redeemed in two tabs" });
      await lead.sees(found);
      await lead.sees(page.getByRole("option").filter({ hasText: "Voucher used twice by two tabs" }));
      await picture(page, "questions/9-where-is-found", false);
      await page.keyboard.press("Enter");
      await lead.sees(page.getByRole("heading", { level: 1, name: "One voucher was redeemed in two tabs" }));
    },
  },
  {
    question: "Which session made this commit? (its address at the forge, pasted after Ctrl-K)",
    file: "10-which-commit",
    async answer(lead) {
      const { page } = lead;
      const overview = page.url();
      await page.goto(new URL("/repositories/overview?repo=github.com/brightloom/shop", overview).href);
      const made = page
        .locator("section")
        .filter({ has: page.getByRole("heading", { name: "Latest commits" }) })
        .last();
      const sha = await made.locator("code").first().textContent();
      const title = ((await made.locator("tbody a, li a").first().textContent()) ?? "").slice(0, 30);
      await page.goto(overview);
      await page.keyboard.press("Control+k");
      await page.keyboard.insertText(`https://github.com/brightloom/shop/commit/${sha}`);
      await lead.sees(page.getByRole("option", { selected: true }).filter({ hasText: title }));
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
      // The person, as a link to all of their sessions.
      await lead.sees(page.locator('.rail a[href^="/sessions?person="]'));
    },
  },
  {
    question: "What did Tomas's agents do, and what did it cost?",
    file: "11-of-a-person",
    async answer(lead) {
      const { page } = lead;
      await page.keyboard.press("Control+k");
      await page.keyboard.type("tomas@");
      await lead.follow(page.getByRole("option").filter({ hasText: "tomas@example.com" }));
      await lead.sees(page.getByRole("main").getByRole("link", { name: "Spend", exact: true }));
      await lead.follow(page.getByRole("main").getByRole("link", { name: "Sessions", exact: true }));
      await page.waitForURL("**/sessions?person=usr_*");
      await lead.sees(page.getByText(/^\d+ sessions · \d+ % succeeded · \$\d/));
    },
  },
];

describe("a lead who opens the demo team's dashboard", () => {
  let demo: Started;
  beforeAll(async () => {
    let end = async () => {};
    demo = await startProcess(["--seed", "questions", "--freeze"], {}, "ignore", (ends) => {
      end = ends;
    });
    return end;
  });

  async function ask({ question, file, answer }: Question, byKeys: boolean): Promise<void> {
    const visit = await signedIn(demo);
    const lead = new Lead(visit, byKeys);
    await visit.page.setViewportSize(SCREEN);
    await answer(lead);
    await picture(visit.page, `questions/${file}${byKeys ? "-keys" : ""}`, false);
    expect(lead.clicks).toBeLessThanOrEqual(2);
    expect(visit.complaints).toEqual([]);
    if (!byKeys) answered.push({ question, clicks: lead.clicks, file: `dist/screenshots/questions/${file}.png` });
  }

  it.each(QUESTIONS)("is answered: $question", (question) => ask(question, false));
  it.each(QUESTIONS.filter(({ byKeys }) => byKeys))("is answered by keys alone: $question", (question) =>
    ask(question, true),
  );
});
