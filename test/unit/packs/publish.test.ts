import { describe, expect, it } from "vitest";
import { updateTeam } from "../../../src/identity/teams/teams.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { setPolicy } from "../../../src/record/policy/policy.ts";
import { RULES } from "../../../src/redact/rules.ts";
import { curatePack, draftPack, findOwnPack, getPack, publishPack } from "../../../src/share/packs/packs.ts";
import { startWithDevice } from "../../support/instance.ts";
import { turnsOfOthers } from "../../support/others.ts";
import { ERRORS, plantInBrain, publish, pushBrain, REPO } from "../../support/packs.ts";

async function start() {
  const { t, device } = await startWithDevice();
  await pushBrain(t, device);
  const draft = (wanted: object = {}) =>
    draftPack(t.instance.core, device.team.id, { repoKey: REPO, name: "cookie-rules", version: "1.0.0", ...wanted });
  return { t, core: t.instance.core, device, team: device.team, draft };
}

describe("choosing the files of a pack", () => {
  it("takes the whole brain but for installed packs, or what globs name, below the brain's folder", async () => {
    const { draft } = await start();
    const paths = async (wanted: object) => (await draft(wanted)).files.map((one) => one.path);
    expect(await paths({})).toEqual(["README.md", "decisions/0001-cookies.md", "errors.md", "pack.json"]);
    expect(await paths({ globs: ["errors.md"] })).toEqual(["README.md", "errors.md", "pack.json"]);
    expect(await paths({ globs: [".claude/brain/decisions/**"] })).toEqual([
      "README.md",
      "decisions/0001-cookies.md",
      "pack.json",
    ]);
    expect(await paths({ globs: ["packs/**"] })).toEqual(["README.md", "packs/other/errors.md", "pack.json"]);
    expect(await paths({ paths: [".claude/brain/errors.md"] })).toEqual(["README.md", "errors.md", "pack.json"]);
  });

  it("lets others have their turn while five megabytes are looked through", async () => {
    const { t, device, draft } = await start();
    const files = Array.from({ length: 10 }, (_, i) => ({
      path: `.claude/brain/notes-${i}.md`,
      content: "Read the cookie once, and never trust what it says.\n".repeat(9_500),
    }));
    const json = { version: 2, repoKey: REPO, files };
    expect((await t.post("/api/brain/ingest", { token: device.token, json })).status).toBe(200);
    const { done, turns } = await turnsOfOthers(t.instance.core, () => draft());
    expect(done.files).toHaveLength(files.length + 2);
    // Others get their turn within each file as well.
    expect(turns).toBeGreaterThan(5 * files.length);
  });

  it("refuses globs without a file, files that are gone, unknown repositories and nothing at all", async () => {
    const { draft } = await start();
    await expect(draft({ globs: ["src/**"] })).rejects.toThrow('no file of the brain matches "src/**"');
    await expect(draft({ globs: ["/etc/passwd"] })).rejects.toThrow("begins with /");
    await expect(draft({ paths: ["../../etc/passwd"] })).rejects.toThrow("no file");
    await expect(draft({ paths: [] })).rejects.toThrow("at least one");
    await expect(draft({ repoKey: "github.com/other/repo" })).rejects.toThrow("no brain of a repository");
  });

  it("refuses files that would be one, or a file and a folder, where they are installed", async () => {
    const { t, device, draft } = await start();
    await pushBrain(t, device, { ".claude/brain/errors.md": "one\n", "Errors.md": "two\n" });
    await expect(draft()).rejects.toThrow("would be one file");
    await pushBrain(t, device, { ".claude/brain/notes.md/a.md": "one\n", "notes.md": "two\n" });
    await expect(draft()).rejects.toThrow("as a folder");
    await pushBrain(t, device, { "errors.md": "one\n", "pack.json": "{}" });
    await expect(draft()).rejects.toThrow("brings its own pack.json");
  });

  it("refuses a file of which only the digest was kept, and more bytes or globs than a pack takes", async () => {
    const { t, core, team, device, draft } = await start();
    const mode = async (captureMode: string) => setPolicy(core, team.id, { captureMode } as never, COMMAND_LINE);
    await mode("metadata");
    await pushBrain(t, device, { "errors.md": `${ERRORS}withheld\n` });
    await expect(draft()).rejects.toThrow('"errors.md" is not stored');
    await mode("full");
    const long = "Read the cookie once.\n".repeat(42_000);
    await pushBrain(t, device, Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`${i}.md`, `${long}${i}`])));
    await expect(draft()).rejects.toThrow("exceed 5 MiB");
    await expect(draft({ globs: Array(51).fill("0.md") })).rejects.toThrow("at most 50 globs");
  });

  it("uses a chosen README.md as the README unless another is given", async () => {
    const { t, device, draft } = await start();
    await pushBrain(t, device, { "README.md": "# From the brain\n", "errors.md": ERRORS });
    expect((await draft()).readme).toBe("# From the brain\n");
    const given = await draft({ readme: "# Given\n\nWhat it *is* for.\n" });
    expect([given.readme, given.summary]).toEqual(["# Given\n\nWhat it *is* for.\n", "What it is for."]);
    expect(given.files.filter((one) => one.path === "README.md")).toMatchObject([{ source: null }]);
  });
});

