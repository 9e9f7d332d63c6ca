import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { readCredentials } from "../../src/capture/state.ts";
import { isoInstant, MINUTE_MS, SECOND_MS } from "../../src/kit/clock.ts";
import { expectAgreement, startAgent, type TestAgent } from "../support/capture.ts";
import { processorMs } from "../support/time.ts";
import { textOf, turn } from "../support/turns.ts";
import { git } from "../support/work-tree.ts";

const AS = ["-c", "user.name=Kim", "-c", "user.email=kim@example.com"];

/** Commits a file in the machine's work tree at an instant. @returns the commit */
function commit(agent: TestAgent, path: string, content: string, at: number, ...more: string[]): string {
  return commitIn(realpathSync(join(agent.home, "shop")), path, content, at, ...more);
}

function commitIn(root: string, path: string, content: string, at: number, ...more: string[]): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  git(root, "init", "--quiet");
  git(root, "add", path);
  gitAt(at, root, "commit", "--quiet", "-m", content, ...more);
  return git(root, "rev-parse", "HEAD").trim();
}

/** Lets git make commits with a given time. */
function gitAt(at: number, root: string, ...args: string[]): void {
  const when = isoInstant(at);
  for (const name of ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"]) process.env[name] = when;
  try {
    git(root, ...AS, ...args);
  } finally {
    for (const name of ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"]) delete process.env[name];
  }
}

/** Runs `work` with a line of shell in place of the machine's git; in that line `git` is the real one. */
async function withGit(agent: TestAgent, line: string, work: () => Promise<unknown>): Promise<void> {
  const programs = join(agent.home, "programs");
  mkdirSync(programs);
  writeFileSync(join(programs, "git"), `#!/bin/sh\nPATH=\${PATH#*:}\n${line}\n`, { mode: 0o755 });
  const { PATH } = process.env;
  process.env.PATH = `${programs}:${PATH}`;
  try {
    await work();
  } finally {
    process.env.PATH = PATH;
  }
}

const commitsOf = ({ server }: TestAgent): string[] =>
  server
    .rows("SELECT document FROM trace_sessions")
    .flatMap(({ document }) => JSON.parse(document).commits ?? [])
    .map(({ sha }) => sha);

const editsOn = (agent: TestAgent) =>
  agent.server
    .rows("SELECT document FROM trace_spans WHERE document LIKE '%\"edits\"%' ORDER BY external_id")
    .flatMap(({ document }) => JSON.parse(document).edits as { path: string; commit?: string }[])
    .map(({ path, commit: sha }) => [path, sha]);

it("names the commit of an edit that is written to the transcript after the commit was seen", async () => {
  const a = await startAgent();
  const cwd = join(a.home, "shop");
  const at = a.server.clock.now();
  a.write("s1", ...turn({ n: 0, cwd, at }));
  const first = commit(a, "src/0.ts", "one", at + 10 * SECOND_MS);
  // The transcript holds the second prompt and not yet its edit, whose commit is already made.
  const [prompt, answer, call, result] = turn({ n: 7, cwd, at: at + 20 * SECOND_MS });
  a.write("s1", ...[prompt, answer, call].filter((record) => record !== undefined));
  const second = commit(a, "src/0.ts", "two", at + 30 * SECOND_MS);
  await a.pass();
  expect(editsOn(a)).toEqual([["src/0.ts", first]]);
  a.write("s1", ...[result].filter((record) => record !== undefined));
  await a.pass();
  expect(editsOn(a)).toEqual([
    ["src/0.ts", first],
    ["src/0.ts", second],
  ]);
  const [{ document }] = a.server.rows("SELECT document FROM trace_sessions");
  expect(JSON.parse(document).commits.map(({ sha }: { sha: string }) => sha)).toEqual([first, second]);
});

it.each([false, true])(
  "tells commits of one second apart by when the agent heard of them (seen before: %s)",
  async (isSeen) => {
    const a = await startAgent();
    const cwd = join(a.home, "shop");
    const at = Math.floor(a.server.clock.now() / SECOND_MS) * SECOND_MS - 5 * MINUTE_MS;
    /** An edit, and what git said of a commit, all within one instant. */
    const says = (session: string, n: number, ms: number, sha?: string) => {
      const told = sha === undefined ? {} : { command: "git commit -am x", output: `[main ${sha.slice(0, 7)}] x` };
      const records = turn({ session, n, cwd, at, ...told });
      a.write(session, ...records.map((record) => ({ ...record, timestamp: isoInstant(at + ms) })));
    };
    const made = (n: number, ms: number) => commit(a, "src/0.ts", `${n}`, at + ms);
    says("s1", 0, 100);
    const shas = [made(0, 200)];
    if (isSeen) await a.pass();
    says("s1", 1, 300, shas[0]);
    shas.push(made(7, 600));
    says("s1", 7, 600, shas[1]);
    shas.push(made(14, 1_300));
    says("s2", 14, 1_300, shas[2]);
    await a.pass();
    expect(editsOn(a)).toEqual([
      ["src/0.ts", shas[0]],
      ["src/1.ts", undefined],
      ["src/0.ts", shas[1]],
      ["src/0.ts", shas[2]],
    ]);
    expect(commitsOf(a)).toEqual(shas);
  },
);

it.each(["the agent", "a person"])(
  "a session in a repository without a commit belongs to it once %s makes the first",
  async (whose) => {
    const a = await startAgent();
    const cwd = join(a.home, "shop");
    const at = a.server.clock.now();
    rmSync(join(cwd, ".git"), { recursive: true });
    git(cwd, "init", "--quiet");
    a.write("s1", ...turn({ n: 0, cwd, at }));
    await a.pass();
    const repoNow = () => a.server.rows("SELECT repo_key AS repo FROM trace_sessions");
    expect(repoNow()).toEqual([{ repo: "" }]);
    const first = commit(a, "src/0.ts", "one", at + 10 * SECOND_MS);
    if (whose === "the agent") a.write("s1", ...turn({ n: 1, cwd, at: at + 20 * SECOND_MS }));
    await a.pass();
    expect(repoNow()).toEqual([{ repo: `root:${first}` }]);
    expect(editsOn(a)[0]).toEqual(["src/0.ts", first]);
    expectAgreement(a);
  },
);

it("a session in a repository that gets its first origin belongs to that from then on, unless another took its place", async () => {
  const a = await startAgent();
  const at = a.server.clock.now();
  const repos = () =>
    a.server.rows("SELECT external_id AS id, repo_key AS repo FROM trace_sessions ORDER BY id").map(({ repo }) => repo);
  const [shop, till] = ["shop", "till"].map((name) => join(a.home, name)) as [string, string];
  rmSync(join(shop, ".git"), { recursive: true });
  const roots = [shop, till].map((root) => {
    mkdirSync(root, { recursive: true });
    return `root:${commitIn(realpathSync(root), "src/0.ts", "one", at + 10 * SECOND_MS)}`;
  });
  for (const [i, cwd] of [shop, till].entries()) a.write(`s${i}`, ...turn({ session: `s${i}`, n: 0, cwd, at }));
  await a.pass();
  expect(repos()).toEqual(roots);
  git(shop, "remote", "add", "origin", "git@github.com:acme/shop.git");
  rmSync(till, { recursive: true });
  git(a.home, "init", "-q", till);
  commitIn(realpathSync(till), "src/0.ts", "another", at + 40 * SECOND_MS);
  git(till, "remote", "add", "origin", "git@github.com:acme/other.git");
  a.advance(2 * MINUTE_MS);
  for (const [i, cwd] of [shop, till].entries())
    a.write(`s${i}`, ...turn({ session: `s${i}`, n: 1, cwd, at: at + 60 * SECOND_MS }));
  await a.pass();
  expect(repos()).toEqual(["github.com/acme/shop", roots[1]]);
  expectAgreement(a);
});

it("a session that began in no repository belongs to the one that it went on in, as where that was moved", async () => {
  const a = await startAgent();
  const at = a.server.clock.now();
  const shop = realpathSync(join(a.home, "shop"));
  const before = join(a.home, "before");
  rmSync(join(shop, ".git"), { recursive: true });
  const first = commit(a, "src/1.ts", "one", at + 30 * SECOND_MS);
  for (const [session, cwd] of [
    ["s1", a.home],
    ["s2", before],
  ] as const)
    a.write(session, ...turn({ session, n: 0, cwd, at }));
  await a.pass();
  const repos = () => a.server.rows("SELECT repo_key AS repo FROM trace_sessions ORDER BY external_id");
  expect(repos()).toEqual([{ repo: "" }, { repo: "" }]);
  for (const session of ["s1", "s2"]) a.write(session, ...turn({ session, n: 1, cwd: shop, at: at + 20 * SECOND_MS }));
  a.write("s1", ...turn({ n: 2, cwd: a.home, at: at + 40 * SECOND_MS }));
  a.advance(2 * MINUTE_MS);
  await a.pass();
  expect(repos()).toEqual([{ repo: `root:${first}` }, { repo: `root:${first}` }]);
  expect(editsOn(a)).toEqual([
    ["src/0.ts", undefined],
    ["src/1.ts", first],
    ["~/src/2.ts", undefined],
    ["src/0.ts", undefined],
    ["src/1.ts", first],
  ]);
  expectAgreement(a);
});

it("a session that began above its repositories belongs to the first that it edits in, with the commit of that", async () => {
  const a = await startAgent();
  const at = a.server.clock.now();
  const home = realpathSync(a.home);
  const [shop, till] = ["shop", "till"].map((name) => join(home, name)) as [string, string];
  rmSync(join(shop, ".git"), { recursive: true });
  const first = commitIn(shop, "README.md", "begin", at - MINUTE_MS);
  commitIn(till, "README.md", "another", at - MINUTE_MS);
  /** A turn in which a file below the folder is edited. */
  const edit = (n: number, folder: string) =>
    a.write(
      "s1",
      textOf(turn({ n, cwd: home, at: at + n * 20 * SECOND_MS })).replaceAll(`${home}/src`, `${folder}/src`),
    );
  edit(0, home);
  edit(1, shop);
  edit(2, till);
  const sha = commitIn(shop, "src/1.ts", "one", at + 30 * SECOND_MS);
  a.advance(2 * MINUTE_MS);
  await a.pass();
  expect(a.server.rows("SELECT repo_key AS repo FROM trace_sessions")).toEqual([{ repo: `root:${first}` }]);
  expect(editsOn(a)).toEqual([
    ["src/0.ts", undefined],
    ["src/1.ts", sha],
    ["~/till/src/2.ts", undefined],
  ]);
  expect(commitsOf(a)).toEqual([sha]);
  a.write("s1", ...turn({ n: 3, cwd: shop, at: at + 60 * SECOND_MS }));
  await a.pass();
  expect(editsOn(a).at(-1)).toEqual(["src/3.ts", undefined]);
  expectAgreement(a);
});

it("finds the commit of what a session edited before its work tree was moved", async () => {
  const a = await startAgent();
  const at = a.server.clock.now();
  const [shop, moved] = ["shop", "moved"].map((name) => join(realpathSync(a.home), name)) as [string, string];
  a.write("s1", ...turn({ n: 0, cwd: shop, at }));
  await a.pass();
  renameSync(shop, moved);
  a.write("s1", ...turn({ n: 1, cwd: moved, at: at + 20 * SECOND_MS }));
  const sha = commitIn(moved, "src/0.ts", "one", at + 30 * SECOND_MS);
  a.advance(2 * MINUTE_MS);
  await a.pass();
  expect(editsOn(a)).toEqual([
    ["src/0.ts", sha],
    ["src/1.ts", undefined],
  ]);
  expect(commitsOf(a)).toEqual([sha]);
  expectAgreement(a);
});

it("asks git for branch and commits of a repository whose references lie in tables", async () => {
  const a = await startAgent();
  const at = a.server.clock.now();
  const cwd = join(a.home, "shop");
  const records = turn({ n: 0, cwd, at }).map((record) => ({ ...record, gitBranch: undefined }));
  a.write("s1", ...records);
  git(cwd, "init", "--quiet");
  git(cwd, "checkout", "--quiet", "-b", "tables");
  const sha = commit(a, "src/0.ts", "one", at + 10 * SECOND_MS);
  const amended = commit(a, "src/0.ts", "two", at + 20 * SECOND_MS, "--amend");
  // The tables are as git writes them. The git of the test may not know them, so it reads a copy without.
  const kept = join(a.home, "kept.git");
  cpSync(join(cwd, ".git"), kept, { recursive: true });
  for (const name of ["logs", "refs"]) rmSync(join(cwd, ".git", name), { recursive: true });
  writeFileSync(join(cwd, ".git/HEAD"), "ref: refs/heads/.invalid\n");
  await withGit(a, `exec git --git-dir='${kept}' "$@"`, () => a.pass());
  expect(editsOn(a)).toEqual([["src/0.ts", sha]]);
  expect(a.server.rows("SELECT branch FROM trace_sessions")).toEqual([{ branch: "tables" }]);
  expect(commitsOf(a)).toEqual([sha, amended]);
});

it("gives a commit to the session whose edits went into it, and not to one whose were in the commit before", async () => {
  const a = await startAgent();
  const cwd = join(a.home, "shop");
  const at = a.server.clock.now();
  const after = (seconds: number) => at + seconds * SECOND_MS;
  a.write("s1", ...turn({ session: "s1", n: 0, cwd, at }));
  const first = commit(a, "src/0.ts", "one", after(10));
  await a.pass();
  const second = commit(a, "src/0.ts", "two", after(30));
  a.advance(35 * SECOND_MS);
  await a.pass();
  // An agent may write an edit down a little later.
  a.write("s2", ...turn({ session: "s2", n: 7, cwd, at: after(20) }));
  await a.pass();
  const commitsOf = () =>
    a.server
      .rows("SELECT document FROM trace_sessions ORDER BY external_id")
      .map(({ document }) => JSON.parse(document).commits.map(({ sha }: { sha: string }) => sha));
  expect(commitsOf()).toEqual([[first], [second]]);
  expect(editsOn(a)).toEqual([
    ["src/0.ts", first],
    ["src/0.ts", second],
  ]);
  // No session's edit is known to be in it: a person may have committed the rest of either.
  const third = commit(a, "src/0.ts", "three", after(40));
  a.advance(70 * SECOND_MS);
  await a.pass();
  expect(commitsOf()).toEqual([
    [first, third],
    [second, third],
  ]);
  expectAgreement(a);
});

it("gives a commit that was amended again and again to the session whose edits went into the first of them", async () => {
  const a = await startAgent();
  const cwd = join(a.home, "shop");
  const at = a.server.clock.now();
  const after = (seconds: number) => at + seconds * SECOND_MS;
  a.write("s1", ...turn({ session: "s1", n: 0, cwd, at }));
  const made = [commit(a, "src/0.ts", "one", after(10))];
  a.advance(15 * SECOND_MS);
  await a.pass();
  for (const [i, text] of ["two", "three", "four"].entries())
    made.push(commit(a, "src/0.ts", text, after(20 + i), "--amend"));
  a.advance(15 * SECOND_MS);
  await a.pass();
  const [{ document }] = a.server.rows("SELECT document FROM trace_sessions");
  expect(JSON.parse(document).commits.map(({ sha }: { sha: string }) => sha)).toEqual(made);
});

it.each([
  ["once for the files of all commits", 100, 1],
  ["for each commit alone where it cannot tell of all", 1, 7],
])("asks git %s, however many sessions may have made them", async (_, most, calls) => {
  const a = await startAgent();
  const cwd = join(a.home, "shop");
  const at = a.server.clock.now();
  const made = Array.from({ length: 6 }, (_, i) => commit(a, `src/${i}.ts`, "new", at + (10 + i) * SECOND_MS));
  for (const session of ["s1", "s2", "s3"]) a.write(session, ...turn({ session, n: 0, cwd, at }));
  const log = join(a.home, "log");
  const counted = `echo >>'${log}'; commits=$(cat); [ $(echo "$commits" | wc -l) -le ${most} ] || exit 1; echo "$commits" | git "$@"`;
  await withGit(a, `case "$*" in *diff-tree*) ${counted};; *) exec git "$@";; esac`, () => a.pass());
  expect(editsOn(a)).toEqual(Array(3).fill(["src/0.ts", made[0]]));
  expect(readFileSync(log, "utf8")).toHaveLength(calls);
});

it("costs little in a work tree of many agents and commits, each of which could be of any session", {
  timeout: 120_000,
}, async () => {
  const a = await startAgent();
  const cwd = join(a.home, "shop");
  const at = a.server.clock.now();
  git(cwd, "init", "--quiet");
  const output = "what the tests say ".repeat(800);
  for (const session of ["s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"])
    for (let n = 0; n < 100; n++) a.write(session, ...turn({ session, n, at: at + n, cwd, output }));
  // While sessions edit the same files, each commit belongs to the one that edited them last.
  const seconds = Array.from({ length: 40 }, (_, i) => Math.floor(at / SECOND_MS) + 20 + 20 * i);
  for (const [n, second] of seconds.entries())
    a.write("s1", ...turn({ session: "s1", n: 700 + 7 * n, at: second * SECOND_MS - 8 * SECOND_MS, cwd, output }));
  const made = seconds.map(
    (second, i) =>
      `commit refs/heads/main\ncommitter K <k@example.com> ${second} +0000\ndata 1\nx\nM 644 inline src/0.ts\ndata 2\n${10 + i}\n`,
  );
  execFileSync("git", ["-C", cwd, "fast-import", "--quiet"], { input: made.join("") });
  const shas = git(cwd, "rev-list", "--reverse", "main").trim().split("\n");
  const log = shas.map((sha, i) => `${"0".repeat(40)} ${sha} K <k@example.com> ${seconds[i]} +0000\tcommit: x\n`);
  mkdirSync(join(cwd, ".git/logs"), { recursive: true });
  writeFileSync(join(cwd, ".git/logs/HEAD"), log.join(""));
  a.advance(20 * MINUTE_MS);
  const ofFirst = await processorMs(() => a.pass());
  expect(editsOn(a).filter(([path, commit]) => path === "src/0.ts" && commit === shas.at(-1))).toHaveLength(1);
  expect(await processorMs(() => a.pass())).toBeLessThan(ofFirst / 2);
});

it("recognises a session's commit once it is rebased or picked for another branch, and answers for its lines", async () => {
  const a = await startAgent();
  const at = a.server.clock.now();
  const after = (seconds: number) => at + seconds * SECOND_MS;
  const shop = realpathSync(join(a.home, "shop"));
  commit(a, "README.md", "base", after(-60));
  git(shop, "checkout", "-q", "-b", "feature");
  a.write("s1", ...turn({ session: "s1", n: 0, cwd: shop, at, prompt: "Set the cookie" }));
  a.write("s2", ...turn({ session: "s2", n: 0, cwd: shop, at: after(20), prompt: "Read the cookie" }));
  const made = commit(a, "src/0.ts", "Set it", after(10));
  const theirs = commit(a, "src/0.ts", "Read it", after(30));
  a.advance(2 * MINUTE_MS);
  await a.pass();
  // Hours after the sessions ended.
  a.advance(120 * MINUTE_MS);
  git(shop, "checkout", "-q", "main");
  commit(a, "LICENSE", "upstream", a.server.clock.now());
  git(shop, "checkout", "-q", "feature");
  git(shop, ...AS, "rebase", "-q", "main");
  const rebased = git(shop, "rev-parse", "HEAD~1").trim();
  git(shop, "checkout", "-q", "-b", "release", "main~1");
  git(shop, ...AS, "cherry-pick", rebased);
  const picked = git(shop, "rev-parse", "HEAD").trim();
  a.work("s3", 1, 5);
  await a.pass();
  const shas = (session: string) =>
    a.server
      .rows("SELECT document ->> 'commits' AS commits FROM trace_sessions WHERE external_id = ?", session)
      .flatMap(({ commits }) => JSON.parse(commits).map(({ sha }: { sha: string }) => sha));
  expect([made, rebased, picked]).toEqual([...new Set([made, rebased, picked])]);
  expect(shas("s1")).toEqual([made, rebased, picked]);
  expect(shas("s2")).toEqual([theirs, git(shop, "rev-parse", "feature").trim()]);
  expect(shas("s3")).toEqual([]);
  const headers = { authorization: `Bearer ${readCredentials(a.capture.places)?.token}` };
  for (const sha of [made, rebased, picked]) {
    const asked = await fetch(`${a.server.url}/api/prompt-for-line?path=src/0.ts&line=1&commit=${sha}`, { headers });
    expect(await asked.json()).toMatchObject({ matches: [{ sessionId: "s1", prompt: "Set the cookie" }] });
  }
  expectAgreement(a);
});

it("gives a rebased commit to the session that solved its conflict, and still to the one that made it", async () => {
  const a = await startAgent();
  const cwd = realpathSync(join(a.home, "shop"));
  const at = a.server.clock.now() - 2 * 60 * MINUTE_MS;
  rmSync(join(cwd, ".git"), { recursive: true });
  commit(a, "README.md", "begin", at - MINUTE_MS);
  git(cwd, "checkout", "-q", "-b", "side");
  a.write("s1", ...turn({ n: 0, cwd, at }));
  const first = commit(a, "src/0.ts", "mine", at + 10 * SECOND_MS);
  git(cwd, "checkout", "-q", "-b", "trunk", "HEAD~1");
  commit(a, "src/0.ts", "theirs", at - 30 * SECOND_MS);
  git(cwd, "checkout", "-q", "side");
  expect(() => git(cwd, ...AS, "rebase", "trunk")).toThrow();
  const later = a.server.clock.now() - 2 * MINUTE_MS;
  a.write("s2", ...turn({ session: "s2", n: 0, cwd, at: later }));
  writeFileSync(join(cwd, "src/0.ts"), "both");
  git(cwd, "add", "src/0.ts");
  gitAt(later + 30 * SECOND_MS, cwd, "-c", "core.editor=true", "rebase", "--continue");
  const solved = git(cwd, "rev-parse", "HEAD").trim();
  await a.pass();
  const sessions = a.server.rows("SELECT document FROM trace_sessions ORDER BY external_id");
  const commits = sessions.map(({ document }) => JSON.parse(document).commits.map(({ sha }: { sha: string }) => sha));
  expect(commits).toEqual([[first, solved], [solved]]);
  expect(editsOn(a)).toEqual([
    ["src/0.ts", first],
    ["src/0.ts", solved],
  ]);
  expectAgreement(a);
});

it("recognises a session's commits under a title that they got while they were rebased", async () => {
  const a = await startAgent();
  const shop = realpathSync(join(a.home, "shop"));
  const after = (seconds: number) => a.server.clock.now() + seconds * SECOND_MS;
  commit(a, "README.md", "base", after(-60));
  const made = [0, 1, 2].map((n) => {
    a.write("s1", ...turn({ n, cwd: shop, at: after(n * 20) }));
    return commit(a, `src/${n}.ts`, `Set ${n}`, after(n * 20 + 10));
  });
  const editing = ["-c", "sequence.editor=sed -i -e 1s/pick/reword/ -e 3s/pick/squash/"];
  git(shop, ...AS, ...editing, "-c", `core.editor=sh -c 'date +%N > "$1"' --`, "rebase", "-q", "-i", "HEAD~3");
  await a.pass();
  const rebased = git(shop, "rev-list", "--reverse", "-2", "HEAD").trim().split("\n");
  expect(commitsOf(a)).toEqual([...made, rebased[0], expect.any(String), rebased[1]]);
});

it("gives a commit into which a rebase squashed those of several sessions to each of them, and to no other", async () => {
  const a = await startAgent();
  const shop = realpathSync(join(a.home, "shop"));
  const after = (seconds: number) => a.server.clock.now() + seconds * SECOND_MS;
  commit(a, "README.md", "base", after(-60));
  git(shop, "checkout", "-q", "-b", "feature");
  const ask = (session: string, n: number) =>
    a.write(session, ...turn({ session, n, cwd: shop, at: after(n * 60), prompt: `Set ${n}` }));
  // The last session's commit is rebased by itself, and the commit before the branch is no part of it.
  const made = ["s1", "s2", "s3", "s4"].map((session, n) => {
    ask(session, n);
    return commit(a, `src/${n}.ts`, `Set ${n}`, after(n * 60 + 10));
  });
  ask("s5", 5);
  git(shop, "checkout", "-q", "main");
  const upstream = commit(a, "src/5.ts", "Set 5", after(5 * 60 + 10));
  a.advance(8 * MINUTE_MS);
  await a.pass();
  // Hours after the sessions ended.
  a.advance(120 * MINUTE_MS);
  git(shop, "checkout", "-q", "feature");
  const editing = ["-c", "sequence.editor=sed -i -e 2s/pick/squash/ -e 3s/pick/fixup/", "-c", "core.editor=true"];
  git(shop, ...AS, ...editing, "rebase", "-q", "-i", "main");
  const [melted, rebased] = git(shop, "rev-list", "--reverse", "-2", "HEAD").trim().split("\n");
  for (const session of ["s1", "s5"]) a.work(session, 1, 6);
  await a.pass();
  const shas = (session: string) =>
    a.server
      .rows("SELECT document ->> 'commits' AS commits FROM trace_sessions WHERE external_id = ?", session)
      .flatMap(({ commits }) => JSON.parse(commits).map(({ sha }: { sha: string }) => sha));
  expect([shas("s2"), shas("s3"), shas("s4")]).toEqual([
    [made[1], melted],
    [made[2], melted],
    [made[3], rebased],
  ]);
  expect(shas("s1")).toEqual(expect.arrayContaining([made[0], melted]));
  expect(shas("s5")).toEqual([upstream]);
  const headers = { authorization: `Bearer ${readCredentials(a.capture.places)?.token}` };
  for (const [n, session] of [
    ["1", "s2"],
    ["2", "s3"],
  ]) {
    const asked = await fetch(`${a.server.url}/api/prompt-for-line?path=src/${n}.ts&line=${n}&commit=${melted}`, {
      headers,
    });
    expect(await asked.json()).toMatchObject({ matches: [{ sessionId: session, prompt: `Set ${n}` }] });
  }
  expectAgreement(a);
});

it("gives a commit that a branch was squashed into hours later to each session of that branch, and to no other's", async () => {
  const a = await startAgent();
  const shop = realpathSync(join(a.home, "shop"));
  const after = (seconds: number) => a.server.clock.now() + seconds * SECOND_MS;
  commit(a, "README.md", "base", after(-60));
  const upstream = ["s0", "s1", "s2"].map((session, n) => {
    if (n === 1) git(shop, "checkout", "-q", "-b", "feature");
    a.write(session, ...turn({ session, n, cwd: shop, at: after(n * 60), prompt: `Set ${n}` }));
    return commit(a, `src/${n}.ts`, `Set ${n}`, after(n * 60 + 10));
  });
  a.advance(4 * MINUTE_MS);
  await a.pass();
  a.advance(120 * MINUTE_MS);
  git(shop, "checkout", "-q", "main");
  git(shop, "merge", "-q", "--squash", "feature");
  process.env.GIT_COMMITTER_DATE = isoInstant(after(0));
  try {
    git(shop, ...AS, "-c", "core.editor=true", "commit", "-q");
  } finally {
    delete process.env.GIT_COMMITTER_DATE;
  }
  const squashed = git(shop, "rev-parse", "HEAD").trim();
  await a.pass();
  const shas = a.server
    .rows("SELECT document ->> 'commits' AS commits FROM trace_sessions ORDER BY external_id")
    .map(({ commits }) => JSON.parse(commits).map(({ sha }: { sha: string }) => sha));
  expect(shas).toEqual([[upstream[0]], [upstream[1], squashed], [upstream[2], squashed]]);
  expectAgreement(a);
});

it("recognises a session's commit that was mailed and applied on another branch", async () => {
  const a = await startAgent();
  const at = a.server.clock.now();
  const shop = realpathSync(join(a.home, "shop"));
  commit(a, "README.md", "base", at - 60 * SECOND_MS);
  git(shop, "checkout", "-q", "-b", "feature");
  a.write("s1", ...turn({ n: 0, cwd: shop, at }));
  const made = commit(a, "src/0.ts", "Set it", at + 10 * SECOND_MS);
  const patch = join(a.home, "set-it.patch");
  writeFileSync(patch, git(shop, "format-patch", "-1", "--stdout"));
  a.advance(120 * MINUTE_MS);
  git(shop, "checkout", "-q", "main");
  git(shop, ...AS, "am", "-q", patch);
  await a.pass();
  expect(commitsOf(a)).toEqual([made, git(shop, "rev-parse", "main").trim()]);
});

it("names files in other work trees as the repository does, and finds the commits that were made there", async () => {
  const a = await startAgent();
  const at = a.server.clock.now();
  const after = (seconds: number) => at + seconds * SECOND_MS;
  const shop = realpathSync(join(a.home, "shop"));
  commit(a, "README.md", "one", after(-60));
  const trees = [join(shop, ".claude/worktrees/feature"), join(a.home, "beside")];
  for (const tree of trees) git(shop, "worktree", "add", "-q", tree);
  // A repository of its own, which lies within the work tree, too.
  git(shop, "init", "--quiet", "vendor");
  // One agent goes over to them from the first, as with Claude Code's EnterWorktree; another stays there, with the same file.
  const cwds = [shop, ...trees, join(shop, "vendor")];
  for (const [n, cwd] of cwds.entries()) a.write("s1", ...turn({ session: "s1", n, cwd, at: after(10 * n) }));
  a.write("s2", ...turn({ session: "s2", n: 1, cwd: shop, at: after(12) }));
  const [inside, beside] = trees.map((tree, i) => commitIn(tree, `src/${i + 1}.ts`, "new", after(40)));
  const own = commit(a, "src/1.ts", "theirs", after(42));
  a.advance(5 * MINUTE_MS);
  await a.pass();
  const sessions = a.server.rows("SELECT document FROM trace_sessions ORDER BY external_id");
  const [one, two] = sessions.map(({ document }) => JSON.parse(document));
  expect(one.files).toEqual(["src/0.ts", "src/1.ts", "src/2.ts", "vendor/src/3.ts"]);
  const shasOf = ({ commits }: { commits: { sha: string }[] }) => commits.map(({ sha }) => sha).toSorted();
  expect([shasOf(one), shasOf(two)]).toEqual([[inside, beside].toSorted(), [own]]);
  expect(editsOn(a)).toEqual([
    ["src/0.ts", undefined],
    ["src/1.ts", inside],
    ["src/2.ts", beside],
    ["vendor/src/3.ts", undefined],
    ["src/1.ts", own],
  ]);
  expect(JSON.stringify(sessions)).not.toMatch(/worktrees|beside/);
  expectAgreement(a);
});

it("knows a file of the work tree by whatever links the agent names it, and finds its commit", async () => {
  const a = await startAgent();
  const at = a.server.clock.now();
  const [shop, link, inner] = ["shop", "link", "inner"].map((name) => join(a.home, name)) as [string, string, string];
  mkdirSync(join(shop, "src"));
  symlinkSync(shop, link);
  symlinkSync(join(shop, "src"), inner);
  const through = (records: object[], name: string) =>
    JSON.parse(JSON.stringify(records).replaceAll(join(shop, "src"), name)) as object[];
  a.write("s1", ...through(turn({ session: "s1", n: 0, cwd: shop, at }), join(link, "src")));
  a.write("s2", ...through(turn({ session: "s2", n: 1, cwd: shop, at }), inner));
  const made = [0, 1].map((n) => commit(a, `src/${n}.ts`, "one", at + 10 * SECOND_MS));
  a.advance(5 * MINUTE_MS);
  await a.pass();
  const rows = a.server.rows("SELECT document FROM trace_sessions ORDER BY external_id");
  const sessions = rows.map(({ document }) => JSON.parse(document));
  expect(sessions.map(({ files }) => files)).toEqual([["src/0.ts"], ["src/1.ts"]]);
  expect(sessions.map(({ commits }) => commits.map(({ sha }: { sha: string }) => sha))).toEqual(
    made.map((sha) => [sha]),
  );
  expectAgreement(a);
});

it("puts what was done in a removed work tree down to its repository, and gives it no commits of others", async () => {
  const a = await startAgent();
  const after = (seconds: number) => a.server.clock.now() + seconds * SECOND_MS;
  const shop = realpathSync(join(a.home, "shop"));
  commit(a, "README.md", "one", after(-60));
  for (const [i, folder] of [".claude/worktrees/till", ".worktrees/till"].entries()) {
    const tree = join(shop, folder);
    git(shop, "worktree", "add", "-q", "-b", `branch-${i}`, tree);
    a.write(`s${i}`, ...turn({ session: `s${i}`, n: i, cwd: join(tree, i === 0 ? "" : "web"), at: after(0) }));
    git(shop, "worktree", "remove", tree);
    commit(a, `src/${i}.ts`, "by hand", after(10));
  }
  await a.pass();
  a.advance(2 * MINUTE_MS);
  await a.pass();
  const sessions = a.server.rows("SELECT repo_key AS repo, document FROM trace_sessions ORDER BY external_id");
  expect(sessions.map(({ repo, document }) => [repo, JSON.parse(document).files])).toEqual([
    ["github.com/acme/shop", ["src/0.ts"]],
    ["github.com/acme/shop", ["web/src/1.ts"]],
  ]);
  expect(commitsOf(a)).toEqual([]);
  expectAgreement(a);
});

it("starts no program that a repository names, and fetches nothing that it lacks", async () => {
  const a = await startAgent();
  const cwd = join(a.home, "shop");
  const at = a.server.clock.now();
  a.write("s1", ...turn({ n: 0, cwd, at }));
  commit(a, "src/0.ts", "one", at + 10 * SECOND_MS);
  const ran = join(a.home, "ran");
  const program = join(a.home, "program");
  writeFileSync(program, `#!/bin/sh\necho "$@" >>'${ran}'\nexit 1\n`, { mode: 0o755 });
  const config = {
    ...{ "core.sshCommand": program, "core.fsmonitor": program, "gpg.program": program, "log.showSignature": "true" },
    ...{ "core.repositoryFormatVersion": "1", "extensions.partialClone": "origin", "remote.origin.promisor": "true" },
    "remote.origin.url": "ssh://git.example/acme/shop",
  };
  // A partial clone asks its origin for what it lacks (git-config(1), extensions.partialClone).
  const tree = git(cwd, "rev-parse", "HEAD^{tree}").trim();
  for (const [name, value] of Object.entries(config)) git(cwd, "config", name, value);
  rmSync(join(cwd, ".git", "objects", tree.slice(0, 2), tree.slice(2)));
  await a.pass();
  expect(a.server.rows("SELECT repo_key AS repo FROM trace_sessions")).toEqual([{ repo: "git.example/acme/shop" }]);
  expect(existsSync(ran)).toBe(false);
});

it("names what a sub-agent edited, also where a commit holds it", async () => {
  const a = await startAgent();
  const cwd = join(a.home, "shop");
  const at = a.server.clock.now();
  const record = (type: string, uuid: string, content: object[]) => ({
    ...{ type, uuid, isSidechain: true, agentId: "x", timestamp: isoInstant(at), sessionId: "s1", cwd },
    message: { role: type, content, ...(type === "assistant" ? { id: "msg_x", model: "claude-opus-5" } : {}) },
  });
  const input = { file_path: join(cwd, "src/shop.ts"), old_string: "a", new_string: "b" };
  a.work("s1", 1);
  a.write(
    "s1/subagents/agent-x",
    record("assistant", "x1", [{ type: "tool_use", id: "toolu_x", name: "Edit", input }]),
    record("user", "x2", [{ type: "tool_result", tool_use_id: "toolu_x", content: "The file has been updated." }]),
  );
  const sha = commit(a, "src/shop.ts", "b", at + 10 * SECOND_MS);
  a.advance(2 * MINUTE_MS);
  await a.pass();
  expect(editsOn(a)).toContainEqual(["src/shop.ts", sha]);
  const [session] = a.server.rows("SELECT document FROM trace_sessions");
  expect(JSON.parse(session.document)).toMatchObject({ files: ["src/0.ts", "src/shop.ts"], outcome: "committed" });
  expectAgreement(a);
});
