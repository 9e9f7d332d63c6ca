import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import Sqlite from "better-sqlite3";
import { expect, it, onTestFinished } from "vitest";
import { examine, importTranscripts, openCapture, readStatus, recording } from "../../src/capture/capture.ts";
import { DAY_MS, MINUTE_MS } from "../../src/kit/clock.ts";
import { reckon } from "../faults/support/process.ts";
import { deviceOf, expectAgreement, heldOf, startAgent, type TestAgent } from "../support/capture.ts";
import { startOpencode } from "../support/opencode.ts";
import { textOf, turns } from "../support/turns.ts";

const envOf = (a: TestAgent) => ({ HOME: a.home, RECKON_AGENT_HOME: a.capture.places.home });

it("an import of a folder goes on behind files that cannot be read, and names them", async () => {
  const a = await startAgent();
  await a.pass();
  const folder = join(a.home, "elsewhere");
  mkdirSync(folder);
  const said = (session: string) => textOf(turns(session, 1, a.server.clock.now(), 0, join(a.home, "shop")));
  writeFileSync(join(folder, "a.jsonl"), said("s1"));
  const damaged = zstdCompressSync(Buffer.from(said("s2").repeat(50)));
  damaged.fill(0xff, 8);
  writeFileSync(join(folder, "b.jsonl.zst"), damaged);
  writeFileSync(join(folder, "c.jsonl"), said("s3"));
  symlinkSync(join(folder, "a.jsonl"), join(a.home, "link.jsonl"));
  const progress: number[] = [];
  const results = await importTranscripts(a.capture, [folder, join(a.home, "link.jsonl")], undefined, (share) => {
    progress.push(share);
  });
  expect(
    Object.fromEntries(results.map(({ path, recorded, problem }) => [basename(path), [recorded, problem]])),
  ).toEqual({
    "a.jsonl": [6, null],
    "b.jsonl.zst": [0, expect.stringMatching(/\S/)],
    "c.jsonl": [6, null],
    "link.jsonl": [0, expect.stringMatching(/link/i)],
  });
  expect(progress.at(-1)).toBe(1);
  await a.pass();
  expect(heldOf(a.server, deviceOf(a)).sessions.map(({ id }) => id)).toEqual(["s1", "s3"]);
});

it.skipIf(process.getuid?.() === 0)("an import goes on behind a folder that is closed", async () => {
  const a = await startAgent();
  await a.pass();
  const folder = join(a.home, "elsewhere");
  mkdirSync(folder);
  mkdirSync(join(folder, "a"), { mode: 0 });
  // A folder that may not be looked into cannot be removed either.
  onTestFinished(() => chmodSync(join(folder, "a"), 0o700));
  writeFileSync(join(folder, "b.jsonl"), textOf(turns("s1", 1, a.server.clock.now(), 0, join(a.home, "shop"))));
  const results = await importTranscripts(a.capture, [folder], undefined, () => {});
  expect(results.map(({ path, recorded, problem }) => [path, recorded, problem])).toEqual([
    [join(folder, "a"), 0, "that is not permitted"],
    [join(folder, "b.jsonl"), 6, null],
  ]);
});

it("an import reads a database of opencode, once, and names one that is none", async () => {
  const a = await startAgent();
  startOpencode(a, "elsewhere")("Sell more.");
  const folder = join(a.home, "elsewhere");
  const other = join(folder, "other.db");
  new Sqlite(other).exec("CREATE TABLE session (id)").close();
  const env = { HOME: a.home, RECKON_AGENT_HOME: a.capture.places.home };
  const { code, stdout } = await reckon(["agent", "import", folder, "--json"], { env });
  const { imported, recorded, sessionsSent } = JSON.parse(stdout);
  const path = join(folder, "opencode.db");
  expect(imported).toEqual([{ path, agent: "opencode", recorded: 1, problem: null }]);
  expect([code, recorded, sessionsSent]).toEqual([0, 1, 1]);
  expect(heldOf(a.server, deviceOf(a)).sessions.map(({ id }) => id)).toEqual(["Sell more."]);
  expect(readStatus(a.capture).watched).toEqual([{ agent: "opencode", transcripts: 1, bytes: statSync(path).size }]);
  for (const name of ["opencode", undefined])
    expect(await importTranscripts(a.capture, [path, other], name, () => {})).toEqual([
      { path, agent: "opencode", recorded: 0, problem: null },
      { path: other, agent: "opencode", recorded: 0, problem: expect.stringContaining("no such table: message") },
    ]);
  expectAgreement(a);
});