describe("secrets in a pack", () => {
  it("refuse it when they are certain, naming file, line and rule, wherever they stand", async () => {
    const { t, core, draft } = await start();
    const rule = RULES.find((one) => one.strength === "certain");
    const secret = rule?.examples()[0] as string;
    plantInBrain(t, `one\ntwo ${secret}\n`);
    const wheres = [
      [{}, ".claude/brain/errors.md, line 2"],
      [{ globs: ["decisions/**"], readme: `# A\n\n${secret}\n` }, "README, line 3"],
      [{ globs: ["decisions/**"], summary: `see ${secret}` }, "summary, line 1"],
      [{ globs: ["decisions/**"], license: `see ${secret}` }, "licence, line 1"],
    ] as const;
    for (const [wanted, where] of wheres) {
      const drafted = await draft(wanted);
      const refused = await publishPack(core, drafted, COMMAND_LINE).catch((error: Error) => error.message);
      expect(refused).toContain(`${where} (${rule?.id})`);
      expect(refused).not.toContain(secret);
    }
    // Tags are in small letters and too short for most secrets; one that fits is found all the same.
    const key = RULES.find((one) => one.id === "aws-access-key-id")?.examples()[0] as string;
    for (const [wanted, where] of [
      [{ tags: ["web", key] }, "tags, line 1"],
      [{ version: `1.0.0-${key}` }, "version, line 1"],
    ] as const) {
      const refused = await publishPack(core, await draft({ globs: ["decisions/**"], ...wanted }), COMMAND_LINE).catch(
        String,
      );
      expect(refused).toContain(`${where} (aws-access-key-id)`);
      expect(refused).not.toContain(key);
    }
    expect([t.count("packs"), t.count("pack_versions")]).toEqual([0, 0]);
  });

  it("are replaced when they are likely, and nothing of them is stored", async () => {
    const { t, core, draft } = await start();
    plantInBrain(t, "DB_PASSWORD=Hq7xT2mK9vL4\n");
    const drafted = await draft({ readme: "API_TOKEN=Zk3pQ8wR5tY7uN2m\n" });
    expect(drafted.replaced.map(({ path, line }) => [path, line])).toEqual([
      ["README", 1],
      [".claude/brain/errors.md", 1],
    ]);
    await publishPack(core, drafted, COMMAND_LINE);
    const kept = JSON.stringify([t.rows("SELECT readme, files FROM pack_versions"), t.rows("SELECT * FROM packs")]);
    expect(kept).toContain("[REDACTED:assigned-secret]");
    expect(kept).not.toMatch(/Zk3pQ8wR5tY7uN2m|Hq7xT2mK9vL4/);
  });
});

