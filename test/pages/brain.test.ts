import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { assignDevice, renameDevice } from "../../src/identity/devices/devices.ts";
import { updateTeam } from "../../src/identity/teams/teams.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { parsePolicy, setPolicy } from "../../src/record/policy/policy.ts";
import { brains, describeReal } from "../real/data.ts";
import { type Site, startSiteOf, startSiteWithDevice, useBrowser } from "../support/browser.ts";
import type { TestDevice } from "../support/instance.ts";

useBrowser();

const REPO = "acme/shop";
const HOSTILE = 'a b/?&#<img src=x onerror="alert(1)">/ünï.md';

const errors = (more: string) => `# Errors

## 2026-11-20: Checkout total off by a cent

**Cause:** prices were summed as floats in \`src/cart/total.ts\`.

### Prevention rule

Sum in whole cents.

## 2026-11-18: Session cookie lost behind the proxy

The cookie was set without a path. Fixed in 4f9d2c1.

${more}`;

const LINES = Array.from({ length: 60 }, (_, i) => `- step ${i + 1}`);

function versions(): { path: string; content: string }[][] {
  const decision = { path: "decisions/0001-sqlite.md", content: "# Use SQLite\n\nOne file, easily backed up.\n" };
  const runbook = { path: "notes/runbook.md", content: `# Runbook\n\n${LINES.join("\n")}\n` };
  const hostile = { path: HOSTILE, content: "# Odd\n\n<script>alert(1)</script> [x](javascript:alert(1)) **bold**\n" };
  return [
    [{ path: "errors.md", content: errors("") }, decision, runbook],
    [
      { path: "errors.md", content: errors("## 2026-11-21: Webhook retried forever\n\nNo limit was set.\n") },
      decision,
      { ...runbook, content: runbook.content.replace("step 31", "step 31, twice") },
      hostile,
    ],
    [
      { path: "errors.md", content: errors("## 2026-11-21: Webhook retried forever\n\nAt most five tries.\n") },
      runbook,
      hostile,
    ],
  ];
}

async function send(
  site: Site,
  device: TestDevice,
  version: number,
  files: { path: string; content: string }[],
  repoKey?: string,
) {
  site.t.clock.advance(3_600_000);
  const answer = await site.t.post("/api/brain/ingest", { token: device.token, json: { version, repoKey, files } });
  expect(answer.status).toBe(200);
}

/** A team with three versions of one repository (the last after a gap), a rollback, and a repository without a name. */
async function withBrain() {
  const { site, person: ada, device } = await startSiteWithDevice({ role: "member" });
  await renameDevice(site.t.instance.core, ada.team.id, device.deviceId, "ada-laptop", COMMAND_LINE);
  await assignDevice(site.t.instance.core, device.deviceId, ada.userId, COMMAND_LINE);
  const [first, second, third] = versions() as [never, never, never];
  await send(site, device, 1, first, REPO);
  await send(site, device, 2, second, REPO);
  await send(site, device, 7, third, REPO);
  await send(site, device, 3, first, REPO);
  await send(site, device, 1, [{ path: "note.md", content: "# Loose\n" }]);
  return { site, ada, device };
}

it("says what to do when there is no brain, and lists repositories when there is", async () => {
  const { site, person: ada } = await startSiteOf();
  const { page, go, judge } = await site.open(ada);
  await go("/brain");
  expect(await page.getByText(`curl ${site.url}/api/brain/ingest`).count()).toBe(1);
  await judge("brain-empty");
  await updateTeam(site.t.instance.core, ada.team.id, { tier: "starter" }, COMMAND_LINE);
  await go("/brain");
  expect(await page.locator(".empty").textContent()).toContain("tier does not include one");
  await updateTeam(site.t.instance.core, ada.team.id, { tier: "team" }, COMMAND_LINE);
  const device = await site.t.device(ada.team);
  await send(site, device, 1, versions()[1] as never, REPO);
  await send(site, device, 1, [{ path: "security.md", content: "# Security\n" }]);
  await go("/brain");
  await judge("brain");
  expect(await page.getByRole("row").filter({ hasText: REPO }).textContent()).toContain("errors");
  await page.getByRole("link", { name: "no repository named" }).click();
  await page.getByRole("link", { name: "security.md" }).waitFor();
});

