import { expect, it } from "vitest";
import { startSite, useBrowser } from "../support/browser.ts";
import { fillUsage } from "../support/usage.ts";

useBrowser();

it("draws", async () => {
  const site = await startSite();
  const ada = await site.person({ role: "member", email: "ada@example.com" });
  await fillUsage(site, ada);
  const { go, judge } = await site.open(ada);
  await go("/spend");
  await judge("spend");
  await go("/spend?by=session&days=365");
  await judge("spend-sessions");
  await go("/spend?by=device&from=2026-11-02&to=2026-11-08");
  await judge("spend-device");
  expect(1).toBe(1);
});
