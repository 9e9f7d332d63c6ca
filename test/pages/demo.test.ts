import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { picture, signedIn, useBrowser } from "../support/browser.ts";
import { type Started, startProcess } from "../support/dev.ts";

/** Every place of the dashboard as the demo team's owner sees it, at three widths, in light and dark. */

useBrowser();

/** A4 at 96 pixels an inch, within Chromium's margins of a centimetre. */
const PAPER = { width: 718, height: 1_047 };
const WIDTHS = [1440, 1280, 380] as const;

const PLACES = {
  overview: "/overview",
  sessions: "/sessions",
  failed: "/sessions?outcome=failure",
  errors: "/errors",
  spend: "/spend",
  repositories: "/repositories",
  devices: "/devices",
  telemetry: "/telemetry",
  streams: "/telemetry/streams",
  evidence: "/evidence",
  audit: "/audit",
  brain: "/brain",
  people: "/people",
  retention: "/retention",
  notifications: "/notifications",
  tokens: "/api-tokens",
  search: "/search?q=facet",
};

let demo: Started;
beforeAll(async () => {
  let end = async () => {};
  demo = await startProcess(["--seed", "pictures", "--freeze"], {}, "ignore", (ends) => {
    end = ends;
  });
  return end;
});

it("prints every place of the demo team within the width of the paper", async () => {
  const { page, go } = await signedIn(demo);
  await page.setViewportSize(PAPER);
  await page.emulateMedia({ media: "print" });
  for (const path of [...Object.values(PLACES), "/repositories/overview?repo=github.com%2Fbrightloom%2Fshop"]) {
    await go(path);
    const over = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    expect.soft([path, over]).toEqual([path, 0]);
  }
});

it("shows every place of the demo team: light, without faults, still and without scrolling sideways", async () => {
  mkdirSync(join(import.meta.dirname, "../../dist/screenshots/demo"), { recursive: true });
  const visit = await signedIn(demo);
  const { page, go, judge, complaints } = visit;
  const look = async (name: string) => {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      const over = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
      expect(over, `${name} scrolls sideways at ${width} px`).toBeLessThanOrEqual(0);
      if (!process.env.RECKON_TEST_SCREENSHOTS) continue;
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await picture(page, `demo/${name}-${width}-${colorScheme}`);
      }
    }
    await page.setViewportSize({ width: 1280, height: 900 });
  };
  const looked = async (name: string) => {
    await judge(`demo/${name}`);
    await look(name);
  };
  for (const [name, path] of Object.entries(PLACES)) {
    await go(path);
    await looked(name);
  }
  await go("/sessions");
  const errors = await page.locator("main tbody td:has(.caused)").allTextContents();
  expect([...new Set(errors.map((text) => text.trim()))].sort()).toEqual(["1 caused", "1 · 1 caused"]);
  for (const [name, path, rows] of [
    ["session", "/sessions?outcome=failure", "main tbody a[href*='/sessions/']"],
    ["error", "/errors", "main tbody a[href*='/errors/']"],
    ["repository", "/repositories", "main tbody a"],
  ] as const) {
    await go(path);
    await page.locator(rows).first().click();
    await looked(name);
  }
  expect(complaints).toEqual([]);
});