it("finds sections as one types, and leads to the section in its file", async () => {
  const { site, ada } = await withBrain();
  const { page, go, judge } = await site.open(ada);
  await go("/brain");
  await page.getByRole("searchbox").pressSequentially("five tries");
  await page.waitForURL("**/brain?q=five+tries");
  expect(await page.locator("#results mark").allTextContents()).toEqual(["five", "tries"]);
  await judge("brain-search");
  await page.getByRole("link", { name: "2026-11-21: Webhook retried forever" }).click();
  const heading = page.getByRole("heading", { name: "2026-11-21: Webhook retried forever" });
  expect(await heading.evaluate((node) => node.previousElementSibling?.id)).toBe(new URL(page.url()).hash.slice(1));
});

it("searches and narrows by kind without a script", async () => {
  const { site, ada } = await withBrain();
  const { page, go } = await site.open(ada, { javaScript: false });
  await go(`/brain/repository?repo=${encodeURIComponent(REPO)}`);
  expect(await page.getByRole("row").count()).toBe(4);
  await page.getByLabel("Kind").selectOption("error");
  await page.getByRole("button", { name: "Apply" }).click();
  await page.waitForURL(/kind=error/);
  expect(await page.locator("tbody th").allTextContents()).toEqual(["errors.md"]);
  await page.getByRole("searchbox").fill("cookie proxy");
  await page.getByRole("button", { name: "Apply" }).click();
  await page.waitForURL(/q=cookie/);
  expect(await page.locator("tbody th a").allTextContents()).toEqual([
    "2026-11-18: Session cookie lost behind the proxy",
  ]);
  await page.getByRole("searchbox").fill("unheard-of");
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByText("Nothing found").waitFor();
  await go("/brain?q=%00%ff&kind=nonsense&cursor=%F0");
});

it("shows a file rendered, as written and as a download, with what it stems from", async () => {
  const { site, ada, device } = await withBrain();
  const { page, go, judge } = await site.open(ada);
  await go(`/brain/repository?repo=${encodeURIComponent(REPO)}`);
  await judge("brain-repository");
  await page.getByRole("link", { name: "errors.md" }).click();
  await page.waitForURL("**/brain/file?**");
  expect(await page.locator("main").textContent()).toContain("as of version 7 from");
  expect(await page.getByRole("link", { name: "ada-laptop" }).getAttribute("href")).toBe(`/devices/${device.deviceId}`);
  await page.getByText("Contents, 5 sections").click();
  await judge("brain-file");
  await page.getByRole("link", { name: "Prevention rule" }).click();
  expect(new URL(page.url()).hash).toBe("#md-prevention-rule");
  await page.getByRole("link", { name: "Source", exact: true }).click();
  expect(await page.locator("#L3 .text").textContent()).toBe("## 2026-11-20: Checkout total off by a cent");
  await judge("brain-source");
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download" }).click(),
  ]);
  expect(saved.suggestedFilename()).toBe("errors.md");
  const stored = site.t.rows("SELECT content FROM brain_blobs WHERE content LIKE '%five tries%'");
  const chunks = (await (await saved.createReadStream()).toArray()) as Buffer[];
  expect(Buffer.concat(chunks).toString("utf8")).toBe(stored[0].content);
});

it("shows hostile paths and text as they are, harmlessly", async () => {
  const { site, ada } = await withBrain();
  const { page, go, complaints, judge } = await site.open(ada);
  await go(`/brain/repository?repo=${encodeURIComponent(REPO)}`);
  await page.getByRole("link", { name: HOSTILE }).click();
  await page.waitForURL("**/brain/file?**");
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(HOSTILE);
  expect(await page.locator(".prose").textContent()).toContain("<script>alert(1)</script>");
  expect(await page.locator("main img, .prose a, .prose script").count()).toBe(0);
  await judge("brain-hostile");
  await page.getByRole("link", { name: "History" }).click();
  await page.waitForURL("**/brain/history?**");
  expect(await page.locator("tbody tr").count()).toBe(1);
  expect(complaints).toEqual([]);
});

it("walks versions, explains gaps and rollbacks, and shows an earlier state", async () => {
  const { site, ada } = await withBrain();
  const { page, go, judge } = await site.open(ada);
  await go(`/brain/versions?repo=${encodeURIComponent(REPO)}`);
  const rows = page.locator("tbody tr");
  expect(await rows.locator("th").allTextContents()).toEqual([
    expect.stringMatching(/^3\s+rollback$/),
    expect.stringMatching(/^7\s+current\s+gap/),
    expect.stringMatching(/^2/),
    expect.stringMatching(/^1/),
  ]);
  expect(await rows.nth(1).textContent()).toMatch(/2 changed.*1 removed/);
  expect(await page.getByText("The version number skipped ahead").count()).toBe(1);
  expect(await page.getByText("The version number was not above").count()).toBe(1);
  await judge("brain-versions");
  await rows.nth(3).getByRole("link", { name: "Files" }).click();
  await page.getByText("You look at an earlier state.").waitFor();
  await page.getByRole("link", { name: "errors.md" }).click();
  await page.waitForURL("**/brain/file?**");
  expect(await page.locator("article .prose").textContent()).not.toContain("Webhook");
  await page.getByRole("link", { name: "What changed since" }).click();
  await page.waitForURL("**/brain/changes?**");
  expect(await page.locator("tr.added .text").allTextContents()).toEqual(
    expect.arrayContaining([expect.stringContaining("five tries")]),
  );
});

