import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readReceipts, readStatus, runPass } from "../../src/capture/capture.ts";
import { repositoryOf } from "../../src/capture/repository.ts";
import { notBefore } from "../../src/capture/schedule.ts";
import { DAY_MS } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { type CaptureMode, setPolicy } from "../../src/record/policy/policy.ts";
import { statusLines } from "../../src/surfaces/cli/agent-texts.ts";
import { relay } from "../support/relay.ts";
import { git, keyOf, startMachine, type TestMachine, write } from "../support/work-tree.ts";

const ERRORS = ".claude/brain/errors.md";
const NOTICE = ".claude/brain/not-published.md";
const SHOP = keyOf("shop");
const entry = (day: string, title: string, rule = "Set Path on every cookie.") =>
  `## ${day} ${title}\n\nIt broke.\n\n**Prevention rule:** ${rule}\n\n`;

/** The brain of a repository as it stands on the server. */
function brainOf({ t }: TestMachine, repo = SHOP): Record<string, string> {
  const rows = t.rows(
    `SELECT b.value ->> 0 AS path, c.content FROM brain_currents k JOIN brain_snapshots s ON s.id = k.snapshot_id
     JOIN brain_manifests m ON m.id = s.manifest_id, json_each(m.entries) b JOIN brain_blobs c ON c.id = b.value ->> 1
     WHERE k.repo_key = ?`,
    repo,
  );
  return Object.fromEntries(rows.map(({ path, content }) => [path, content]));
}

const snapshots = ({ t }: TestMachine) =>
  t.rows("SELECT version, accepted, gap FROM brain_snapshots ORDER BY id") as {
    version: number;
    accepted: number;
    gap: number;
  }[];

async function pass(machine: TestMachine, afterMs = 61_000, force = true) {
  machine.t.clock.advance(afterMs);
  return runPass(machine.capture, { force });
}

/** Restores the environment of this process. */
function restore(before: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
}

