import { chmodSync, existsSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { removeManagedBlocks } from "../../src/capture/brain/nightly.ts";
import { runNightly, runPass } from "../../src/capture/capture.ts";
import { readCredentials } from "../../src/capture/state.ts";
import { keyOf, startMachine, type TestMachine, write } from "../support/work-tree.ts";

const ERRORS = ".claude/brain/errors.md";
const LESSONS = ".claude/brain/nightly.md";
const entry = (day: string, title: string, rule?: string) =>
  `## ${day} ${title}\n\nIn \`src/cookies.ts\`.\n\n${rule === undefined ? "" : `**Prevention rule:** ${rule}\n\n`}`;
const PATHS = "Set Path on every cookie.";
const CENTS = "Round once, at the end.";
const BRAIN = [
  entry("2026-11-20", "Login loop", PATHS),
  entry("2026-11-19", "Half a cent", CENTS),
  entry("2026-11-18", "Cart lost", PATHS),
  entry("2026-11-17", "Wrong total", CENTS),
  entry("2026-11-16", "Session lost", PATHS),
  entry("2026-11-15", "Slow start"),
  entry("2026-11-14", "Slow start"),
  entry("2026-11-13", "Time zone", "Keep instants in UTC."),
  entry("2026-11-12", "Typo", "Read it twice."),
].join("");

/** A machine whose repository's brain the server has. */
async function published(files: Readonly<Record<string, string | Uint8Array>>) {
  const machine = await startMachine();
  const root = machine.repository("shop", { [ERRORS]: BRAIN, ...files });
  await runPass(machine.capture, { force: true });
  await machine.t.instance.settle();
  const read = (path: string) => readFileSync(join(root, path));
  return { machine, root, read };
}

/** A person says what caused an entry. */
async function confirm({ t, capture }: TestMachine, heading: string): Promise<void> {
  const { token = "" } = readCredentials(capture.places) ?? {};
  const json = { repoKey: keyOf("shop"), file: ERRORS, heading, commit: "3f2a9c1d4e5f60718293a4b5c6d7e8f901234567" };
  expect((await t.post("/api/causal-link", { token, json })).status).toBe(200);
}

describe("the nightly pass", () => {
  it("promotes lessons that recurred or that a person confirmed, proposes the rest, and changes nothing the second time", async () => {
    const { machine, root, read } = await published({ "CLAUDE.md": "# Shop\n\nBe brief.\n" });
    await confirm(machine, "2026-11-13 Time zone");
    const planned = await runNightly(machine.capture, false);
    expect(planned).toMatchObject([{ repo: keyOf("shop"), root, accepted: 3, proposed: 1, problems: [] }]);
    expect(planned[0]?.changes.map(({ path }) => path)).toEqual([join(root, "CLAUDE.md"), join(root, LESSONS)]);
    // Looking changes nothing.
    expect([read("CLAUDE.md").toString(), existsSync(join(root, LESSONS))]).toEqual(["# Shop\n\nBe brief.\n", false]);
    await runNightly(machine.capture, true);
    const instructions = read("CLAUDE.md").toString();
    expect(instructions.startsWith("# Shop\n\nBe brief.\n\n<!-- reckon:lessons:begin 1 ")).toBe(true);
    expect(instructions.match(/^### .*\n.*$/gm)).toEqual([
      `### Login loop\n${PATHS}`,
      `### Half a cent\n${CENTS}`,
      "### Time zone\nKeep instants in UTC.",
    ]);
    expect(Buffer.byteLength(instructions) - "# Shop\n\nBe brief.\n\n\n".length).toBeLessThanOrEqual(1_500);
    const lessons = read(LESSONS).toString();
    expect(lessons.slice(lessons.indexOf("## Proposed"))).toContain(
      "- **Slow start**: No prevention rule yet. (low confidence; 2 entries",
    );
    expect(lessons).toMatch(
      /\*\*Time zone\*\*: Keep instants in UTC\. \(medium confidence; 1 entry, .*; cause confirmed; [0-9a-f]{8}\)/,
    );
    expect((await runNightly(machine.capture, true))[0]?.changes).toEqual([]);
  });

  it("keeps every other byte and the file's mode, and takes its own away again", async () => {
    const before = Buffer.from("\ufeff# Sh\u00f6p\r\n\r\nBe brief.\r\n\u0000no end", "utf8");
    const bytes = Buffer.concat([before, Buffer.from([0xff, 0xfe, 0x80])]);
    const { machine, root, read } = await published({ "AGENTS.md": bytes, "CLAUDE.md": "@AGENTS.md\n" });
    chmodSync(join(root, "AGENTS.md"), 0o664);
    await runNightly(machine.capture, true);
    expect(read("AGENTS.md").subarray(0, bytes.length)).toEqual(bytes);
    expect(read("AGENTS.md").toString("latin1").slice(bytes.length)).toMatch(
      /^\r\n\r\n<!-- [\s\S]*[^\r]?\r\n<!-- reckon:lessons:end -->$/,
    );
    expect(statSync(join(root, "AGENTS.md")).mode & 0o777).toBe(0o664);
    // CLAUDE.md includes the file, so its lessons are read there as well.
    expect(read("CLAUDE.md").toString()).toBe("@AGENTS.md\n");
    expect(removeManagedBlocks(machine.capture)).toEqual([]);
    expect(read("AGENTS.md")).toEqual(bytes);
    expect(existsSync(join(root, LESSONS))).toBe(false);
  });

  it("takes away lessons that no longer hold, and the file that it made for them", async () => {
    const { machine, root, read } = await published({});
    await runNightly(machine.capture, true);
    expect(read("CLAUDE.md").toString()).toMatch(/^<!-- reckon:lessons:begin 0 /);
    write(root, { [ERRORS]: entry("2026-11-20", "Login loop", PATHS) });
    machine.t.clock.advance(120_000);
    await runPass(machine.capture, { force: true });
    await machine.t.instance.settle();
    await runNightly(machine.capture, true);
    expect([existsSync(join(root, "CLAUDE.md")), existsSync(join(root, LESSONS))]).toEqual([false, false]);
    expect(removeManagedBlocks(machine.capture)).toEqual([]);
  });

  it("leaves a damaged block, others' files and links alone, and says so", async () => {
    const damaged = "# Shop\n\n<!-- reckon:lessons:end -->\n";
    const { machine, root, read } = await published({ "CLAUDE.md": damaged, [LESSONS]: "mine" });
    write(machine.folder, { "elsewhere.md": "elsewhere" });
    machine.repository("wide", { [ERRORS]: BRAIN, "AGENTS.md": Buffer.from("\ufeffBe brief.", "utf16le") });
    symlinkSync(join(machine.folder, "elsewhere.md"), join(root, "AGENTS.md"));
    const [result, wide] = await runNightly(machine.capture, true);
    expect(wide?.problems).toEqual(["AGENTS.md: is not UTF-8"]);
    expect(result?.problems).toEqual([
      "CLAUDE.md:3: an end without a beginning",
      `${LESSONS}: was written by somebody else`,
    ]);
    expect([read("CLAUDE.md").toString(), read("AGENTS.md").toString(), read(LESSONS).toString()]).toEqual([
      damaged,
      "elsewhere",
      "mine",
    ]);
  });

  it("changes nothing while the server does not answer", async () => {
    const { machine, root, read } = await published({ "CLAUDE.md": "Be brief." });
    await runNightly(machine.capture, true);
    const before = read("CLAUDE.md");
    rmSync(join(root, ERRORS));
    await machine.t.close();
    const [result] = await runNightly(machine.capture, true);
    expect(result).toMatchObject({ changes: [], problems: [expect.stringMatching(/^the server was not heard: /)] });
    expect(read("CLAUDE.md")).toEqual(before);
    // Blocks that were written can still be taken away.
    expect(removeManagedBlocks(machine.capture)).toEqual([]);
    expect(read("CLAUDE.md").toString()).toBe("Be brief.");
  });

  it("writes no lessons that it cannot note, because disconnecting would leave them in the files", async () => {
    const { machine, root, read } = await published({ "CLAUDE.md": "Be brief." });
    const holder = new Sqlite(machine.capture.places.database);
    machine.capture.db.pragma("busy_timeout = 0");
    holder.exec("BEGIN IMMEDIATE");
    await expect(runNightly(machine.capture, true)).rejects.toThrow("locked");
    holder.close();
    expect([read("CLAUDE.md").toString(), existsSync(join(root, LESSONS))]).toEqual(["Be brief.", false]);
    await runNightly(machine.capture, true);
    expect(removeManagedBlocks(machine.capture)).toEqual([]);
    expect([read("CLAUDE.md").toString(), existsSync(join(root, LESSONS))]).toEqual(["Be brief.", false]);
  });

  it("prefers lessons about files that are being worked on", async () => {
    const { machine, root, read } = await published({
      [ERRORS]: BRAIN.replaceAll(/(Half a cent|Wrong total)([\s\S]*?)src\/cookies/g, "$1$2src/money"),
      "AGENTS.md": "",
    });
    const head = { prompts: 1, files: ["src/money.ts"], commits: [], hasReply: true, promptChars: 0 };
    const session = { id: "s-1", agent: "codex", repo: keyOf("shop"), head: JSON.stringify(head), revision: 1 };
    machine.capture.rows.putSession.run({ ...session, changedAt: machine.t.clock.now() });
    write(root, {
      [ERRORS]: `${readFileSync(join(root, ERRORS), "utf8")}${entry("2026-11-11", "Off by one", CENTS).replace("cookies", "money")}`,
    });
    await runNightly(machine.capture, true);
    expect(
      read("AGENTS.md")
        .toString()
        .match(/^### .*$/gm),
    ).toEqual(["### Half a cent", "### Login loop"]);
  });
});
