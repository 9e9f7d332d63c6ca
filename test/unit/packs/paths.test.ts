import { describe, expect, it } from "vitest";
import { draftPack } from "../../../src/share/packs/packs.ts";
import { startWithDevice } from "../../support/instance.ts";
import { ERRORS, pushBrain, REPO } from "../../support/packs.ts";

/** Names that git itself refuses in a tree (its verify_path, is_hfs_dotgit and is_ntfs_dotgit; CVE-2014-9390), and their kin. */
const REFUSED: readonly (readonly [path: string, reason: string])[] = [
  [".git/config", "begins with a dot"],
  [".git/hooks/post-checkout.md", "begins with a dot"],
  [".GIT/config.md", "begins with a dot"],
  ["a/.Git/config.md", "begins with a dot"],
  [".git./config.md", "begins with a dot"],
  [".git /config.md", "begins with a dot"],
  ["git~1/config.md", "stands for .git"],
  ["a/Con.md", "cannot be a name on Windows"],
  ["aux/x.md", "cannot be a name on Windows"],
  ["COM¹ .tar.md", "cannot be a name on Windows"],
  ["why?.md", "cannot be a name on Windows"],
  ["<a|b>.md", "cannot be a name on Windows"],
  ["a/GIT~1. /x.md", "stands for .git"],
  ["git::$INDEX_ALLOCATION/x.md", "colon"],
  ["errors.md:evil.md", "colon"],
  ["a:b.md", "colon"],
  // Other invisible characters are refused in a brain already.
  ["می\u200cخواهم.md", "cannot be seen"],
  ["👩\u200d💻.md", "cannot be seen"],
  [".claude/settings.json", "begins with a dot"],
  [".vscode/tasks.json", "begins with a dot"],
  [".envrc", "begins with a dot"],
  [".bashrc", "begins with a dot"],
  ["notes/.env.md", "begins with a dot"],
  // A folder with these is a bare repository to git, which runs what its config says.
  ["HEAD", "no text file"],
  ["config", "no text file"],
  ["run.sh", "no text file"],
  ["Makefile", "no text file"],
  ["notes.md.exe", "no text file"],
  ["md", "no text file"],
  ["notes.md ", "ends in a dot or a space"],
  ["notes./a.md", "ends in a dot or a space"],
];

const TAKEN = [
  "errors.md",
  "a/b.MARKDOWN",
  "x.txt",
  "d.json",
  "e.yaml",
  "f.yml",
  "g.toml",
  "h.csv",
  "größe 1.md",
  "-rf.md",
];

async function start() {
  const { t, device } = await startWithDevice();
  const push = (path: string) =>
    pushBrain(t, device, { "base.md": ERRORS, [path]: "[core]\n\tfsmonitor = touch ran\n" });
  const draft = (wanted: object = {}) =>
    draftPack(t.instance.core, device.team.id, { repoKey: REPO, name: "cookie-rules", version: "1.0.0", ...wanted });
  return { t, push, draft };
}

describe("a pack's files", () => {
  it("are refused by name with the reason where they are anything but a brain's text", async () => {
    const { t, push, draft } = await start();
    for (const [path, reason] of REFUSED) {
      for (const source of [`.claude/brain/${path}`, ...(/^[A-Za-z]:/.test(path) ? [] : [path])]) {
        await push(source);
        const refused = await draft().catch((error: Error) => error.message);
        expect([source, refused]).toEqual([source, expect.stringContaining(reason)]);
        expect(refused).toContain(
          source.replace(/\p{Cf}/u, (sign) => `⟨U+${sign.charCodeAt(0).toString(16).toUpperCase()}⟩`),
        );
      }
      expect((await draft({ globs: ["base.md"] })).files).toHaveLength(3);
    }
    expect(t.count("packs")).toBe(0);
  });

  it("are text of any kind that a brain is written in", async () => {
    const { push, draft } = await start();
    for (const path of TAKEN) {
      await push(`.claude/brain/${path}`);
      expect((await draft()).files.map((one) => one.path)).toContain(path);
    }
  });

  it("are refused together, the first by name and the others as a count", async () => {
    const { t } = await start();
    const device = await t.device();
    await pushBrain(t, device, { "a.sh": "1\n", "b.sh": "2\n", "c.sh": "3\n" });
    const refused = draftPack(t.instance.core, device.team.id, { repoKey: REPO, name: "ab", version: "1.0.0" });
    await expect(refused).rejects.toThrow(/"a\.sh" .*2 more/);
  });

  it("leave room for the README that is made for the pack, on disks that do not tell case", async () => {
    const { push, draft } = await start();
    await push("readme.md");
    const names = ["README.md", "base.md", "pack.json"];
    // In whatever spelling, it is the README unless another is given.
    expect((await draft()).files.map((one) => one.path)).toEqual(names);
    expect((await draft()).readme).toContain("fsmonitor");
    const given = await draft({ readme: "# Given\n" });
    expect([given.readme, given.files.map((one) => one.path)]).toEqual(["# Given\n", names]);
    for (const [path, made] of [
      ["README.md/a.md", "README.md"],
      ["pack.json/a.md", "pack.json"],
    ] as const) {
      await push(path);
      await expect(draft({ readme: "# Given\n" })).rejects.toThrow(
        `the pack's own ${made} is a file and "${path}" needs`,
      );
    }
  });
});
