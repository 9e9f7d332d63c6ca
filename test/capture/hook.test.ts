import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { expect, it, onTestFinished } from "vitest";
import { BRIEFING_FILE } from "../../src/capture/brain/briefing-files.ts";
import { examine, readStatus } from "../../src/capture/capture.ts";
import { agentHome, placesIn } from "../../src/capture/home.ts";
import { hookCommand, hookForAll, writeHookScript } from "../../src/capture/hook.ts";
import { installHooks } from "../../src/capture/setup.ts";
import { shellQuoted } from "../../src/kit/strings.ts";
import { deviceOf, heldOf, startAgent, type TestAgent } from "../support/capture.ts";

/** What a hook starts, as it is written there. */
const PROGRAM = shellQuoted(process.execPath);

/** A hook's text that starts something else in the background. @param word as a shell takes it */
const startsInstead = (text: string, word: string) =>
  text
    .replaceAll(`exec setsid ${PROGRAM}`, () => `exec setsid ${word}`)
    .replaceAll(`exec nohup ${PROGRAM}`, () => `exec nohup ${word}`);

/** Calls the hook as Cursor does after an edit of a file, with so many characters of text before and after. */
async function edit({ capture, home }: TestAgent, chars: number): Promise<void> {
  const { hook, spool } = capture.places;
  writeHookScript(capture.machine, capture.places);
  // The test runs passes itself.
  writeFileSync(hook, startsInstead(readFileSync(hook, "utf8"), ":"));
  const root = join(home, "shop");
  const file = join(root, "a.ts");
  const text = `${"x".repeat(99)}\n`.repeat(chars / 100);
  writeFileSync(file, `${text}new\n`);
  const input = JSON.stringify({
    ...{ hook_event_name: "afterFileEdit", conversation_id: "c1", generation_id: "g1", file_path: file },
    ...{ edits: [{ old_string: `${text}old\n`, new_string: `${text}new\n` }], workspace_roots: [root] },
  });
  execFileSync("sh", [hook, "cursor", "afterFileEdit"], { input });
  await expect
    .poll(() => readdirSync(spool).filter((name) => /^\d{9}.*-afterFileEdit$/.test(name)), { timeout: 60_000 })
    .toHaveLength(1);
}

it("an edit of a long file arrives, although only Cursor's hook reports it", async () => {
  const a = await startAgent();
  await edit(a, 900_000);
  await a.pass();
  const said = heldOf(a.server, deviceOf(a)).entries.map(({ payload }) => JSON.parse(payload));
  expect(said).toMatchObject([{ type: "edit", path: "a.ts", startLine: 9_001, endLine: 9_001, added: 1, removed: 1 }]);
  expect(readdirSync(a.capture.places.spool)).toEqual([]);
});

it("leaves a note where an agent gives it no standard input, and where that is never closed", async () => {
  const a = await startAgent();
  const { hook, spool } = a.capture.places;
  writeHookScript(a.capture.machine, a.capture.places);
  writeFileSync(hook, startsInstead(readFileSync(hook, "utf8"), ":"));
  const notes = () => readdirSync(spool).filter((name) => !name.endsWith(".tmp"));
  const rung = (count: number) => expect.poll(notes, { timeout: 60_000 }).toHaveLength(count);
  expect(spawnSync("sh", ["-c", '"$0" claude-code Stop <&-', hook], { encoding: "utf8" })).toMatchObject({
    ...{ status: 0, stderr: "" },
  });
  await rung(1);
  const open = spawn("sh", [hook, "codex", "Stop"], { stdio: ["pipe", "ignore", "ignore"] });
  onTestFinished(() => void open.stdin.end());
  open.stdin.write("{");
  await rung(2);
});

it("starts one program for the hooks of one second, which reads all of their notes", async () => {
  const a = await startAgent();
  const { hook, spool } = a.capture.places;
  const started = join(a.home, "started");
  writeFileSync(join(a.home, "program"), `#!/bin/sh\necho started >>${shellQuoted(started)}\n`, { mode: 0o700 });
  writeHookScript(a.capture.machine, a.capture.places);
  writeFileSync(hook, startsInstead(readFileSync(hook, "utf8"), shellQuoted(join(a.home, "program"))));
  // The pipe closes with the last process that the hook leaves behind.
  const ring = () =>
    once(spawn("sh", [hook, "codex", "Stop"], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] }), "close");
  const starts = () => (existsSync(started) ? readFileSync(started, "utf8").split("\n").length - 1 : 0);
  const now = Math.floor(Date.now() / 1000);
  const others = (end: string) => Array.from({ length: 120 }, (_, i) => join(spool, `${now + i}-0-codex-Stop${end}`));
  for (const path of others("")) writeFileSync(path, "");
  await ring();
  expect(readdirSync(spool)).toHaveLength(121);
  expect(starts()).toBe(0);
  // Notes that were read, or never finished, do not count as a program that is on its way.
  for (const [i, path] of others("").entries()) renameSync(path, path + (i % 2 ? ".heard" : ".tmp"));
  for (const name of readdirSync(spool).filter((each) => each.endsWith("-Stop"))) rmSync(join(spool, name));
  await ring();
  expect(starts()).toBe(1);
});

