import { expect, it } from "vitest";
import { draftPack, findOwnPack, getPack } from "../../src/share/packs/packs.ts";
import { type Person, type Site, sendForm, startSite, useBrowser, type Visit } from "../support/browser.ts";
import { archiveOf, download, ERRORS, FILES, plantInBrain, publish, pushBrain, REPO } from "../support/packs.ts";

useBrowser();

const README =
  "# Cookie rules\n\nWhat **three years** of sign-in bugs taught us.\n\n| Rule | Why |\n|---|---|\n| Path | loops |\n";

/** A team with a brain. */
async function start(site: Site, name = "Acme") {
  const device = await site.t.device(await site.t.team({ name }));
  await pushBrain(site.t, device);
  return { device, team: device.team, owner: await site.person({ team: device.team }) };
}

const says = async ({ page }: Visit) => (await page.locator("main").allInnerTexts()).join().replace(/\s+/g, " ");

it("leads from nothing to a published pack: choose files, look at what redaction changed, publish", async () => {
  const site = await startSite();
  const { t } = site;
  const { device, team, owner } = await start(site);
  const visit = await site.open(owner);
  const { page, go, judge } = visit;
  await go("/packs");
  await judge("packs-none");
  await page.getByRole("link", { name: "Publish a pack" }).click();
  expect(new URL(page.url()).pathname).toBe("/packs/new");
  expect(await page.getByLabel(".claude/brain/packs/other/errors.md").isChecked()).toBe(false);
  await page.getByLabel("Name", { exact: false }).first().fill("Cookie Rules");
  await page.getByLabel("Title").fill("Cookie rules");
  await page.getByLabel("Summary").fill("What three years of sign-in bugs taught us.");
  await page.getByLabel("Licence", { exact: true }).selectOption("CC-BY-4.0");
  await page.getByLabel("Tags").fill("TypeScript, web");
  await page.getByLabel("README").fill(`${README}\nDB_PASSWORD=Hq7xT2mK9vL4\n`);
  // The focus is taken away and the page scrolled up, so that the sticky head is in its place on the picture.
  await page.evaluate("document.activeElement.blur(); scrollTo(0, 0)");
  await judge("packs-new");
  await page.getByRole("button", { name: "Preview" }).click();
  // What was typed comes back with what is wrong with it.
  expect(await page.getByRole("alert").textContent()).toContain("lower-case letters");
  expect(await page.getByLabel("Tags").inputValue()).toBe("TypeScript, web");
  await page.locator("[name=name]").fill("cookie-rules");
  await page.getByRole("button", { name: "Preview" }).click();
  await judge("packs-preview");
  const preview = await says(visit);
  expect(preview).toContain("Nothing is published yet");
  expect(preview).toContain("README 9 DB_PASSWORD=[REDACTED:assigned-secret]");
  expect(preview).toContain(`${team.name}; everybody will see the team’s name`);
  expect(await page.content()).not.toMatch(/<(?:code|p|td)[^>]*>[^<]*Hq7xT2mK9vL4/);
  expect(t.count("packs")).toBe(0);
  await page.getByRole("button", { name: "Change something" }).click();
  expect(await page.getByLabel(".claude/brain/errors.md", { exact: true }).isChecked()).toBe(true);
  await page.getByLabel(".claude/brain/decisions/0001-cookies.md").uncheck();
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("button", { name: "Publish cookie-rules 1.0.0" }).click();
  expect(await page.locator(".flash.done").textContent()).toBe("cookie-rules 1.0.0 is published.");
  const pack = getPack(t.instance.core, "cookie-rules");
  expect(pack).toMatchObject({ version: "1.0.0", license: "CC-BY-4.0", tags: ["typescript", "web"], rules: 1 });
  expect(pack?.contents.map((one) => one.path)).toEqual(["README.md", "errors.md", "pack.json"]);
  expect(pack?.readme).toContain("[REDACTED:assigned-secret]");
  expect(t.rows("SELECT actor_label AS by, action FROM audit_events WHERE action LIKE 'pack.%'")).toEqual([
    { by: owner.email, action: "pack.published" },
  ]);
  for (const { token } of [device, await t.device()])
    await download(t, archiveOf("cookie-rules"), { authorization: `Bearer ${token}` });
  await page.reload();
  await judge("packs-one");
  expect(await says(visit)).toContain("Installed by 1 device of other teams. 3 30");
  expect(await page.locator("figure code").textContent()).toContain(`${site.url}${archiveOf("cookie-rules")}`);
  await go("/packs");
  await judge("packs");
  expect(await page.getByRole("row").nth(1).textContent()).toMatch(/Cookie rules[\s\S]*published[\s\S]*1\.0\.0/);
});

