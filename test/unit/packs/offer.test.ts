import { describe, expect, it } from "vitest";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { draftPack, findOwnPack, getPack, listPacks, publishPack } from "../../../src/share/packs/packs.ts";
import { startWithDevice, type TestInstance } from "../../support/instance.ts";
import { archiveOf, download, pushBrain, REPO } from "../../support/packs.ts";

const NAME = "cookie-rules";

async function start() {
  const { t, core, device } = await startWithDevice();
  await pushBrain(t, device);
  const draft = (version: string, wanted: object = {}) =>
    draftPack(core, device.team.id, { repoKey: REPO, name: NAME, version, ...wanted });
  const publish = async (version: string, wanted: object = {}) =>
    publishPack(core, await draft(version, wanted), COMMAND_LINE);
  return { t, core, team: device.team, draft, publish };
}

const text = async (t: TestInstance, path: string, accept = "text/html") =>
  (await download(t, path, { accept })).text();

describe("the version that everybody is told to install", () => {
  it("is the newest stable one, on the page, in the lists, in the API and in the install line", async () => {
    const { t, core, publish, team } = await start();
    await publish("1.0.0", {
      title: "Cookies",
      summary: "Stable words.",
      license: "MIT",
      tags: ["web"],
      readme: "# Stable\n",
    });
    await publish("2.0.0-alpha.1", {
      title: "Alpha",
      summary: "Alpha words.",
      license: "CC0-1.0",
      tags: ["go"],
      readme: "# Alpha\n",
    });
    const offered = { version: "1.0.0", title: "Cookies", summary: "Stable words.", license: "MIT", tags: ["web"] };
    expect(getPack(core, NAME)).toMatchObject({ ...offered, readme: "# Stable\n" });
    expect(findOwnPack(core, team.id, NAME)).toMatchObject(offered);
    expect(listPacks(core).entries).toMatchObject([offered]);
    for (const path of ["/api/marketplace/public", "/api/explore"]) {
      const [entry] = Object.values((await t.get(path)).body).flatMap((one) => (Array.isArray(one) ? one : []));
      expect([path, entry]).toMatchObject([path, { ...offered, download: expect.stringContaining("/1.0.0/download") }]);
    }
    for (const accept of ["text/html", "text/markdown"]) {
      const page = await text(t, `/marketplace/${NAME}`, accept);
      const [line] =
        /\(f=\$\(mktemp\).*/.exec(page.replaceAll("&#39;", "'").replaceAll("&quot;", '"').replaceAll("&amp;", "&")) ??
        [];
      expect([accept, line]).toEqual([accept, expect.stringContaining(archiveOf(NAME, "1.0.0"))]);
      expect(line).not.toContain("alpha");
      // The pre-release is offered to those who want it.
      expect(page).toContain(archiveOf(NAME, "2.0.0-alpha.1"));
    }
    expect((await download(t, archiveOf(NAME, "2.0.0-alpha.1"))).status).toBe(200);
    await publish("2.0.0");
    expect(getPack(core, NAME)).toMatchObject({ version: "2.0.0", title: "Cookies", readme: "# Stable\n" });
  });

  it("is the newest pre-release if there is nothing else", async () => {
    const { core, publish } = await start();
    await publish("1.0.0-beta.2", { title: "Two" });
    await publish("1.0.0-beta.11", { title: "Eleven" });
    expect(getPack(core, NAME)).toMatchObject({ version: "1.0.0-beta.11", title: "Eleven" });
    await publish("0.9.0", { title: "Stable" });
    expect(getPack(core, NAME)).toMatchObject({ version: "0.9.0", title: "Stable" });
  });

  it("may be corrected while a pre-release of the next is out", async () => {
    const { core, publish, draft } = await start();
    for (const version of ["1.0.1", "2.0.0-alpha.1", "1.0.2", "1.1.0-rc.1", "2.0.0-alpha.2"]) await publish(version);
    expect(getPack(core, NAME)?.version).toBe("1.0.2");
    const refused: readonly (readonly [version: string, reason: string])[] = [
      ["1.0.2", "is not above 1.0.2"],
      ["2.0.0-alpha.1", "there already"],
      ["1.0.1-rc.1", "is not above 1.0.2"],
      ["1.0.0", "is not above 1.0.2"],
      ["2.0.0-alpha.0", "is not above 2.0.0-alpha.2"],
    ];
    for (const [version, reason] of refused) await expect(draft(version), version).rejects.toThrow(reason);
    await publish("2.0.0");
    expect(getPack(core, NAME)?.version).toBe("2.0.0");
  });
});

describe("a version that holds what packs may not hold any more", () => {
  /** Publishes a version as an older program let it through. */
  async function plant({ t, publish }: Awaited<ReturnType<typeof start>>, version: string): Promise<void> {
    await publish(version);
    const files = JSON.stringify([{ path: ".git/config", bytes: 1, sha256: "0".repeat(64) }]);
    t.instance.core.store.db
      .prepare("UPDATE pack_versions SET files = ?, id = id + 1000 WHERE version = ?")
      .run(files, version);
  }

  it("is no longer handed out, and the one before it is offered instead", async () => {
    const s = await start();
    const { t, core } = s;
    await s.publish("1.0.0");
    await plant(s, "1.1.0");
    expect(getPack(core, NAME)?.version).toBe("1.0.0");
    const gone = await download(t, archiveOf(NAME, "1.1.0"));
    expect([gone.status, gone.headers.get("content-type")]).toEqual([410, "text/plain; charset=utf-8"]);
    expect(await gone.text()).toMatch(/"\.git\/config".*begins with a dot/);
    expect((await download(t, archiveOf(NAME, "1.0.0"))).status).toBe(200);
    for (const accept of ["text/html", "text/markdown"])
      expect(await text(t, `/marketplace/${NAME}`, accept)).not.toContain(archiveOf(NAME, "1.1.0"));
    await s.publish("1.2.0");
    expect(getPack(core, NAME)?.version).toBe("1.2.0");
  });

  it("removes its pack from the lists when it has no other, and its page says why", async () => {
    const s = await start();
    const { t, core, team } = s;
    await plant(s, "1.0.0");
    expect([listPacks(core).total, (await t.get("/api/marketplace/public")).body.total]).toEqual([0, 0]);
    const page = await download(t, `/marketplace/${NAME}`, { accept: "text/html" });
    expect([page.status, await page.text()]).toEqual([410, expect.stringContaining("begins with a dot")]);
    expect(findOwnPack(core, team.id, NAME)).toMatchObject({
      version: "1.0.0",
      withheld: expect.stringContaining(".git/config"),
    });
    await s.publish("1.0.1");
    expect(findOwnPack(core, team.id, NAME)).toMatchObject({ version: "1.0.1", withheld: null });
    expect(getPack(core, NAME)?.version).toBe("1.0.1");
  });
});