it("keeps nothing once the program is gone except what Cursor says, which a new program reads", async () => {
  const a = await startAgent();
  const { hook, spool, briefings } = { ...a.capture.places, briefings: join(a.capture.places.home, "briefings") };
  const folder = join(a.home, "shop");
  mkdirSync(join(briefings, `claude-code${folder}`), { recursive: true });
  writeFileSync(join(briefings, `claude-code${folder}`, BRIEFING_FILE), "as it was then\n");
  writeHookScript(a.capture.machine, a.capture.places);
  const gone = (text: string) => text.replaceAll(PROGRAM, shellQuoted(join(a.home, "gone", "reckon")));
  const ring = (agent: string, event: string) =>
    execFileSync("sh", [hook, agent, event], { cwd: folder, encoding: "utf8", input: "{}" });
  writeFileSync(hook, startsInstead(readFileSync(hook, "utf8"), ":"));
  expect(ring("claude-code", "SessionStart")).toBe("as it was then\n");
  await expect.poll(() => readdirSync(spool).filter((name) => !name.endsWith(".tmp"))).toHaveLength(1);

  writeFileSync(hook, gone(readFileSync(hook, "utf8")));
  expect(ring("claude-code", "SessionStart")).toBe("");
  expect(ring("cursor", "afterFileEdit")).toBe("");
  await expect
    .poll(() =>
      readdirSync(spool)
        .map((name) => name.replace(/^\d+-\d+-/, ""))
        .sort(),
    )
    .toEqual(["claude-code-SessionStart", "cursor-afterFileEdit"]);
});

it("keeps no more of what Cursor says than a bound once the program is gone", async () => {
  const a = await startAgent();
  const { hook, spool } = a.capture.places;
  writeHookScript(a.capture.machine, a.capture.places);
  writeFileSync(hook, readFileSync(hook, "utf8").replaceAll(PROGRAM, shellQuoted(join(a.home, "gone", "reckon"))));
  const ring = async () => {
    // The process beside has the last of these until it ends.
    const child = spawn("sh", [hook, "cursor", "afterFileEdit"], {
      stdio: ["pipe", "ignore", "ignore", "ignore", "pipe"],
    });
    child.stdin?.end("{}");
    const held = child.stdio[4] as Readable;
    await once(held.resume(), "close");
  };
  await ring();
  expect(readdirSync(spool)).toHaveLength(1);
  writeFileSync(join(spool, "1-1-cursor-afterFileEdit"), Buffer.alloc(64 * 1024 * 1024));
  await ring();
  expect(readdirSync(spool)).toHaveLength(2);
});

it("a note that is too long to be read is counted", async () => {
  const a = await startAgent();
  await edit(a, 5_000_000);
  await a.pass();
  expect(readStatus(a.capture).unknown).toEqual([{ agent: "cursor", kind: "record over 8 MiB", count: 1 }]);
  expect(readdirSync(a.capture.places.spool)).toEqual([]);
});

it("a note that cannot be read is counted, and holds up none that comes after it", async () => {
  const a = await startAgent();
  const { spool } = a.capture.places;
  // As one that another user wrote, whoever runs this test.
  symlinkSync(join(a.home, "nowhere"), join(spool, "1-2-cursor-afterFileEdit"));
  await edit(a, 200);
  a.work("s1", 1);
  expect(await a.pass()).toMatchObject({ recorded: 8 });
  expect(readStatus(a.capture).unknown).toEqual([{ agent: "cursor", kind: "note that cannot be read", count: 1 }]);
  expect(readdirSync(spool)).toEqual([]);
});