describe("publishing a brain", () => {
  it("sends what agents note, instructions and decisions, and nothing that git ignores", async () => {
    const machine = await startMachine();
    machine.repository("shop", {
      [ERRORS]: entry("2026-11-20", "Login loop"),
      ".claude/brain/private.md": "mine",
      ".claude/brain/notes.txt": "no markdown",
      ".claude/settings.json": "{}",
      ".gitignore": "private.md\n",
      "CLAUDE.md": "Be brief.",
      "docs/adr/0001-money.md": "# Money is whole cents",
      "docs/solutions/proxy.md": "Set the header.",
      "memory-bank/progress.md": "Half way.",
      "docs/guide.md": "for people",
      "README.md": "for people",
    });
    await pass(machine);
    expect(brainOf(machine)).toEqual({
      [ERRORS]: entry("2026-11-20", "Login loop"),
      "CLAUDE.md": "Be brief.",
      "docs/adr/0001-money.md": "# Money is whole cents",
      "docs/solutions/proxy.md": "Set the header.",
      "memory-bank/progress.md": "Half way.",
    });
    expect(readStatus(machine.capture).ignoredBrains).toEqual([{ repo: "git.example.com/acme/shop", files: 1 }]);
    const receipts = readReceipts(machine.capture).map(({ path, repo }) => [path, repo]);
    expect(receipts).toContainEqual(["/api/brain/ingest", SHOP]);
  });

  it("rests for a day where the tier does not include brains, unless a person asks", async () => {
    const machine = await startMachine();
    machine.repository("shop", { "CLAUDE.md": "Be brief." });
    notBefore(machine.capture, "brain", DAY_MS, "the tier does not include it");
    await pass(machine, 61_000, false);
    expect(brainOf(machine)).toEqual({});
    await pass(machine);
    expect(brainOf(machine)).toEqual({ "CLAUDE.md": "Be brief." });
    expect(machine.capture.rows.schedule.get("brain")).toBeUndefined();
  });

  it("sends nothing that git ignores, and finds the right repository, although a hook of git's started the agent", async () => {
    const machine = await startMachine();
    const shop = machine.repository("shop", { [ERRORS]: "shared", ".claude/brain/private.md": "mine" });
    write(shop, { ".git/info/exclude": "private.md\n" });
    const till = machine.repository("till");
    const commit = (root: string, message: string) =>
      git(root, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--allow-empty", "-qm", message);
    commit(till, "one");
    const linked = join(machine.folder, "linked");
    git(till, "worktree", "add", "-q", linked);
    write(till, { ".git/hooks/post-commit": '#!/bin/sh\nenv | grep ^GIT_ > "$PWD/env"\n' });
    chmodSync(join(till, ".git/hooks/post-commit"), 0o755);
    commit(linked, "two");
    const alone = machine.repository("alone");
    git(alone, "remote", "remove", "origin");
    commit(alone, "three");
    machine.capture.rows.putFolder.run(alone, null, "", "", 0);
    const told = readFileSync(join(linked, "env"), "utf8").matchAll(/^(GIT_\w+)=(.*)$/gm);
    const before = { ...process.env };
    for (const [, name = "", value] of told) process.env[name] = value;
    onTestFinished(() => restore(before));
    await pass(machine);
    const { repo } = repositoryOf(machine.capture, alone);
    restore(before);
    expect(process.env.GIT_DIR).toBeUndefined();
    expect(brainOf(machine)).toEqual({ [ERRORS]: "shared" });
    expect(repo).toBe(`root:${git(alone, "rev-parse", "HEAD").trim()}`);
  });

  it("tells of a brain that git ignores as a whole, until git no longer does", async () => {
    const machine = await startMachine();
    const files = { [ERRORS]: entry("2026-11-20", "Login loop"), "CLAUDE.md": "Be brief.", ".gitignore": "*.md\n" };
    const root = machine.repository("shop", files);
    await pass(machine);
    expect(readStatus(machine.capture).ignoredBrains).toMatchObject([{ files: 2 }]);
    write(root, { ".gitignore": "nothing\n" });
    await pass(machine);
    expect(readStatus(machine.capture).ignoredBrains).toEqual([]);
    expect(Object.keys(brainOf(machine))).toEqual([ERRORS, "CLAUDE.md"]);
  });

  it("sends nothing while nothing changes, and counts versions without a gap", async () => {
    const machine = await startMachine();
    const root = machine.repository("shop", { [ERRORS]: entry("2026-11-20", "Login loop") });
    await pass(machine);
    await pass(machine);
    // Touched, but the same.
    utimesSync(join(root, ERRORS), new Date(), new Date(Date.now() + 5_000));
    await pass(machine);
    expect(snapshots(machine)).toEqual([{ version: 1, accepted: 1, gap: 0 }]);
    write(root, { [ERRORS]: entry("2026-11-21", "Cart lost") });
    await pass(machine);
    // Within the minute.
    write(root, { [ERRORS]: entry("2026-11-21", "Cart lost again") });
    await pass(machine, 10_000, false);
    expect(snapshots(machine)).toHaveLength(2);
    // Unless somebody waits for the pass: the machine may live for this one job.
    await pass(machine, 10_000);
    expect(snapshots(machine)).toHaveLength(3);
    rmSync(join(root, ERRORS));
    await pass(machine);
    expect(snapshots(machine)).toEqual([1, 2, 3, 4].map((version) => ({ version, accepted: 1, gap: 0 })));
    expect(brainOf(machine)).toEqual({});
  });

  it("follows no link out of the work tree", async () => {
    const machine = await startMachine();
    write(machine.folder, { "outside/secret.md": "outside", "outside/adr/0001.md": "outside" });
    const root = machine.repository("shop", { [ERRORS]: "inside" });
    symlinkSync(join(machine.folder, "outside/secret.md"), join(root, ".claude/brain/link.md"));
    symlinkSync(join(machine.folder, "outside"), join(root, ".claude/brain/folder"));
    symlinkSync(join(machine.folder, "outside/secret.md"), join(root, "CLAUDE.md"));
    mkdirSync(join(root, "docs"));
    symlinkSync(join(machine.folder, "outside/adr"), join(root, "docs/adr"));
    await pass(machine);
    expect(brainOf(machine)).toEqual({ [ERRORS]: "inside" });
  });

  it("takes secrets out before anything leaves the machine", async () => {
    const token = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
    const machine = await startMachine();
    machine.repository("shop", { [ERRORS]: `${entry("2026-11-20", "Login loop")}It said ${token}.\n` });
    await pass(machine);
    const [content] = Object.values(brainOf(machine));
    expect(content).toMatch(/It said \[REDACTED:[a-z-]+\]\./);
    // The server found nothing left to replace.
    expect(machine.t.rows("SELECT redaction_hits AS hits FROM brain_snapshots")).toEqual([{ hits: 0 }]);
  });

  it("cuts a file of more than a megabyte between characters, and says so in it", async () => {
    const machine = await startMachine();
    machine.repository("shop", { [ERRORS]: "prefix", ".claude/brain/long.md": "ä🙂 word\n".repeat(150_000) });
    await pass(machine);
    const long = brainOf(machine)[".claude/brain/long.md"] ?? "";
    expect(Buffer.byteLength(long)).toBeLessThanOrEqual(1024 * 1024);
    expect(Buffer.byteLength(long)).toBeGreaterThan(1024 * 1024 - 10);
    const kept = /\n\n\[cut: the first (\d+) of 1800000 bytes are published\]\n$/.exec(long);
    expect(Buffer.byteLength(long.slice(0, kept?.index))).toBe(Number(kept?.[1]));
    expect(long).not.toContain("\ufffd");
  });

  it("names files that there is no room for, and leaves the same ones out every time", async () => {
    const machine = await startMachine();
    const numbers = Array.from({ length: 520 }, (_, i) => String(i).padStart(3, "0"));
    machine.repository("shop", {
      [ERRORS]: entry("2026-11-20", "Login loop"),
      ...Object.fromEntries(numbers.map((n) => [`.claude/brain/sessions/session-${n}.md`, `Session ${n}`])),
    });
    await pass(machine);
    const brain = brainOf(machine);
    expect(Object.keys(brain)).toHaveLength(500);
    expect(brain[ERRORS]).toBeDefined();
    // The newest sessions stay.
    expect(brain[".claude/brain/sessions/session-519.md"]).toBe("Session 519");
    expect(brain[".claude/brain/sessions/session-021.md"]).toBeUndefined();
    expect(brain[NOTICE]?.match(/^- "\.claude.*: there was no room for it$/gm)).toHaveLength(22);
  });

  it("keeps the errors and the newest sessions of thousands of files, wherever those lie", async () => {
    const machine = await startMachine();
    const numbers = Array.from({ length: 5_100 }, (_, i) => String(i).padStart(4, "0"));
    machine.repository("shop", {
      ...Object.fromEntries(numbers.map((n) => [`.claude/brain/archive/sessions/session-${n}.md`, n])),
      [ERRORS]: entry("2026-11-20", "Login loop"),
    });
    await pass(machine);
    const brain = brainOf(machine);
    expect(Object.keys(brain)).toHaveLength(500);
    expect(brain[ERRORS]).toBeDefined();
    expect(brain[".claude/brain/archive/sessions/session-5099.md"]).toBe("5099");
  });

  it("keeps five megabytes, the errors first", async () => {
    const machine = await startMachine();
    const megabyte = "a line of words\n".repeat(65_536);
    machine.repository("shop", {
      ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((n) => [`.claude/brain/a${n}.md`, `${n}${megabyte.slice(2)}`])),
      ".claude/brain/security.md": "small",
    });
    await pass(machine);
    const brain = brainOf(machine);
    const bytes = Object.values(brain).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    expect(bytes).toBeLessThanOrEqual(5 * 1024 * 1024);
    expect(Object.keys(brain).sort()).toEqual(
      [...[1, 2, 3, 4].map((n) => `.claude/brain/a${n}.md`), NOTICE, ".claude/brain/security.md"].sort(),
    );
  });

  it("sends less where the server takes less", async () => {
    const machine = await startMachine({ maxBrainFiles: "130" });
    const names = Array.from({ length: 300 }, (_, i) => `.claude/brain/n${String(i).padStart(3, "0")}.md`);
    machine.repository("shop", { ...Object.fromEntries(names.map((name) => [name, name])), [ERRORS]: "errors" });
    await pass(machine);
    const brain = brainOf(machine);
    expect(Object.keys(brain)).toHaveLength(125);
    expect([brain[ERRORS], brain[names[0] as string]]).toEqual(["errors", names[0]]);
    expect(brain[NOTICE]).toContain("holds 125 files");
  });

  it("goes on above versions that it forgot, and says that some are missing", async () => {
    const machine = await startMachine();
    const root = machine.repository("shop", { [ERRORS]: "1" });
    for (const text of ["1", "2", "3"]) {
      write(root, { [ERRORS]: text });
      await pass(machine);
    }
    // The machine's own files are restored from an early backup.
    machine.capture.rows.putBrain.run(SHOP, 1, "{}", null);
    write(root, { [ERRORS]: "4" });
    await pass(machine);
    expect(brainOf(machine)).toEqual({ [ERRORS]: "4" });
    const last = snapshots(machine).at(-1);
    expect(last).toMatchObject({ accepted: 1, gap: 1 });
    write(root, { [ERRORS]: "5" });
    await pass(machine);
    expect(snapshots(machine).at(-1)).toEqual({ version: (last?.version ?? 0) + 1, accepted: 1, gap: 0 });
  });

  it("publishes the work tree whose brain was changed last, and leaves the published brain when all are gone", async () => {
    const machine = await startMachine();
    const one = machine.repository("shop", { [ERRORS]: "one" });
    const two = machine.repository("till", { [ERRORS]: "two" });
    git(two, "remote", "set-url", "origin", `https://${SHOP}.git`);
    machine.capture.rows.putFolder.run(two, two, "", SHOP, machine.t.clock.now());
    utimesSync(join(one, ERRORS), 1_000, 1_000);
    await pass(machine);
    expect(brainOf(machine)).toEqual({ [ERRORS]: "two" });
    utimesSync(join(one, ERRORS), 4e9, 4e9);
    await pass(machine);
    expect(brainOf(machine)).toEqual({ [ERRORS]: "one" });
    for (const root of [one, two]) renameSync(root, `${root}-gone`);
    await pass(machine);
    expect(brainOf(machine)).toEqual({ [ERRORS]: "one" });
  });

  it("is published beside files whose names take megabytes", async () => {
    const machine = await startMachine();
    const root = machine.repository("shop", { [ERRORS]: "one" });
    const folder = join(root, ".claude/brain/shots");
    mkdirSync(folder);
    for (let i = 0; i < 18_000; i++) writeFileSync(join(folder, `${i}`.padEnd(240, "x")), "");
    await pass(machine);
    expect(brainOf(machine)).toEqual({ [ERRORS]: "one" });
  });

  it("keeps files that nobody committed yet when a fresh work tree, whose files are all new, is worked in", async () => {
    const machine = await startMachine();
    const one = machine.repository("shop", { [ERRORS]: "committed", ".claude/brain/notes.md": "not committed" });
    git(one, "add", ERRORS);
    git(one, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "one");
    // Another work tree is as new, and comes before it.
    const fresh = join(machine.folder, "fresh");
    git(one, "worktree", "add", "-q", fresh);
    repositoryOf(machine.capture, fresh);
    utimesSync(join(one, ".claude/brain/notes.md"), 1_000, 1_000);
    await pass(machine);
    expect(Object.values(brainOf(machine))).toEqual(["committed", "not committed"]);
    rmSync(join(one, ".claude/brain/notes.md"));
    write(one, { [ERRORS]: "committed and more" });
    utimesSync(join(one, ERRORS), Date.now() / 1000 + 60, Date.now() / 1000 + 60);
    await pass(machine);
    const two = join(machine.folder, "two");
    git(one, "worktree", "add", "-q", two);
    utimesSync(join(two, ERRORS), Date.now() / 1000 + 120, Date.now() / 1000 + 120);
    repositoryOf(machine.capture, two);
    await pass(machine);
    expect(brainOf(machine)).toEqual({ [ERRORS]: "committed and more" });
    write(two, { [ERRORS]: "from two" });
    utimesSync(join(two, ERRORS), Date.now() / 1000 + 180, Date.now() / 1000 + 180);
    await pass(machine);
    expect(brainOf(machine)).toEqual({ [ERRORS]: "from two" });
  });

  it("runs no filter that a repository names while it compares work trees", async () => {
    const machine = await startMachine();
    const one = machine.repository("shop", { [ERRORS]: "committed" });
    git(one, "add", ERRORS);
    git(one, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "one");
    const two = join(machine.folder, "two");
    git(one, "worktree", "add", "-q", two);
    repositoryOf(machine.capture, two);
    const ran = join(machine.folder, "ran");
    git(one, "config", "filter.x.clean", `touch '${ran}'; cat`);
    write(one, { ".git/info/attributes": "*.md filter=x\n" });
    // A later time with the same content is no edit.
    write(one, { [ERRORS]: "committed" });
    write(two, { [ERRORS]: "edited" });
    for (const [i, root] of [two, one].entries())
      utimesSync(join(root, ERRORS), Date.now() / 1000 + 60 * (i + 1), Date.now() / 1000 + 60 * (i + 1));
    await pass(machine);
    expect(brainOf(machine)).toEqual({ [ERRORS]: "edited" });
    expect(existsSync(ran)).toBe(false);
  });

  it("publishes nothing while git does not tell what it ignores, and says so", async () => {
    const machine = await startMachine();
    const root = machine.repository("shop", { [ERRORS]: "one" });
    // As git refuses the folder of another user.
    const config = readFileSync(join(root, ".git/config"));
    write(root, { ".git/config": `${config}[core]\n\trepositoryformatversion = 99\n` });
    await pass(machine);
    expect(brainOf(machine)).toEqual({});
    expect(statusLines(readStatus(machine.capture))).toMatch(
      /brain kept here +git.example.com\/acme\/shop: git does not answer/,
    );
    write(root, { ".git/config": config });
    await pass(machine);
    expect(brainOf(machine)).toEqual({ [ERRORS]: "one" });
    expect(readStatus(machine.capture).ignoredBrains).toEqual([]);
  });

  it.each(["off", "metadata"] as const)(
    "sends its text again that came while the policy became %s",
    async (captureMode) => {
      const machine = await startMachine({}, async (url) =>
        relay(url, async (path) => {
          if (path === "/api/brain/ingest" && set) await set();
          return undefined;
        }),
      );
      const [{ id }] = machine.t.rows("SELECT id FROM teams");
      const policy = (mode: CaptureMode) =>
        setPolicy(
          machine.t.instance.core,
          id,
          {
            captureMode: mode,
            watchlist: [],
            actions: { requireApprovals: false },
          },
          COMMAND_LINE,
        );
      let set: (() => Promise<unknown>) | undefined = () => policy(captureMode);
      machine.repository("shop", { [ERRORS]: "one" });
      await pass(machine);
      expect(Object.values(brainOf(machine)).join("")).not.toContain("one");
      set = undefined;
      await pass(machine);
      await policy("redacted");
      await pass(machine);
      expect(brainOf(machine)).toEqual({ [ERRORS]: "one" });
    },
  );

  it("does not publish another repository's brain that lies where an agent worked before", async () => {
    const machine = await startMachine();
    const one = machine.repository("shop", { [ERRORS]: "one" });
    const two = machine.repository("till", { [ERRORS]: "till's" });
    // Known from before, when it was a clone of the first.
    machine.capture.rows.putFolder.run(two, two, "", SHOP, machine.t.clock.now());
    utimesSync(join(two, ERRORS), 4e9, 4e9);
    await pass(machine);
    expect(brainOf(machine)).toEqual({ [ERRORS]: "one" });
    write(one, { [ERRORS]: "one more" });
    await pass(machine);
    expect(brainOf(machine)).toEqual({ [ERRORS]: "one more" });
  });

  it("stands under one address, whatever becomes of that, and under its own where another repository took its place", async () => {
    const machine = await startMachine();
    const root = machine.repository("shop", { [ERRORS]: entry("2026-11-20", "Login loop"), "packages/a/x": "" });
    git(root, "remote", "remove", "origin");
    git(root, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--allow-empty", "-qm", "one");
    const errors = () => machine.t.rows("SELECT id, repo_key AS repo, title FROM defects ORDER BY title");
    // An agent works in the folder, which is looked at again after a day at the latest.
    const works = async () => {
      machine.t.clock.advance(25 * 60 * 60_000);
      repositoryOf(machine.capture, root);
      await pass(machine);
      await machine.t.instance.settle();
    };
    repositoryOf(machine.capture, join(root, "packages/a"));
    await works();
    const first = `root:${git(root, "rev-parse", "HEAD").trim()}`;
    expect(errors()).toMatchObject([{ repo: first, title: "Login loop" }]);
    git(root, "remote", "add", "origin", `https://${SHOP}.git`);
    await works();
    const [before] = errors();
    expect(errors()).toMatchObject([{ repo: SHOP, title: "Login loop" }]);
    git(root, "remote", "set-url", "origin", "git@new.example.com:acme/shop.git");
    await works();
    expect(errors()).toMatchObject([{ repo: "new.example.com/acme/shop", title: "Login loop" }]);
    git(root, "remote", "set-url", "origin", `https://${SHOP}.git`);
    await works();
    expect(errors()).toEqual([before]);
    rmSync(root, { recursive: true });
    machine.repository("shop", { [ERRORS]: entry("2026-11-20", "Totals") });
    git(root, "remote", "set-url", "origin", `https://${keyOf("till")}.git`);
    await works();
    expect(errors()).toMatchObject([before, { repo: keyOf("till"), title: "Totals" }]);
  });

  it.each(["off", "metadata"] as const)("sends no brain where the policy says %s", async (captureMode) => {
    const machine = await startMachine();
    const { core } = machine.t.instance;
    machine.repository("shop", { [ERRORS]: entry("2026-11-20", "Login loop") });
    const [{ id }] = machine.t.rows("SELECT id FROM teams");
    await setPolicy(core, id, { captureMode, watchlist: [], actions: { requireApprovals: false } }, COMMAND_LINE);
    await pass(machine);
    expect(snapshots(machine)).toEqual([]);
    // Figures reveal nothing of a brain's text.
    expect(machine.t.count("brain_pulses")).toBe(captureMode === "off" ? 0 : 1);
  });
});

/** A server whose rules know one more secret: it refuses that as ours does, and hands on everything else. */
const newerRules = (secret: RegExp) => (url: string) =>
  relay(url, (path, body) => {
    const { files = [] } = path === "/api/brain/ingest" ? JSON.parse(body.toString()) : {};
    const found = (files as { path: string; content: string }[]).flatMap(({ path, content }, index) => [
      ...(secret.test(path) ? [`the path of file ${index} (acme-key)`] : []),
      ...content.split("\n").flatMap((line, i) => (secret.test(line) ? [`${path} line ${i + 1} (acme-key)`] : [])),
    ]);
    if (found.length === 0) return undefined;
    return { status: 422, body: { error: `Raw secret in ${found.slice(0, 50).join(", ")}. Nothing was stored.` } };
  });

describe("a server that finds a secret where this machine finds none", () => {
  it("gets the snapshot again without it", async () => {
    const machine = await startMachine({}, newerRules(/ACME-[0-9]{4}/));
    machine.repository("shop", {
      [ERRORS]: "# Errors\r\n\r\nkey ACME-1234\r\nand its rest\r\n\r\nstays\r\n",
      ".claude/brain/b.md": "clean",
      "CLAUDE.md": "ACME-9999",
      ".claude/brain/ACME-1111.md": "named so",
    });
    await pass(machine);
    expect(brainOf(machine)).toEqual({
      [ERRORS]: "# Errors\r\n\r\n[REDACTED:acme-key]\r\n\r\n\r\nstays\r\n",
      ".claude/brain/b.md": "clean",
      "CLAUDE.md": "[REDACTED:acme-key]",
      [NOTICE]: "# Not published\n\n- files whose paths hold a secret: 1\n",
    });
    expect(snapshots(machine)).toEqual([{ version: 1, accepted: 1, gap: 0 }]);
  });

  it("gets a line in place of a file that is refused twice", async () => {
    const machine = await startMachine({}, newerRules(/ACME-[0-9]{4}|REDACTED:acme/));
    machine.repository("shop", { [ERRORS]: "clean", ".claude/brain/b.md": "ACME-1234" });
    await pass(machine);
    expect(brainOf(machine)).toEqual({
      [ERRORS]: "clean",
      ".claude/brain/b.md": "[not published: the server finds a secret in this file (acme-key)]\n",
    });
  });

  it("is left alone until the brain changes when nothing helps", async () => {
    const machine = await startMachine({}, newerRules(/ACME|acme/));
    machine.repository("shop", { [ERRORS]: "ACME" });
    await pass(machine);
    await pass(machine);
    expect(snapshots(machine)).toEqual([]);
    expect(machine.capture.rows.rejected.all().map(({ kind }) => kind)).toEqual(["brain"]);
  });
});

describe("the hourly pulse", () => {
  it("sends counts and the fingerprints that the server computes as well, and no text", async () => {
    const machine = await startMachine();
    const root = machine.repository("shop", {
      [ERRORS]: `## ⏳ ${entry("2026-11-20", "Login loop").slice(3)}${entry("2026-11-18", "Cart lost", "set path on EVERY cookie")}${entry("2026-11-10", "Rounding", "Whole cents.")}## no date\n`,
    });
    await pass(machine);
    const pulses = () => machine.t.rows("SELECT repo_key, counts, fingerprints FROM brain_pulses");
    const { body } = await machine.get(`/api/brain/metrics?repoKey=${SHOP}`);
    const [pulse] = pulses();
    expect(pulse.repo_key).toBe(SHOP);
    expect(JSON.parse(pulse.counts)).toEqual({ errors: 3, open: 1, classes: 2, recurring: 1, skipped: 1 });
    expect([body.total, body.openTotal, body.skipped]).toEqual([3, 1, 1]);
    expect(JSON.parse(pulse.fingerprints)).toContain(body.recurringClasses[0].fingerprint);
    write(root, { [ERRORS]: entry("2026-11-20", "Login loop") });
    await pass(machine);
    expect(pulses()).toEqual([pulse]);
    await pass(machine, 60 * 60_000);
    expect(JSON.parse(pulses()[0].counts)).toMatchObject({ errors: 1, open: 0 });
  });
});