it("an import of opencode's database stops where the outbox cannot grow, in the words of every other import", async () => {
  const a = await startAgent();
  await a.pass();
  startOpencode(a, "elsewhere")("Sell more.".repeat(100_000));
  const claude = join(a.home, "elsewhere", "a.jsonl");
  writeFileSync(claude, textOf(turns("s1", 300, a.server.clock.now(), 0, join(a.home, "shop"))));
  const { db } = a.capture;
  db.pragma(`max_page_count = ${db.pragma("page_count", { simple: true })}`);
  for (const path of [claude, join(a.home, "elsewhere", "opencode.db")]) {
    const error = await importTranscripts(a.capture, [path], undefined, () => {}).catch((error) => error);
    expect(String(a.capture.explained(error))).toContain(
      "cannot be written (database or disk is full): the disk is full",
    );
  }
});

it("an import says once where something stands that is no file", async () => {
  const a = await startAgent();
  await a.pass();
  const pipe = join(a.home, "pipe.jsonl");
  execFileSync("mkfifo", [pipe]);
  const { stdout } = await reckon(["agent", "import", pipe], { env: envOf(a) });
  expect(stdout).toContain(`\t${pipe}: it is not a regular file of this user's own\n`);
});

it("what a run or an import could not send stands on stderr, or in the JSON", async () => {
  const a = await startAgent();
  await a.pass();
  await a.server.revoke(deviceOf(a));
  const file = join(a.home, "a.jsonl");
  writeFileSync(file, textOf(turns("s1", 1, a.server.clock.now(), 0, join(a.home, "shop"))));
  const stderr = expect.stringMatching(/^Not everything was sent: .+ It waits here\.\n$/);
  const stdout = expect.stringMatching(/^(?:claude-code\t.*\n)?\d+ new events?, 0 sessions sent\.\n$/);
  for (const command of [["run"], ["import", file]]) {
    expect(await reckon(["agent", ...command], { env: envOf(a) })).toMatchObject({ code: 1, stdout, stderr });
    const asJson = await reckon(["agent", ...command, "--json"], { env: envOf(a) });
    expect([asJson.code, JSON.parse(asJson.stdout).stopped, asJson.stderr]).toEqual([1, expect.any(String), ""]);
  }
});

it("an import exits with 1 where something could not be read or sent", async () => {
  const a = await startAgent();
  await a.pass();
  const file = join(a.home, "a.jsonl");
  const link = join(a.home, "link.jsonl");
  writeFileSync(file, textOf(turns("s1", 1, a.server.clock.now(), 0, join(a.home, "shop"))));
  symlinkSync(file, link);
  const env = { HOME: a.home, RECKON_AGENT_HOME: a.capture.places.home };
  const run = async (path: string) => (await reckon(["agent", "import", path], { env })).code;
  const { code, stdout } = await reckon(["agent", "import", file], { env });
  const n = /^claude-code\s+(\d+)\s/m.exec(stdout)?.[1];
  expect([code, stdout.trimEnd().split("\n").at(-1)]).toEqual([0, `${n} new events, 1 session sent.`]);
  expect(Number(n)).toBeGreaterThan(0);
  expect(await run(link)).toBe(1);
  await a.server.unplug();
  writeFileSync(file, textOf(turns("s1", 1, a.server.clock.now(), 1, join(a.home, "shop"))));
  expect(await run(file)).toBe(1);
});

it('the doctor says "1 minute" and "1 kind", in the singular', async () => {
  const a = await startAgent();
  await a.pass();
  a.advance(MINUTE_MS);
  a.capture.rows.countUnknown.run("codex", "strange");
  const messages = (await examine(a.capture)).map(({ message }) => message);
  expect(messages).toContain("the last ended 1 minute ago");
  expect(messages.join("\n")).toContain("records of 1 kind are not known or too long");
  expect(messages.filter((message) => /\b1 (?:minutes|entries|sessions|days|kinds)\b/.test(message))).toEqual([]);
});