it("an edit that two hooks tell of, the person's own and the one for all people, counts once", async () => {
  const a = await startAgent();
  const root = join(a.home, "shop");
  const file = join(root, "a.ts");
  let notes = 0;
  const say = (at: number, was = "old\n") => {
    const path = join(a.capture.places.spool, `${Math.floor(at / 1000)}-${++notes}-cursor-afterFileEdit`);
    writeFileSync(file, "new\n");
    writeFileSync(
      path,
      JSON.stringify({
        ...{ hook_event_name: "afterFileEdit", conversation_id: "c1", generation_id: "g1", file_path: file },
        ...{ edits: [{ old_string: was, new_string: "new\n" }], workspace_roots: [root] },
      }),
    );
    utimesSync(path, at / 1000, at / 1000);
  };
  const counted = () => heldOf(a.server, deviceOf(a)).entries.length;
  const now = a.server.clock.now();
  say(now - 5);
  say(now + 5);
  await a.pass();
  expect(counted()).toBe(1);
  // Only the next pass reads this one.
  say(now + 900);
  await a.pass();
  expect(counted()).toBe(1);
  say(now + 900, "older\n");
  say(now + 30_000);
  await a.pass();
  expect(counted()).toBe(3);
});

it.each([{}, { XDG_STATE_HOME: "" }, { XDG_STATE_HOME: "my state" }])(
  "settings for all users call each person's own hook, wherever that lies: %j",
  async (named: { XDG_STATE_HOME?: string }) => {
    const a = await startAgent({ connected: false });
    const state = named.XDG_STATE_HOME && join(a.home, named.XDG_STATE_HOME);
    const env = { ...named, ...(state ? { XDG_STATE_HOME: state } : {}), PATH: process.env.PATH, HOME: a.home };
    const { home, hook } = placesIn(agentHome({ home: a.home, env, platform: "linux" }));
    const line = hookForAll("linux").line("claude-code", "Stop");
    const called = () => execFileSync("sh", ["-c", line], { env, encoding: "utf8" });
    expect(called()).toBe("");
    mkdirSync(home, { recursive: true });
    writeFileSync(hook, '#!/bin/sh\necho "$@"\n', { mode: 0o700 });
    expect(called()).toBe("claude-code Stop\n");
  },
);

it("is called on Windows in the form that the agent's shell takes, and is recognised in either form", async () => {
  const a = await startAgent();
  const command = hookCommand({ ...a.capture.machine, platform: "win32" }, a.capture.places);
  const inBash = (line: string) => execFileSync("/bin/bash", ["-c", line], { env: { PATH: "" }, encoding: "utf8" });
  expect(inBash(`printf '%s ' ${command.line("claude-code", "Stop")}`)).toMatch(
    /^.*node .*agent hook claude-code Stop $/,
  );
  // PowerShell takes a quoted path for a text, and runs it after an ampersand.
  expect(command.line("gemini-cli", "SessionEnd")).toMatch(
    /^& '(?:[^']|'')+' (?:'(?:[^']|'')+' )*'agent' 'hook' gemini-cli SessionEnd$/,
  );
  for (const line of [
    "C:/Users/kim/reckon.exe agent hook claude-code Stop",
    "& 'C:\\Users\\Kim Lee\\reckon.exe' 'agent' 'hook' copilot-cli agentStop",
    '"C:\\Users\\Kim Lee\\reckon-0.1.0-win32-x64.exe" "agent" "hook" cursor stop',
  ])
    expect([line, command.owns(line)]).toEqual([line, true]);
  expect(command.owns("C:/Users/kim/other.exe agent hook claude-code Stop")).toBe(false);
  const everybody = hookForAll("win32").line("claude-code", "Stop");
  expect(inBash(everybody)).toBe("");
  expect(existsSync("nul")).toBe(false);
});

it("is reported by the doctor when its program has moved, or when the hook itself is gone", async () => {
  const a = await startAgent();
  const { hook } = a.capture.places;
  const told = async () => (await examine(a.capture)).filter(({ name }) => name === "hook: Claude Code");
  mkdirSync(join(a.home, ".claude"), { recursive: true });
  installHooks(a.capture, ["claude-code"]);
  expect(await told()).toMatchObject([{ state: "ok" }]);
  // An update moved the program into another folder, whose name needs quoting.
  const gone = join(a.home, "Kim's programs 1.2", "reckon");
  writeFileSync(hook, readFileSync(hook, "utf8").replaceAll(PROGRAM, shellQuoted(gone)));
  expect(await told()).toMatchObject([{ state: "warning", message: expect.stringContaining(`starts ${gone}, and`) }]);
  installHooks(a.capture, ["claude-code"]);
  expect(await told()).toMatchObject([{ state: "ok" }]);
  rmSync(hook);
  expect(await told()).toMatchObject([{ state: "warning", message: expect.stringContaining(`calls ${hook}, which`) }]);
});