it("prefills a new version with what the last one had, and publishes only files that were looked at", async () => {
  const site = await startSite();
  const { t } = site;
  const { device, team, owner } = await start(site);
  await publish(t, team.id, { name: "cookie-rules", title: "Cookies", license: "Our own words", readme: README });
  const visit = await site.open(owner);
  const { page, go } = visit;
  await go("/packs/cookie-rules");
  await page.getByRole("link", { name: "Publish a new version" }).click();
  expect([
    await page.locator("[name=version]").inputValue(),
    await page.locator("[name=license_other]").inputValue(),
  ]).toEqual(["1.1.0", "Our own words"]);
  await page.getByRole("button", { name: "Preview" }).click();
  await pushBrain(t, device, { ...FILES, ".claude/brain/errors.md": `${ERRORS}\nWritten meanwhile.\n` });
  await page.getByRole("button", { name: "Publish cookie-rules 1.1.0" }).click();
  expect(await page.getByRole("alert").textContent()).toContain("The brain changed since you looked");
  expect(t.count("pack_versions")).toBe(1);
  await page.getByRole("button", { name: "Publish cookie-rules 1.1.0" }).click();
  expect(findOwnPack(t.instance.core, team.id, "cookie-rules")).toMatchObject({
    version: "1.1.0",
    title: "Cookies",
    license: "Our own words",
    readme: README,
  });
});

it("does not offer files that no pack may hold, and says why", async () => {
  const site = await startSite();
  const { t } = site;
  const { device, owner } = await start(site);
  await pushBrain(t, device, {
    ...FILES,
    ".claude/brain/.git/config": "[core]\n",
    ".claude/brain/a:b.md": "# A\n",
  });
  const visit = await site.open(owner);
  const { page, go, judge } = visit;
  await go("/packs/new");
  await page.getByText("Not offered: 2 files").click();
  await page.evaluate("document.activeElement.blur(); scrollTo(0, 0)");
  await judge("packs-new-refused");
  const text = await says(visit);
  expect(text).toContain(".claude/brain/.git/config begins with a dot");
  expect(text).toContain("a:b.md holds a colon");
  expect(await page.getByRole("checkbox").count()).toBe(3);
  await page.locator("[name=name]").fill("cookie-rules");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("button", { name: "Publish cookie-rules 1.0.0" }).click();
  expect(getPack(t.instance.core, "cookie-rules")?.files).toBe(4);
  const forced = {
    repo: REPO,
    name: "other-rules",
    version: "1.0.0",
    path: ".claude/brain/.git/config",
    step: "preview",
  };
  const refused = await sendForm(site, owner, "/packs/new", forced);
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("no pack may hold it")]);
});

it("tells its publisher and the operators that a version is not handed out", async () => {
  const site = await startSite();
  const { t } = site;
  const { team } = await start(site);
  await publish(t, team.id, { name: "cookie-rules" });
  const files = JSON.stringify([{ path: ".git/config", bytes: 1, sha256: "0".repeat(64) }]);
  t.instance.core.store.db.prepare("UPDATE pack_versions SET files = ?, id = id + 1000").run(files);
  const visit = await site.open(await site.person({ team, operator: true }));
  const { page, go, judge } = visit;
  await go("/packs/cookie-rules");
  await judge("packs-withheld");
  expect(await says(visit)).toContain('It is not handed out: it holds the file ".git/config"');
  expect(await page.getByRole("link", { name: "Public page" }).count()).toBe(0);
  expect(await page.locator("figure code").count()).toBe(0);
  for (const path of ["/packs", "/curate", "/curate/cookie-rules"]) {
    await go(path);
    expect([path, await says(visit)]).toEqual([path, expect.stringContaining("not handed out")]);
  }
});

it("publishes nothing with a certain secret, and says where it stands", async () => {
  const site = await startSite();
  const { owner } = await start(site);
  const secret = `ghp_${"aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3gH6"}`;
  plantInBrain(site.t, `${ERRORS}${`${secret}\n`.repeat(203)}`);
  const visit = await site.open(owner);
  const { page, go, judge } = visit;
  await go("/packs/new");
  await page.locator("[name=name]").fill("cookie-rules");
  await page.getByRole("button", { name: "Preview" }).click();
  await judge("packs-leak");
  expect(await says(visit)).toMatch(/it holds secrets .*\.claude\/brain\/errors\.md 6 github.* 3 more are not shown\./);
  expect(await page.content()).not.toContain(secret);
  expect(await page.getByRole("button", { name: /^Publish/ }).count()).toBe(0);
  const fields = {
    repo: REPO,
    name: "cookie-rules",
    version: "1.0.0",
    path: ".claude/brain/errors.md",
    step: "publish",
  };
  const { core } = site.t.instance;
  const { sha256 } = await draftPack(core, owner.team.id, {
    ...{ repoKey: REPO, name: "cookie-rules", version: "1.0.0", paths: [".claude/brain/errors.md"], tags: [] },
    license: "All rights reserved",
  });
  const forced = await sendForm(site, owner, "/packs/new", { ...fields, sha256, license: "All rights reserved" });
  expect(forced.status).toBe(422);
  expect(await forced.text()).not.toContain(secret);
  expect(site.t.count("packs")).toBe(0);
});

