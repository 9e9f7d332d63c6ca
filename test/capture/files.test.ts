import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chownSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AGENT_FOLDERS } from "../../src/capture/agent-folders.ts";
import { readStatus } from "../../src/capture/capture.ts";
import { examine } from "../../src/capture/doctor.ts";
import { READ_BY } from "../../src/capture/prune.ts";
import { writeSetting } from "../../src/capture/state.ts";
import { MINUTE_MS, SECOND_MS } from "../../src/kit/clock.ts";
import { deviceOf, expectAgreement, heldOf, saidBy, startAgent, type TestAgent } from "../support/capture.ts";
import { textOf, turn, turns } from "../support/turns.ts";

const workOf = (a: TestAgent, session: string, count: number, from = 0) =>
  turns(session, count, a.server.clock.now() + from * SECOND_MS, from, join(a.home, "shop"));
const entriesOf = (a: TestAgent) =>
  a.capture.db.prepare("SELECT payload FROM entries ORDER BY seq").pluck().all() as string[];
const promptsOf = (a: TestAgent) =>
  entriesOf(a)
    .map((payload) => JSON.parse(payload))
    .filter(({ type }) => type === "prompt")
    .map(({ text }) => text as string);

describe("a transcript", () => {
  it("that was truncated and goes on is read anew, and nothing is recorded twice", async () => {
    const a = await startAgent();
    const path = a.write("s1", ...workOf(a, "s1", 4));
    await a.pass();
    truncateSync(path, 100);
    expect(await a.pass()).toMatchObject({ recorded: 0 });
    writeFileSync(path, textOf([...workOf(a, "s1", 2), ...workOf(a, "s1", 1, 9)]));
    expect(await a.pass()).toMatchObject({ recorded: 6 });
    expectAgreement(a);
    expect(promptsOf(a)).toEqual(["Do s1-0", "Do s1-1", "Do s1-2", "Do s1-3", "Do s1-9"]);
  });

  it("of a sub-agent belongs to its session's repository, also where it was copied and ended first", async () => {
    const a = await startAgent();
    const path = a.write("s1", ...workOf(a, "s1", 1));
    const work = workOf(a, "s1-x", 1).map((record) => ({ ...record, isSidechain: true, sessionId: "s1" }));
    const copy = a.write("s1/subagents/agent-x", ...work);
    const end = a.server.clock.now() / SECOND_MS;
    utimesSync(copy, end - 120, end - 120);
    utimesSync(path, end - 60, end - 60);
    await a.pass();
    const { entries, sessions } = heldOf(a.server, deviceOf(a));
    expect([...new Set(entries.map(({ repo }) => repo))]).toEqual(["github.com/acme/shop"]);
    expect(JSON.parse(sessions[0]?.document ?? "").files).toEqual(["src/0.ts"]);
    expectAgreement(a);
  });

  it("that was replaced by another of its name, longer, shorter or as long, is read from its beginning", async () => {
    const a = await startAgent();
    const path = a.write("s1", ...workOf(a, "s1", 3));
    await a.pass();
    for (const [n, count] of [
      [2, 5],
      [3, 2],
      [4, 2],
    ] as const) {
      writeFileSync(`${path}.new`, textOf(workOf(a, `s${n}`, count)));
      renameSync(`${path}.new`, path);
      expect(await a.pass()).toMatchObject({ recorded: 6 * count });
    }
    expectAgreement(a);
  });

  it("that was rewritten in place at the same length is read anew", async () => {
    const a = await startAgent();
    const path = a.write("s1", ...workOf(a, "s1", 3));
    await a.pass();
    a.advance(SECOND_MS);
    const other = readFileSync(path, "utf8").replaceAll("s1-2", "s1-8");
    writeFileSync(path, other);
    utimesSync(path, a.server.clock.now() / 1000, a.server.clock.now() / 1000);
    expect(await a.pass()).toMatchObject({ recorded: 6 });
    expect(promptsOf(a)).toContain("Do s1-8");
    expectAgreement(a);
  });

  it("is read up to a last line that has no end yet; a record that is whole without one is taken, once", async () => {
    const a = await startAgent();
    const text = textOf(workOf(a, "s1", 2));
    // Cut behind a brace that does not end the record.
    const cut = text.lastIndexOf("}", text.length - 3) + 1;
    a.write("s1", text.slice(0, cut));
    expect(await a.pass()).toMatchObject({ recorded: 11 });
    a.write("s1", text.slice(cut, -1));
    expect(await a.pass()).toMatchObject({ recorded: 1 });
    a.write("s1", "\n", ...workOf(a, "s1", 1, 2));
    expect(await a.pass()).toMatchObject({ recorded: 6 });
    expect(readStatus(a.capture).unknown).toEqual([]);
    expectAgreement(a);
    expect(promptsOf(a)).toEqual(["Do s1-0", "Do s1-1", "Do s1-2"]);
  });

  it("with records that no reader knows has them counted, until another version of the program reads", async () => {
    const a = await startAgent();
    a.write("s1", ...workOf(a, "s1", 1), { type: "dream" });
    await a.pass();
    a.write("s1", { type: "dream" });
    await a.pass();
    expect(readStatus(a.capture).unknown).toEqual([{ agent: "claude-code", kind: "dream", count: 2 }]);
    writeSetting(a.capture, READ_BY, "0.0.1");
    await a.pass();
    expect(readStatus(a.capture).unknown).toEqual([]);
    a.write("s1", { type: "vision" });
    await a.pass();
    expect(readStatus(a.capture).unknown).toEqual([{ agent: "claude-code", kind: "vision", count: 1 }]);
  });

  it("goes on where it was read to after its disk was mounted under another number", async () => {
    const a = await startAgent();
    a.write("s1", ...workOf(a, "s1", 1), { type: "dream" });
    const archived = join(AGENT_FOLDERS.codex(a.capture.machine), "archived_sessions", "rollout-x.jsonl.zst");
    mkdirSync(dirname(archived), { recursive: true });
    writeFileSync(archived, zstdCompressSync('{"type":"dream"}\n'));
    await a.pass();
    const devices = () => a.capture.db.prepare("SELECT device FROM sources").pluck().all();
    const [before, unknown] = [devices(), readStatus(a.capture).unknown];
    expect([before, unknown]).toEqual([
      [expect.any(Number), before[0]],
      [expect.any(Object), expect.any(Object)],
    ]);
    a.capture.db.exec("UPDATE sources SET device = device + 1");
    await a.pass();
    expect([devices(), readStatus(a.capture).unknown]).toEqual([before, unknown]);
    a.write("s1", ...workOf(a, "s1", 1, 2));
    expect(await a.pass()).toMatchObject({ recorded: 6 });
    expectAgreement(a);
  });

  it("with a line of 20 MB, NUL bytes or bytes that are not UTF-8 is read around them", async () => {
    const a = await startAgent();
    const path = a.write("s1", ...workOf(a, "s1", 1));
    appendFileSync(path, `{"type":"user","x":"${"y".repeat(20 * 1024 * 1024)}"}\n`);
    appendFileSync(path, Buffer.concat([Buffer.alloc(4096), Buffer.from("\n")]));
    appendFileSync(path, Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0x0a]));
    const odd = turn({ session: "s1", n: 5, at: a.server.clock.now(), cwd: join(a.home, "shop"), prompt: "odd PLACE" });
    appendFileSync(
      path,
      Buffer.concat(
        textOf(odd)
          .split("PLACE")
          .flatMap((part, i) => [...(i ? [Buffer.from([0xc3, 0x28])] : []), Buffer.from(part)]),
      ),
    );
    expect(await a.pass()).toMatchObject({ recorded: 12, unreadable: [] });
    expect(readStatus(a.capture).unknown).toEqual([
      { agent: "claude-code", kind: "unreadable", count: 2 },
      { agent: "claude-code", kind: "record over 8 MiB", count: 1 },
    ]);
    expect(promptsOf(a)).toEqual(["Do s1-0", "odd \ufffd("]);
    expectAgreement(a);
    expect(await a.pass()).toMatchObject({ recorded: 0 });
  });

  it("that is a link is not followed, and one that is a pipe is not waited for", async () => {
    const a = await startAgent();
    const secret = join(a.home, "elsewhere.jsonl");
    writeFileSync(secret, textOf(workOf(a, "s9", 2)));
    const path = a.write("s1", ...workOf(a, "s1", 1));
    symlinkSync(secret, a.path("s2"));
    execFileSync("mkfifo", [a.path("s3")]);
    symlinkSync(dirname(secret), join(dirname(dirname(path)), "linked"));
    expect(await a.pass()).toMatchObject({ recorded: 6, unreadable: [] });
    expect(promptsOf(a)).toEqual(["Do s1-0"]);
    // A file that becomes a link or a pipe after it was looked at.
    rmSync(path);
    symlinkSync(secret, path);
    expect(await a.pass()).toMatchObject({ recorded: 0 });
    rmSync(path);
    execFileSync("mkfifo", [path]);
    expect(await a.pass()).toMatchObject({ recorded: 0 });
    expectAgreement(a);
  });

  it("is read though pipes lie where its agent, and others, keep their other files", async () => {
    const a = await startAgent();
    a.write("s1", ...workOf(a, "s1", 1));
    const [claude, gemini, opencode] = (["claude-code", "gemini-cli", "opencode"] as const).map((agent) =>
      AGENT_FOLDERS[agent](a.capture.machine),
    ) as [string, string, string];
    for (const path of [join(claude, "settings.json"), join(gemini, "projects.json"), join(opencode, "opencode.db")]) {
      mkdirSync(dirname(path), { recursive: true });
      rmSync(path, { force: true });
      execFileSync("mkfifo", [path]);
    }
    expect(await a.pass()).toMatchObject({ recorded: 6, unreadable: [] });
    expect((await examine(a.capture)).map(({ name }) => name)).toContain("passes");
    expectAgreement(a);
  });

  it.skipIf(process.getuid?.() !== 0)("of another owner is left alone and named", async () => {
    const a = await startAgent();
    const path = a.write("s1", ...workOf(a, "s1", 1));
    chownSync(path, 65534, 65534);
    a.write("s2", ...workOf(a, "s2", 1));
    expect(await a.pass()).toMatchObject({
      recorded: 6,
      unreadable: [{ path, reason: "it is not a regular file of this user's own" }],
    });
    expect(readStatus(a.capture).unreadable).toEqual([{ path, reason: "it is not a regular file of this user's own" }]);
    chownSync(path, process.getuid?.() ?? 0, process.getgid?.() ?? 0);
    expect(await a.pass()).toMatchObject({ recorded: 6, unreadable: [] });
    expect(readStatus(a.capture).unreadable).toEqual([]);
    expectAgreement(a);
  });

  it("whose folder cannot be read is named by that folder, with the reason", async () => {
    const a = await startAgent();
    const projects = dirname(dirname(a.path("s1")));
    mkdirSync(dirname(projects));
    writeFileSync(projects, "");
    const unreadable = [{ path: projects, reason: "a part of its path is no directory" }];
    expect(await a.pass()).toMatchObject({ recorded: 0, unreadable });
    expect(await examine(a.capture)).toContainEqual({
      name: "transcript",
      state: "warning",
      message: `${projects} cannot be read: a part of its path is no directory`,
    });
    rmSync(projects);
    a.write("s1", ...workOf(a, "s1", 1));
    expect(await a.pass()).toMatchObject({ recorded: 6, unreadable: [] });
    expectAgreement(a);
  });

  it("that is gone when it is opened holds up no others", async () => {
    const a = await startAgent();
    for (let i = 0; i < 5; i++) a.write(`s${i}`, ...workOf(a, `s${i}`, 1));
    const result = a.pass({
      force: true,
      onProgress: () => {
        // After the first was read.
        rmSync(a.path("s3"), { force: true });
      },
    });
    expect(await result).toMatchObject({ recorded: 24, unreadable: [] });
    expectAgreement(a);
  });

  it("that is compressed with Zstandard adds nothing that was read before, and is read as far as it is undamaged", async () => {
    const a = await startAgent();
    const folder = join(a.home, ".codex/archived_sessions");
    mkdirSync(folder, { recursive: true });
    const id = "019ed50c-2fb3-7002-a384-360bea6e7f04";
    const at = new Date(a.server.clock.now()).toISOString();
    const record = (ordinal: number, type: string, payload: object) => ({ timestamp: at, ordinal, type, payload });
    const text = textOf([
      record(0, "session_meta", { id, cwd: join(a.home, "shop"), cli_version: "0.100.0", timestamp: at }),
      record(1, "event_msg", { type: "user_message", message: "Do it" }),
      record(2, "response_item", {
        type: "function_call",
        name: "exec_command",
        call_id: "c1",
        arguments: '{"cmd":"ls"}',
      }),
    ]);
    const path = join(folder, `rollout-2026-11-21T08-00-00-${id}.jsonl`);
    writeFileSync(path, text);
    const { recorded } = await a.pass();
    expect(recorded).toBeGreaterThan(0);
    writeFileSync(`${path}.zst`, zstdCompressSync(text));
    rmSync(path);
    expect(await a.pass()).toMatchObject({ recorded: 0, unreadable: [] });
    // The last line may lack its end.
    const more = JSON.stringify(record(3, "event_msg", { type: "user_message", message: "And that" }));
    writeFileSync(`${path}.zst`, zstdCompressSync(text + more));
    expect((await a.pass())?.recorded).toBeGreaterThan(0);
    writeFileSync(`${path}.zst`, zstdCompressSync(text).subarray(0, 60));
    expect((await a.pass()).unreadable).toHaveLength(1);
    expectAgreement(a);
  });

  it("without record numbers is continued where reading stopped, and read anew where it was written anew", async () => {
    const a = await startAgent();
    const folder = join(a.home, ".codex/sessions");
    mkdirSync(folder, { recursive: true });
    const id = "019ed50c-2fb3-7002-a384-360bea6e7f04";
    const timestamp = new Date(a.server.clock.now()).toISOString();
    const record = (type: string, payload: object) => textOf([{ timestamp, type, payload }]);
    const asked = record("event_msg", { type: "user_message", message: "Go on." });
    const text = record("session_meta", { id, cwd: join(a.home, "shop"), cli_version: "0.100.0", timestamp }) + asked;
    const path = join(folder, `rollout-2026-11-21T08-00-00-${id}.jsonl`);
    writeFileSync(path, text);
    await a.pass();
    writeFileSync(path, text + asked);
    await a.pass();
    expect(promptsOf(a)).toEqual(["Go on.", "Go on."]);
    writeFileSync(path, text);
    expect(await a.pass()).toMatchObject({ recorded: 0 });
  });

  it("that was copied by a fork, moved or linked a second time adds nothing", async () => {
    const a = await startAgent();
    const path = a.write("s1", ...workOf(a, "s1", 3));
    await a.pass();
    const fork = textOf(workOf(a, "s1", 3)).replaceAll('"sessionId":"s1"', '"sessionId":"s2"');
    a.write("s2", fork, ...turns("s2", 1, a.server.clock.now(), 8, join(a.home, "shop")));
    expect(await a.pass()).toMatchObject({ recorded: 6 });
    copyFileSync(path, a.path("s3"));
    linkSync(path, a.path("s4"));
    renameSync(path, a.path("s5"));
    expect(await a.pass()).toMatchObject({ recorded: 0 });
    expectAgreement(a);
  });

  it("of a fork's fork names its direct origin, which the agent writes on the copied records alone", async () => {
    const a = await startAgent();
    const [first, second, third] = ["s1", "s2", "s3"].map((session, i) => workOf(a, session, 1, i * 10));
    const copied = (records: readonly object[] = [], to: string, from: string) =>
      records.map((record) => ({ ...record, sessionId: to, requestSessionId: from }));
    a.write("s1", ...(first ?? []));
    a.write("s2", ...copied(first, "s2", "s1"), ...(second ?? []));
    await a.pass();
    a.write("s3", ...copied(first, "s3", "s1"), ...(third ?? []));
    await a.pass();
    a.write("s3", ...copied(second, "s3", "s2"));
    await a.pass();
    await a.pass();
    a.write("s3", ...workOf(a, "s3", 1, 90));
    await a.pass();
    const parents = heldOf(a.server, deviceOf(a)).sessions.map(({ id, document }) => [
      id,
      JSON.parse(document).parentId,
    ]);
    expect(parents).toEqual([
      ["s1", undefined],
      ["s2", "s1"],
      ["s3", "s2"],
    ]);
  });

  it("that was forked keeps its own part where both files were copied to another machine, in either order", async () => {
    for (const names of [
      ["s1", "s2"],
      ["s2", "s1"],
    ]) {
      const a = await startAgent();
      const said = workOf(a, "s1", 3);
      const texts: Record<string, string> = {
        s1: textOf(said),
        s2: textOf(said).replaceAll('"sessionId":"s1"', '"sessionId":"s2"') + textOf(workOf(a, "s2", 1, 60)),
      };
      const born = names.map((name) => {
        a.write(name, texts[name] as string);
        return statSync(a.path(name)).birthtimeMs;
      });
      // File systems count times of birth in steps of some milliseconds.
      for (const [, name = ""] = names; born[1] === born[0]; born[1] = statSync(a.path(name)).birthtimeMs) {
        rmSync(a.path(name));
        a.write(name, texts[name] as string);
      }
      const ended = (a.server.clock.now() - MINUTE_MS) / 1000;
      utimesSync(a.path("s1"), ended, ended);
      await a.pass();
      const { sessions } = heldOf(a.server, deviceOf(a));
      expect(sessions.map(({ id, document }) => [id, JSON.parse(document).prompts.length])).toEqual([
        ["s1", 3],
        ["s2", 1],
      ]);
    }
  });
});