describe("publishing", () => {
  it("takes only versions above the last, of many at once exactly one", async () => {
    const { core, draft, t } = await start();
    const drafted = await draft({ version: "1.1.0" });
    const done = await Promise.allSettled(Array.from({ length: 10 }, () => publishPack(core, drafted, COMMAND_LINE)));
    expect(done.filter((one) => one.status === "fulfilled")).toHaveLength(1);
    for (const version of ["1.1.0", "1.0.9", "0.9.0", "1.1.0-rc.1"])
      await expect(draft({ version }), version).rejects.toThrow("is not above 1.1.0");
    await publishPack(core, await draft({ version: "1.10.0" }), COMMAND_LINE);
    expect(getPack(core, "cookie-rules")?.versions.map((one) => one.version)).toEqual(["1.10.0", "1.1.0"]);
    expect(t.count("packs")).toBe(1);
  });

  it("keeps what the last version had and a new one does not mention", async () => {
    const { core, draft } = await start();
    const first = { title: "Cookies", summary: "All of them.", license: "MIT", tags: ["web"], readme: "# Kept\n" };
    await publishPack(core, await draft(first), COMMAND_LINE);
    const second = await draft({ version: "1.1.0", license: "CC0-1.0" });
    expect(second).toMatchObject({ ...first, license: "CC0-1.0", previous: "1.0.0" });
  });

  it("keeps names apart between teams, and a removed pack's name taken", async () => {
    const { t, core, team } = await start();
    await publish(t, team.id, { name: "cookie-rules" });
    const other = await t.device();
    await pushBrain(t, other);
    const steal = (version: string) => draftPack(core, other.team.id, { repoKey: REPO, name: "cookie-rules", version });
    await expect(steal("2.0.0")).rejects.toThrow('the name "cookie-rules" is taken');
    await curatePack(core, "cookie-rules", { act: "feature" }, COMMAND_LINE);
    await expect(curatePack(core, "cookie-rules", { act: "remove", reason: " " }, COMMAND_LINE)).rejects.toThrow(
      "say why",
    );
    await curatePack(core, "cookie-rules", { act: "remove", reason: "It was wrong." }, COMMAND_LINE);
    await expect(curatePack(core, "cookie-rules", { act: "feature" }, COMMAND_LINE)).rejects.toThrow("was removed");
    expect(t.rows("SELECT featured_at, removed_reason FROM packs")).toEqual([
      { featured_at: null, removed_reason: "It was wrong." },
    ]);
    await expect(steal("2.0.0")).rejects.toThrow("is taken");
    await expect(publish(t, team.id, { name: "cookie-rules", version: "2.0.0" })).rejects.toThrow("It was wrong.");
    expect(findOwnPack(core, other.team.id, "cookie-rules")).toBeUndefined();
    // Nor may another team restore it.
    await expect(curatePack(core, "cookie-rules", { act: "restore" }, COMMAND_LINE, other.team.id)).rejects.toThrow(
      "no pack",
    );
  });

  it("is for teams whose tier has a brain and whose account is not suspended", async () => {
    const { core, team, draft } = await start();
    await updateTeam(core, team.id, { tier: "starter" }, COMMAND_LINE);
    await expect(draft()).rejects.toThrow("does not include brain");
    await updateTeam(core, team.id, { tier: "team", suspended: true }, COMMAND_LINE);
    await expect(draft()).rejects.toThrow("suspended");
  });

  it("gives the same archive for the same files, so that a person publishes what they looked at", async () => {
    const { t, device, draft } = await start();
    const once = await draft();
    t.clock.advance(60_000);
    expect((await draft()).sha256).toBe(once.sha256);
    await pushBrain(t, device, { "errors.md": `${ERRORS}more\n` });
    expect((await draft()).sha256).not.toBe(once.sha256);
  });
});