it("works without JavaScript, and withdraws a pack with a reason", async () => {
  const site = await startSite();
  const { t } = site;
  const { owner } = await start(site);
  await pushBrain(t, await t.device(owner.team), { "notes.md": "# Notes\n" }, "github.com/acme/other");
  const visit = await site.open(owner, { javaScript: false });
  const { page, go } = visit;
  await go("/packs/new");
  await page.getByRole("link", { name: REPO }).click();
  await page.locator("[name=name]").fill("cookie-rules");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("button", { name: "Publish cookie-rules 1.0.0" }).click();
  expect(new URL(page.url()).pathname).toBe("/packs/cookie-rules");
  await page.getByLabel("Why").fill("Names a customer.");
  await page.getByText("Withdraw the pack").first().click();
  await page.locator(".confirm-panel button").click();
  expect(await says(visit)).toContain("Names a customer.");
  expect([getPack(t.instance.core, "cookie-rules"), (await download(t, archiveOf("cookie-rules"))).status]).toEqual([
    undefined,
    410,
  ]);
  expect(await page.getByRole("link", { name: "Publish a new version" }).count()).toBe(0);
});

it("lets operators feature, remove, bring back and verify", async () => {
  const site = await startSite();
  const { t } = site;
  const { core } = t.instance;
  const { team } = await start(site, "Zenith");
  await publish(t, team.id, { name: "cookie-rules", summary: "All of them." });
  await publish(t, team.id, { name: "other-rules" });
  const visit = await site.open(await site.person({ operator: true }));
  const { page, go, judge } = visit;
  await go("/curate");
  await judge("curate");
  await go("/curate?q=cookie");
  expect(await page.locator("#packs").getAttribute("data-count")).toBe("1");
  await go("/curate");
  await page.getByText("Verify", { exact: true }).click();
  await page.getByRole("button", { name: "Verify the team" }).click();
  expect(getPack(core, "cookie-rules")?.publisher).toEqual({ name: "Zenith", verified: true });
  await page.getByRole("link", { name: "Cookie rules" }).click();
  await judge("curate-one");
  await page.getByText("Feature", { exact: true }).click();
  await page.getByRole("button", { name: "Feature it" }).click();
  expect(getPack(core, "cookie-rules")?.featured).toBe(true);
  await page.getByLabel("Why").fill("Holds nonsense.");
  await page.getByText("Remove the pack").first().click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove the pack" }).click();
  await page.locator(".flash.done").waitFor();
  await judge("curate-removed");
  expect(getPack(core, "cookie-rules")).toBeUndefined();
  await page.locator("summary", { hasText: "Bring it back" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Bring it back" }).click();
  await page.locator(".flash.done").waitFor();
  expect(getPack(core, "cookie-rules")).toBeDefined();
});

it("shows packs to members, lets only admins act, and shows nobody another team's packs", async () => {
  const site = await startSite();
  const { t } = site;
  const { team, owner } = await start(site);
  const other = await start(site, "Other");
  await publish(t, team.id, { name: "cookie-rules" });
  const member = await site.person({ team, role: "member" });
  const status = async (person: Person, path: string) =>
    (await fetch(site.url + path, { headers: { cookie: person.cookie } })).status;
  expect(await Promise.all([status(member, "/packs"), status(member, "/packs/cookie-rules")])).toEqual([200, 200]);
  expect(await Promise.all(["/packs/new", "/curate"].map((path) => status(member, path)))).toEqual([403, 403]);
  expect(await status(owner, "/curate")).toBe(403);
  expect(await status(other.owner, "/packs/cookie-rules")).toBe(404);
  expect(await status(owner, "/packs/new?repo=nothing")).toBe(404);
  expect((await sendForm(site, member, "/packs/cookie-rules/withdraw")).status).toBe(403);
  expect((await sendForm(site, other.owner, "/packs/cookie-rules/withdraw")).status).toBe(404);
  expect((await sendForm(site, owner, "/curate/cookie-rules", { act: "feature" })).status).toBe(403);
  const page = await (await fetch(`${site.url}/packs/cookie-rules`, { headers: { cookie: member.cookie } })).text();
  expect(page).not.toMatch(/Withdraw|Publish a new version/);
  expect(getPack(t.instance.core, "cookie-rules")).toMatchObject({ featured: false });
});

it("shows hostile text as text", async () => {
  const site = await startSite();
  const { t } = site;
  const { device, team, owner } = await start(site);
  const evil = '<img src=x onerror="document.title=1">';
  // The first may be in a brain and in no pack: Windows has no such name.
  await pushBrain(t, device, { [`${evil}.md`]: `# ${evil}\n`, "img src=x onerror=1 &lt;.md": `# ${evil}\n` });
  const paths = ["img src=x onerror=1 &lt;.md"];
  const texts = { title: evil, summary: evil, license: evil, readme: `# ${evil}\n` };
  await publish(t, team.id, { name: "evil-rules", paths, ...texts });
  const operator = await site.person({ team, operator: true });
  const { page, go, complaints } = await site.open(operator);
  for (const path of ["/packs", "/packs/evil-rules", "/packs/new?name=evil-rules", "/curate", "/curate/evil-rules"]) {
    await go(path);
    expect([path, await page.locator("main img").count()]).toEqual([path, 0]);
    expect(await page.content()).toContain("&lt;img");
  }
  expect(complaints).toEqual([]);
  expect(owner.team.id).toBe(team.id);
});