describe("reading in pieces", () => {
  it("at every line and at any bytes gives what reading at once does", async () => {
    const whole = await startAgent();
    const text = textOf(workOf(whole, "s1", 6));
    whole.write("s1", text);
    await whole.pass();
    const expected = saidBy(whole);
    const bytes = Buffer.from(text);
    const ends = [...text.matchAll(/\n/g)].map(({ index }) => Buffer.byteLength(text.slice(0, index + 1)));
    const inPieces = async (cuts: readonly number[]) => {
      // The quota does not let so many machines connect within an hour.
      whole.advance(60 * MINUTE_MS);
      const a = await startAgent({ server: whole.server });
      const own = Buffer.from(text.replaceAll(whole.home, a.home));
      let from = 0;
      for (const cut of [
        ...cuts.map((at) => Math.round((at * own.length) / bytes.length)).sort((x, y) => x - y),
        own.length,
      ]) {
        if (cut <= from) continue;
        mkdirSync(dirname(a.path("s1")), { recursive: true });
        appendFileSync(a.path("s1"), own.subarray(from, cut));
        from = cut;
        await a.pass();
      }
      expect(saidBy(a)).toEqual(expected);
    };
    await inPieces(ends);
    await fc.assert(fc.asyncProperty(fc.array(fc.nat(bytes.length - 1), { minLength: 1, maxLength: 12 }), inPieces), {
      numRuns: 15,
    });
  });
});