it("an import skips pauses in this machine's own transcripts, and none in those of others", async () => {
  const a = await startAgent({ since: 0 });
  await a.pass();
  a.work("s1", 1);
  a.advance(DAY_MS);
  recording.pause(a.capture, null);
  a.work("s1", 1, 1);
  const elsewhere = join(a.home, "ci.jsonl");
  writeFileSync(elsewhere, textOf(turns("ci", 1, a.server.clock.now(), 0, join(a.home, "shop"))));
  a.advance(DAY_MS);
  recording.resume(a.capture);
  a.advance(MINUTE_MS);
  const store = join(a.home, ".claude");
  symlinkSync(store, join(a.home, "link"));
  const recorded = async (path: string) => {
    const results = await importTranscripts(a.capture, [path], undefined, () => {});
    return results.map((one) => one.recorded);
  };
  expect(await recorded(join(a.home, "link"))).toEqual([6]);
  expect(await recorded(elsewhere)).toEqual([6]);
  await a.pass();
  const prompts = heldOf(a.server, deviceOf(a)).entries.map(({ payload }) => JSON.parse(payload).text);
  expect(prompts.filter(Boolean).sort()).toEqual(["Do ci-0", "Do s1-0"]);
});

it("an import of this machine's own transcripts from another place skips pauses and what was read four months ago", async () => {
  const a = await startAgent();
  a.work("s1", 1);
  await a.pass();
  recording.pause(a.capture, null);
  a.advance(MINUTE_MS);
  a.work("s1", 1, 1);
  a.advance(MINUTE_MS);
  recording.resume(a.capture);
  for (let i = 0; i < 13; i++) {
    await a.sleep(10 * DAY_MS);
    await a.pass();
  }
  a.work("s2", 1);
  await a.pass();
  // As when a home folder was copied to another disk.
  for (const session of ["s1", "s2"]) copyFileSync(a.path(session), a.path(`copy of ${session}`));
  a.work("s3", 1);
  await importTranscripts(a.capture, [dirname(a.path("s1"))], undefined, () => {});
  await a.pass();
  const prompts = heldOf(a.server, deviceOf(a)).entries.map(({ payload }) => JSON.parse(payload).text);
  expect(prompts.filter(Boolean).sort()).toEqual(["Do s1-0", "Do s2-0", "Do s3-0"]);
});

it("an import reads the first record of a file that begins with a byte order mark", async () => {
  const a = await startAgent();
  await a.pass();
  const path = join(a.home, "ci.jsonl");
  writeFileSync(path, `\ufeff${textOf(turns("s1", 1, a.server.clock.now(), 0, join(a.home, "shop")))}`);
  expect(await importTranscripts(a.capture, [path], undefined, () => {})).toMatchObject([{ recorded: 6 }]);
});

it("an import gives a fork its own part, whatever its file is called and in whatever order the two were copied", async () => {
  const a = await startAgent();
  await a.pass();
  const folder = join(a.home, "elsewhere");
  mkdirSync(folder);
  const { clock } = a.server;
  const said = turns("s1", 3, clock.now(), 0, join(a.home, "shop"));
  const copied = textOf(said).replaceAll('"sessionId":"s1"', '"sessionId":"fork"');
  const own = textOf(turns("fork", 1, clock.now() + MINUTE_MS, 8, join(a.home, "shop")));
  for (const [name, text, ageMs] of [
    ["a.jsonl", copied + own, 0],
    ["b.jsonl", textOf(said), MINUTE_MS],
  ] as const) {
    writeFileSync(join(folder, name), text);
    const at = (clock.now() - ageMs) / 1000;
    utimesSync(join(folder, name), at, at);
  }
  await importTranscripts(a.capture, [folder], undefined, () => {});
  await a.pass();
  const prompts = heldOf(a.server, deviceOf(a)).sessions.map(({ id, document }) => [
    id,
    JSON.parse(document).prompts.map(({ text }: { text: string }) => text),
  ]);
  expect(prompts).toEqual([
    ["fork", ["Do fork-8"]],
    ["s1", ["Do s1-0", "Do s1-1", "Do s1-2"]],
  ]);
});

it("an import waits for the pass that is running, which holds rows of the same sessions", async () => {
  const a = await startAgent();
  const { machine, clock, log } = a.capture;
  a.work("s1", 2);
  const copy = join(a.home, "copy.jsonl");
  writeFileSync(copy, textOf(turns("s1", 4, clock.now(), 0, join(a.home, "shop"))));
  const ended: string[] = [];
  let importing: ReturnType<typeof importTranscripts> | undefined;
  a.server.between = (path, answer) => {
    if (path === "/api/telemetry/ingest" && !importing) {
      const other = openCapture({ machine, clock, log });
      importing = importTranscripts(other, [copy], undefined, () => {}).finally(() => {
        ended.push("import");
        other.close();
      });
    }
    return answer();
  };
  await a.pass();
  ended.push("pass");
  expect(await importing).toMatchObject([{ recorded: 12, problem: null }]);
  expect(ended).toEqual(["pass", "import"]);
  await a.pass();
  expectAgreement(a);
});