it("compares any two versions of a repository and of a file", async () => {
  const { site, ada } = await withBrain();
  const { page, go, judge } = await site.open(ada);
  await go(`/brain/changes?repo=${encodeURIComponent(REPO)}`);
  const changed = () => page.getByRole("region", { name: "Files that differ" }).locator("tbody tr");
  // By default, what the current version changed.
  expect(await changed().locator("th").allTextContents()).toEqual([
    "decisions/0001-sqlite.md",
    "errors.md",
    "notes/runbook.md",
  ]);
  expect(await page.locator("tr.removed .text").allTextContents()).toEqual(
    expect.arrayContaining([expect.stringContaining("No limit was set.")]),
  );
  await judge("brain-changes");
  await page.getByLabel("From version").selectOption("none");
  await page.waitForURL("**from=none**");
  expect(await changed().count()).toBe(3);
  await page
    .getByLabel("From version")
    .selectOption({ label: (await page.getByLabel("To version").locator("option:checked").textContent()) as string });
  await page.getByText("No differences").waitFor();
  await go(`/brain/changes?repo=${encodeURIComponent(REPO)}&path=notes%2Frunbook.md`);
  expect(await page.locator("tr.added .text").allTextContents()).toEqual([expect.stringContaining("- step 31")]);
  await go(`/brain/changes?repo=${encodeURIComponent(REPO)}&from=x&to=-1`);
});

it("shows size and digest of a file whose text the policy withheld, and no text to download or compare", async () => {
  const { site, person: ada, device } = await startSiteWithDevice({ role: "owner" });
  const file = { path: "errors.md", content: "# Only the digest of this\n" };
  await setPolicy(site.t.instance.core, ada.team.id, parsePolicy('{"captureMode":"metadata"}'), COMMAND_LINE);
  await send(site, device, 1, [file], REPO);
  await send(site, device, 2, [{ ...file, content: `${file.content}${file.content}` }], REPO);
  const { page, go, judge } = await site.open(ada);
  const at = `repo=${encodeURIComponent(REPO)}&path=errors.md`;
  await go(`/brain/file?${at}`);
  await judge("brain-withheld");
  const digest = createHash("sha256").update(`${file.content}${file.content}`).digest("hex");
  const shown = (await page.getByRole("main").textContent()) ?? "";
  expect(shown).toContain("The text of this file is not stored");
  expect(shown).toContain(digest);
  await go(`/brain/file?${at}&view=source`);
  expect(await page.getByRole("main").textContent()).toContain(digest);
  await go(`/brain/download?${at}`, 404);
  expect(site.t.rows("SELECT action FROM audit_events WHERE action = 'brain_file.exported'")).toEqual([]);
  await go(`/brain/changes?${at}`);
  expect(await page.getByRole("main").textContent()).toContain(`not stored: 52 bytes, SHA-256 ${digest}`);
});

describeReal("with real brains", () => {
  it("shows every file of real repositories without a fault, and their search", async () => {
    const { site, person: ada, device } = await startSiteWithDevice();
    for (const [repo, files] of brains()) {
      const sent = files
        .filter(({ path }) => path !== ".Jules/palette.md")
        .map(({ path, content }) => ({ path, content }));
      await site.t.post("/api/brain/ingest", { token: device.token, json: { version: 1, repoKey: repo, files: sent } });
    }
    const { page, go, judge } = await site.open(ada);
    const [{ repo_key: repo }] = site.t.rows("SELECT repo_key FROM brain_currents ORDER BY repo_key DESC LIMIT 1");
    await go(`/brain/repository?repo=${encodeURIComponent(repo)}`);
    const paths = await page.locator("tbody th").allTextContents();
    expect(paths.length).toBeGreaterThan(0);
    for (const path of paths) {
      const to = `${site.url}/brain/file?${new URLSearchParams({ repo, path, line: "20" })}`;
      const answer = await fetch(to, { headers: { cookie: ada.cookie } });
      expect([path, answer.status]).toEqual([path, 200]);
    }
    await go("/brain?q=why+does+the+test+fail+on+windows");
    await judge("brain-real-search");
  });
});
