/**
 * Git AI's own program, end to end: it is told of edits as Claude Code's hooks tell it, follows commits, and keeps its notes in a
 * running server, from which another machine reads them.
 */
import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { read } from "../support/git-ai.ts";
import { startWithDevice } from "../support/instance.ts";
import { ledgerFaults } from "../support/ledger-faults.ts";

const program = process.env.RECKON_TEST_GIT_AI ?? "";
if (!existsSync(program)) process.stderr.write("Tests of Git AI skipped: RECKON_TEST_GIT_AI names no program of it.\n");

/** A machine with Git AI whose notes go to a server. */
function machineWith(url: string, key: string) {
  const home = mkdtempSync(join(tmpdir(), "gai-"));
  const work = join(home, "shop");
  mkdirSync(work);
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    GIT_CONFIG_NOSYSTEM: "1",
    // The two lines of the documentation, and the key.
    GIT_AI_NOTES_BACKEND_KIND: "http",
    GIT_AI_NOTES_BACKEND_URL: `${url}/adapters/git-ai`,
    GIT_AI_API_KEY: key,
  };
  const run = async (file: string, ...args: string[]) =>
    (await promisify(execFile)(file, args, { cwd: work, env })).stdout.trim();
  onTestFinished(() => {
    execFileSync(program, ["bg", "shutdown", "--hard"], { cwd: work, env, stdio: "ignore" });
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });
  const git = (...args: string[]) => run("git", "-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args);
  return { home, work, git, gitAi: (...args: string[]) => run(program, ...args) };
}

describe.skipIf(!existsSync(program))("Git AI", () => {
  it("keeps its notes here, and lines of its commits answer with their prompts", async () => {
    const { t, device: laptop } = await startWithDevice({ settings: { port: "0" } });
    const key = await t.device(laptop.team);
    const url = await t.instance.listen();
    const { home, work, git, gitAi } = machineWith(url, key.token);
    await gitAi("install-hooks");
    await gitAi("bg", "start");
    await git("init", "-q", "-b", "main");
    const file = join(work, "hello.txt");
    const tell = (hook_event_name: string) =>
      gitAi(
        ...["checkpoint", "claude", "--hook-input"],
        JSON.stringify({
          ...{ hook_event_name, session_id: "5e551000-0000-4000-8000-000000000001", cwd: work },
          ...{ transcript_path: join(home, "5e551000-0000-4000-8000-000000000001.jsonl"), tool_use_id: "toolu_1" },
          ...{ tool_name: "Write", tool_input: { file_path: file, content: "" } },
        }),
      );
    writeFileSync(join(home, "5e551000-0000-4000-8000-000000000001.jsonl"), "");
    writeFileSync(file, "mine\n");
    await git("add", ".");
    await git("commit", "-qm", "Mine");
    await tell("PreToolUse");
    writeFileSync(file, "mine\nits\nits too\n");
    await tell("PostToolUse");
    await git("add", ".");
    await git("commit", "-qm", "Its");
    const commit = await git("rev-parse", "HEAD");
    await gitAi("await");
    await expect.poll(async () => (await read(t, laptop.token, commit)).status).toBe(200);

    const { notes } = (await read(t, laptop.token, commit)).body;
    expect(notes[commit]).toContain('"schema_version": "authorship/3.0.0"');
    await t.post("/api/agent-traces/ingest", {
      token: laptop.token,
      json: {
        sessions: [
          {
            ...{ id: "5e551000-0000-4000-8000-000000000001", outcome: "committed", spans: [] },
            prompts: [{ at: "2026-11-21T07:00:00Z", text: "Say more" }],
          },
        ],
      },
    });
    const ask = async (line: number) =>
      (await t.get(`/api/prompt-for-line?path=hello.txt&line=${line}&commit=${commit}`, { token: laptop.token })).body
        .matches;
    expect(await ask(2)).toMatchObject([{ prompt: "Say more", commit, band: "strong" }]);
    expect(await ask(3)).toMatchObject([{ prompt: "Say more", commit, band: "strong" }]);
    expect(await ask(1)).toEqual([]);
    expect(ledgerFaults(t.instance.core)).toEqual([]);

    // Another machine, which has the commit and no note of it.
    const other = machineWith(url, laptop.token);
    await other.git("clone", "-q", work, ".");
    await other.gitAi("fetch-notes");
    expect(await other.gitAi("log", "--raw", "-1")).toContain("5e551000-0000-4000-8000-000000000001");
  });
});