it("an import waits where more is to be sent than the outbox takes, and goes on once the server has taken it", async () => {
  const a = await startAgent();
  await a.pass();
  const folder = join(a.home, "elsewhere");
  mkdirSync(folder);
  const names = ["s1", "s2", "s3"];
  for (const name of names)
    writeFileSync(
      join(folder, `${name}.jsonl`),
      textOf(turns(name, 20, a.server.clock.now(), 0, join(a.home, "shop"))),
    );
  const importWithin = (bytes: number) => importTranscripts(a.capture, [folder], undefined, () => {}, bytes);
  await a.server.unplug();
  const problem = expect.stringContaining("too much waits to be sent");
  expect(await importWithin(2_000)).toMatchObject([
    { recorded: 120, problem: null },
    { recorded: 0, problem },
    { recorded: 0, problem },
  ]);
  await a.server.plug();
  expect((await importWithin(2_000)).map((one) => one.problem)).toEqual([null, null, null]);
  await a.pass();
  expect(heldOf(a.server, deviceOf(a)).sessions.map(({ id }) => id)).toEqual(names);
});

it("an import waits within a database of sessions, too", async () => {
  const a = await startAgent();
  await a.pass();
  await a.server.unplug();
  const say = startOpencode(a, "elsewhere");
  for (let i = 0; i < 700; i++) say(`Do ${i}.`);
  const all = (most?: number) => importTranscripts(a.capture, [join(a.home, "elsewhere")], undefined, () => {}, most);
  const [first] = await all(20_000);
  expect(first).toMatchObject({ agent: "opencode", problem: expect.stringContaining("too much waits") });
  expect(first?.recorded).toBeLessThan(700);
  await a.server.plug();
  expect(await all()).toMatchObject([{ recorded: 700 - (first?.recorded ?? 0), problem: null }]);
  expect(await a.pass()).toMatchObject({ sessionsSent: 700, stopped: undefined });
  expectAgreement(a);
});

it("an import says of a transcript in UTF-16 what it is", async () => {
  const a = await startAgent();
  await a.pass();
  const path = join(a.home, "a.jsonl");
  const text = textOf(turns("s1", 1, a.server.clock.now(), 0, join(a.home, "shop")));
  writeFileSync(path, Buffer.from(`\ufeff${text}`, "utf16le"));
  for (const agent of [undefined, "claude-code"])
    expect(await importTranscripts(a.capture, [path], agent, () => {})).toMatchObject([
      { recorded: 0, problem: expect.stringContaining("UTF-16") },
    ]);
});

it("an import names the files of a transcript from Windows by its folder, as of one from anywhere else", async () => {
  const a = await startAgent();
  await a.pass();
  const file = join(a.home, "a.jsonl");
  const said = textOf(turns("s1", 1, a.server.clock.now(), 0, "/shop"));
  const there = (path: string) => JSON.stringify(`C:\\Users\\Kim\\${path}`);
  writeFileSync(
    file,
    said.replaceAll('"/shop/src/0.ts"', there("shop\\src\\0.ts")).replaceAll('"/shop"', there("shop")),
  );
  await importTranscripts(a.capture, [file], undefined, () => {});
  await a.pass();
  const [session] = heldOf(a.server, deviceOf(a)).sessions;
  expect(JSON.parse(session?.document ?? "").files).toEqual(["src/0.ts"]);
});

it("an import of which the team's tier keeps a part back exits 1, and says what it recorded", async () => {
  const a = await startAgent();
  await a.pass();
  await a.server.fault("agentTracesIngest", 402);
  const file = join(a.home, "a.jsonl");
  writeFileSync(file, textOf(turns("s1", 1, a.server.clock.now(), 0, join(a.home, "shop"))));
  const { code, stdout } = await reckon(["agent", "import", file, "--json"], { env: envOf(a) });
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 1, recorded: 6, waits: expect.stringMatching(/tier/) });
  expect(heldOf(a.server, deviceOf(a))).toMatchObject({ entries: { length: 3 }, sessions: [] });
});
