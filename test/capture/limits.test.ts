import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { readReceipts, readStatus, runPass } from "../../src/capture/capture.ts";
import { hasRings } from "../../src/capture/sources/rings.ts";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../src/kit/clock.ts";
import { deviceOf, expectAgreement, flagsOf, heldOf, startAgent } from "../support/capture.ts";
import { startOpencode } from "../support/opencode.ts";
import { makeRepository, turn, turns } from "../support/turns.ts";

describe("an outbox that is full", () => {
  it("stops reading and says so; positions in files stay, and it goes on once the server took something", async () => {
    const a = await startAgent();
    const options = { force: true, maxOutboxBytes: 20_000 };
    await a.pass();
    await a.server.unplug();
    for (let i = 0; i < 6; i++) a.work(`s${i}`, 20);
    const { recorded, quiet } = await a.pass(options);
    expect(quiet).toBe("outbox-full");
    expect(recorded).toBeGreaterThan(0);
    expect(recorded).toBeLessThan(6 * 120);
    expect(readStatus(a.capture).isFull).toBe(true);
    expect(await a.pass(options)).toMatchObject({ recorded: 0, quiet: "outbox-full" });
    await a.server.plug();
    // All in one pass, because a full outbox is sent first.
    const after = await a.pass(options);
    expect(after).toMatchObject({ quiet: undefined, recorded: 720 - recorded });
    expectAgreement(a);
    expect(heldOf(a.server, deviceOf(a)).entries).toHaveLength(6 * 60);
    expect(readStatus(a.capture).isFull).toBe(false);
  });

  it("lets what Cursor's hooks say wait as well, up to a bound, and records it once there is room", async () => {
    const a = await startAgent();
    const options = { force: true, maxOutboxBytes: 20_000 };
    await a.pass();
    await a.server.unplug();
    a.work("s1", 30);
    const { spool } = a.capture.places;
    const note = (n: number) => join(spool, `${1_700_000_000 + n}-1-cursor-afterFileEdit`);
    await a.pass(options);
    const root = join(a.home, "shop");
    const at = a.server.clock.now() / 1000;
    for (let n = 0; n < 3; n++) {
      const said = { conversation_id: "c1", generation_id: `g${n}`, file_path: join(root, `${n}.ts`) };
      const edits = [{ old_string: "old\n", new_string: "new\n" }];
      writeFileSync(said.file_path, "new\n");
      writeFileSync(
        note(n),
        JSON.stringify({ hook_event_name: "afterFileEdit", workspace_roots: [root], edits, ...said }),
      );
      utimesSync(note(n), at, at);
    }
    // Two of these are too much.
    for (let n = 3; n < 12; n++) {
      writeFileSync(note(n), "");
      truncateSync(note(n), 8 * 1024 * 1024 - 1);
    }
    expect(await a.pass(options)).toMatchObject({ recorded: 0, quiet: "outbox-full" });
    expect(readdirSync(spool)).toHaveLength(10);
    for (let n = 3; n < 10; n++) rmSync(`${note(n)}.heard`);
    const kinds = () => readStatus(a.capture).unknown.map(({ kind, count }) => `${count} ${kind}`);
    expect(kinds()).toEqual(["2 note while the outbox was full"]);
    await a.server.plug();
    expect(await a.pass(options)).toMatchObject({ quiet: undefined });
    expect(readdirSync(spool)).toEqual([]);
    const { entries } = heldOf(a.server, deviceOf(a));
    const paths = entries.map(({ payload }) => JSON.parse(payload)).filter(({ agent }) => agent === "cursor");
    expect(paths.map(({ path }) => path)).toEqual(["0.ts", "1.ts", "2.ts"]);
    expectAgreement(a);
  });
});

it("a session that is sent several times while it is read counts as one", async () => {
  const a = await startAgent();
  for (const [i, file] of ["s1", "agent-1", "agent-2"].entries())
    a.write(file, ...turns("s1", 20, a.server.clock.now(), i * 20, join(a.home, "shop")));
  const { recorded, sessionsSent } = await a.pass({ force: true, maxOutboxBytes: 20_000 });
  expect({ recorded, sessionsSent }).toEqual({ recorded: 360, sessionsSent: 1 });
  expect(a.server.asked.filter((path) => path === "/api/agent-traces/ingest").length).toBeGreaterThan(1);
  expectAgreement(a);
});

it("a revision with more spans than go at once arrives whole", async () => {
  const a = await startAgent();
  const [prompt, answer] = turn({ session: "s1", n: 1, at: a.server.clock.now(), cwd: join(a.home, "shop") });
  const { message, ...rest } = answer as { message: object };
  const records = Array.from({ length: 6 }, (_, k) => {
    const content = Array.from({ length: 900 }, (_, i) => ({
      type: "tool_use",
      id: `t${k}-${i}`,
      name: "Read",
      input: { i },
    }));
    return { ...rest, uuid: `many-${k}`, message: { ...message, content } };
  });
  a.write("s1", prompt as object, ...records);
  await a.pass();
  expectAgreement(a);
  expect(heldOf(a.server, deviceOf(a)).spans).toHaveLength(5_402);
});

it("room that was taken once is given back when what was sent is forgotten", async () => {
  const a = await startAgent();
  const output = "lorem ipsum ".repeat(1_300);
  for (let n = 0; n < 1_200; n++)
    a.write("s1", ...turn({ n, at: a.server.clock.now(), cwd: join(a.home, "shop"), output }));
  await a.pass();
  const bytes = () => {
    a.capture.db.pragma("wal_checkpoint(TRUNCATE)");
    return statSync(a.capture.places.database).size;
  };
  expect(bytes()).toBeGreaterThan(16_000_000);
  await a.sleep(8 * DAY_MS);
  await a.pass();
  expect(bytes()).toBeLessThan(12_000_000);
  a.work("s2", 1);
  await a.pass();
  expectAgreement(a);
});

it("the newest hundred that the server refused for good are kept, for four months", async () => {
  const a = await startAgent();
  a.server.between = (path, answer) =>
    path === "/api/agent-traces/ingest"
      ? Response.json({ error: "malformed" }, { status: 400, headers: { "service-api-version": "1" } })
      : answer();
  for (let i = 100; i < 205; i++) a.work(`s${i}`, 1);
  await a.pass();
  const kept = () => a.capture.db.prepare("SELECT body FROM rejected ORDER BY id").pluck().all() as string[];
  expect([kept().length, JSON.parse(kept().at(-1) ?? "").id]).toEqual([100, "s204"]);
  await a.sleep(121 * DAY_MS);
  await a.pass();
  expect([kept(), readStatus(a.capture).rejected]).toEqual([[], 0]);
});

it("what was read four months ago is forgotten, however much was read in a day", async () => {
  const a = await startAgent();
  await a.pass();
  const { db, clock } = a.capture;
  const read = db.prepare(
    "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 60000) INSERT INTO seen SELECT randomblob(16), ? FROM n",
  );
  const left = () => db.prepare("SELECT count(*) FROM seen").pluck().get();
  read.run(clock.now());
  await a.sleep(121 * DAY_MS);
  await a.pass();
  expect(left()).toBe(10_000);
  await a.pass();
  expect(left()).toBe(0);
  read.run(clock.now() - 121 * DAY_MS);
  await a.pass();
  expect(left()).toBe(60_000);
});

it("sessions that went on today are found without a look at those of earlier years", async () => {
  const a = await startAgent();
  const { rows, transact } = a.capture;
  const long = { agent: "codex", repo: "", head: JSON.stringify({ title: "word ".repeat(2_000) }), revision: 0 };
  transact(() => {
    for (let i = 0; i < 8_000; i++) rows.putSession.run({ ...long, id: `old-${i}`, changedAt: i });
  });
  a.work("s1", 1);
  await a.pass();
  const before = process.threadCpuUsage();
  for (let i = 0; i < 10; i++) expect(rows.recentSessions.all(8_000)).toHaveLength(1);
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(50);
});

describe("a clock", () => {
  it("that goes back a year and forward again loses nothing and repeats nothing", async () => {
    const a = await startAgent();
    a.work("s1", 2);
    await a.pass();
    a.server.clock.jump(-365 * DAY_MS);
    a.work("s1", 2, 2);
    expect(await a.pass({})).toMatchObject({ recorded: 12, stopped: undefined });
    a.server.clock.jump(365 * DAY_MS + MINUTE_MS);
    a.work("s1", 2, 4);
    expect(await a.pass({})).toMatchObject({ recorded: 12 });
    expectAgreement(a);
    expect(heldOf(a.server, deviceOf(a)).entries).toHaveLength(18);
  });

  it("that was a year ahead when the machine was connected does not stop reading until then", async () => {
    const a = await startAgent();
    a.server.clock.jump(365 * DAY_MS);
    await a.connect();
    a.server.clock.jump(-365 * DAY_MS);
    await a.pass();
    a.server.clock.jump(MINUTE_MS);
    a.work("s1", 2);
    expect(await a.pass()).toMatchObject({ recorded: 12 });
    expectAgreement(a);
  });

  it("that is in 1970 for a while reads nothing from before the instant that was agreed to, and what happens then", async () => {
    const a = await startAgent({ since: DAY_MS });
    const { clock } = a.server;
    clock.jump(-100 * DAY_MS);
    a.work("old", 2);
    clock.jump(100 * DAY_MS);
    expect(await a.pass()).toMatchObject({ recorded: 0 });
    const now = clock.now();
    clock.jump(MINUTE_MS - now);
    a.work("s1", 1);
    clock.jump(10 * MINUTE_MS);
    expect(await a.pass()).toMatchObject({ recorded: 6 });
    // None of what began meanwhile is left out, however long that lasts.
    a.work("s2", 1);
    clock.jump(5 * DAY_MS);
    expect(await a.pass()).toMatchObject({ recorded: 6 });
    clock.jump(now - clock.now());
    expect(await a.pass()).toMatchObject({ recorded: 0 });
    a.work("s3", 1);
    expect(await a.pass()).toMatchObject({ recorded: 6 });
    expect(heldOf(a.server, deviceOf(a)).sessions.map(({ id }) => id)).toEqual(["s1", "s2", "s3"]);
    expectAgreement(a);
  });

  it("that goes ahead in steps of years and comes back goes on reading, and forgot nothing", async () => {
    const a = await startAgent();
    const { clock } = a.server;
    let receipts = 0;
    a.server.between = async (path, answer) => {
      const reply = await answer();
      const headers = new Headers(reply.headers);
      if (path.endsWith("/ingest")) headers.set("reckon-receipt", `signed-${++receipts}`);
      return new Response(reply.status === 304 ? null : reply.body, { status: reply.status, headers });
    };
    const now = clock.now();
    for (const [i, years] of [0, 2, 64].entries()) {
      clock.jump(now + years * 365 * DAY_MS - clock.now());
      a.work(`s${i}`, 1);
      a.advance(MINUTE_MS);
      expect(await a.pass()).toMatchObject({ recorded: 6 });
    }
    clock.jump(now + 10 * MINUTE_MS - clock.now());
    for (const session of ["s3", "s4"]) {
      a.advance(2 * 60 * MINUTE_MS);
      a.work(session, 1);
      expect(await a.pass()).toMatchObject({ recorded: 6 });
    }
    expect(readReceipts(a.capture)).toHaveLength(receipts);
    expectAgreement(a);
  });

  it.each([365 * DAY_MS, 2 * 60 * MINUTE_MS])(
    "that goes back by %i ms does not hold up sending to a server whose next try was put off",
    async (ms) => {
      const a = await startAgent();
      a.work("s1", 1);
      await a.server.unplug();
      await a.pass({});
      a.server.clock.jump(-ms);
      await a.server.plug();
      expect(await a.pass({})).toMatchObject({ stopped: undefined, waits: undefined });
      expectAgreement(a);
    },
  );

  it("that ran ahead and was put right misses nothing in a database of sessions", async () => {
    const a = await startAgent();
    const say = startOpencode(a);
    a.server.clock.jump(DAY_MS);
    say("ahead");
    await a.pass();
    a.server.clock.jump(-DAY_MS);
    say("put right");
    await a.pass();
    a.advance(DAY_MS - 10 * MINUTE_MS);
    say("nearly there");
    // Nothing is looked for until the clock is past where it had been.
    a.advance(20 * MINUTE_MS);
    await a.pass();
    expect(heldOf(a.server, deviceOf(a)).sessions.map(({ id }) => id)).toEqual(["ahead", "nearly there", "put right"]);
    expectAgreement(a);
  });

  it("that was behind for a while misses nothing that a database of sessions got meanwhile", async () => {
    const a = await startAgent();
    const say = startOpencode(a);
    say("before");
    await a.pass();
    a.server.clock.jump(-DAY_MS);
    say("behind");
    // Nothing is looked for until the clock is right again.
    a.server.clock.jump(DAY_MS + 10 * MINUTE_MS);
    await a.pass();
    expect(heldOf(a.server, deviceOf(a)).sessions.map(({ id }) => id)).toEqual(["before", "behind"]);
    expectAgreement(a);
  });

  it("that goes forward a year and back forgets nothing that it needs", async () => {
    const a = await startAgent();
    const path = a.path("s1");
    a.work("s1", 2);
    a.advance(MINUTE_MS);
    await a.pass();
    // The machine does not give up a token that seems to have expired.
    await a.server.unplug();
    a.server.clock.jump(365 * DAY_MS);
    await a.pass({});
    a.server.clock.jump(-365 * DAY_MS);
    await a.server.plug();
    // Written anew elsewhere, like a folder that was brought back from a backup.
    const text = readFileSync(path, "utf8");
    rmSync(path);
    writeFileSync(path, text);
    a.advance(2 * DAY_MS);
    a.work("s1", 1, 5);
    await a.pass();
    const { entries } = heldOf(a.server, deviceOf(a));
    expect(new Set(entries.map(({ payload }) => payload)).size).toBe(9);
    expect(entries).toHaveLength(9);
    expectAgreement(a);
  });

  it("that stood still for months, as a laptop's in a drawer, finds everything once", async () => {
    const a = await startAgent();
    a.work("s1", 2);
    await a.pass();
    a.work("s1", 2, 2);
    a.advance(50 * DAY_MS);
    a.work("s1", 2, 4);
    await a.pass({});
    expectAgreement(a);
    expect(heldOf(a.server, deviceOf(a)).entries).toHaveLength(18);
  });

  it("that passes the time for which reads are remembered does not send an old transcript again", async () => {
    const a = await startAgent();
    a.work("s1", 2);
    a.advance(MINUTE_MS);
    await a.pass();
    for (let i = 0; i < 5; i++) {
      await a.sleep(40 * DAY_MS);
      a.work("s2", 1, i);
      await a.pass();
    }
    copyFileSync(a.path("s1"), a.path("copy"));
    a.advance(SECOND_MS);
    await a.pass();
    expect(heldOf(a.server, deviceOf(a)).entries).toHaveLength(21);
    expectAgreement(a);
  });
});

describe("two passes at once", () => {
  it("are one: the second leaves its work to the first, which reads notes that come meanwhile", async () => {
    const a = await startAgent();
    a.work("s1", 1);
    let isAnswered = false;
    a.server.between = async (_, answer) => {
      if (!isAnswered) {
        isAnswered = true;
        // A hook calls while the pass runs, for what is written only then.
        a.work("s2", 1);
        writeFileSync(join(a.capture.places.spool, "1-1-claude-code-Stop"), "{}");
        expect(await runPass(a.capture, {})).toBeUndefined();
      }
      return answer();
    };
    expect(await a.pass()).toMatchObject({ recorded: 12 });
    expect(readdirSync(a.capture.places.spool)).toEqual([]);
    a.server.between = undefined;
    expectAgreement(a);
  });

  it("show all to a look while another process writes, and tell a pass that may not write what to do", async () => {
    const a = await startAgent();
    a.work("s1", 1);
    await a.pass();
    const before = readStatus(a.capture);
    // Like a process that was stopped within a transaction.
    const other = new Sqlite(a.capture.places.database);
    other.exec("BEGIN IMMEDIATE");
    a.reopen();
    expect(readStatus(a.capture)).toEqual(before);
    a.capture.db.pragma("busy_timeout = 0");
    a.work("s1", 1, 1);
    const error = await a.pass().catch((error) => a.capture.explained(error));
    expect(String(error)).toMatch(/agent\.db cannot be locked .*: end the other program .* RECKON_AGENT_HOME/);
    const foreign = Object.assign(new Error("disk I/O error"), { code: "SQLITE_IOERR_SHMMAP" });
    expect(String(a.capture.explained(foreign))).toMatch(/network drive without locks/);
    other.close();
    await a.pass();
    expectAgreement(a);
  });

  it("a note that comes during the very last request is read, too", async () => {
    const a = await startAgent();
    a.work("s1", 1);
    let rung = 0;
    a.server.between = async (path, answer) => {
      const reply = await answer();
      if (path === "/api/telemetry/heartbeat" && rung++ === 0) {
        a.work("s1", 1, 1);
        writeFileSync(join(a.capture.places.spool, "2-1-claude-code-Stop"), "{}");
      }
      return reply;
    };
    expect(await a.pass()).toMatchObject({ recorded: 12 });
    expectAgreement(a);
  });

  it("a folder that is named like a note stops no pass", async () => {
    const a = await startAgent();
    for (const name of [
      "1-1-claude-code-Stop",
      "1-1-cursor-afterFileEdit",
      "1-1-cursor-stop.heard",
      "1-1-cursor-stop.tmp",
    ])
      mkdirSync(join(a.capture.places.spool, name, "within"), { recursive: true });
    a.work("s1", 1);
    expect(hasRings(a.capture)).toBe(false);
    for (const recorded of [6, 0]) expect(await a.pass()).toMatchObject({ recorded });
    expectAgreement(a);
  });

  it("two machines, and two agents of one machine, do not mix", async () => {
    const a = await startAgent();
    const b = await startAgent({ server: a.server });
    a.work("s1", 2);
    b.work("s9", 2);
    a.work("s2", 2);
    await Promise.all([a.pass(), b.pass()]);
    expectAgreement(a);
    expectAgreement(b);
    expect(heldOf(a.server, deviceOf(a)).sessions.map(({ id }) => id)).toEqual(["s1", "s2"]);
    expect(heldOf(a.server, deviceOf(b)).sessions.map(({ id }) => id)).toEqual(["s9"]);
  });
});

it("transcripts that are gone are forgotten after four months, and not read again should they come back", async () => {
  const a = await startAgent();
  a.work("s1", 2);
  a.work("s2", 2);
  a.advance(MINUTE_MS);
  await a.pass();
  const path = a.path("s1");
  const text = readFileSync(path);
  const { atime, mtime } = statSync(path);
  rmSync(path);
  for (let i = 0; i < 3; i++) {
    await a.sleep(45 * DAY_MS);
    await a.pass();
  }
  expect(readStatus(a.capture).watched).toMatchObject([{ agent: "claude-code", transcripts: 1 }]);
  writeFileSync(path, text);
  utimesSync(path, atime, mtime);
  expect(await a.pass()).toMatchObject({ recorded: 0 });
});

it("sessions whose transcripts are gone are forgotten after four months; others go on with all of their prompts", async () => {
  const a = await startAgent();
  const [gone, stays] = ["0198c0de-0000-4000-8000-000000000001", "0198c0df-0000-4000-8000-000000000001"] as const;
  a.work(gone, 2);
  a.work(stays, 2);
  a.work("named-by-nothing", 1);
  await a.pass();
  const before = heldOf(a.server, deviceOf(a));
  for (const name of [gone, "named-by-nothing"]) rmSync(a.path(name));
  const kept = (table: string, column: string) =>
    a.capture.db.prepare(`SELECT DISTINCT ${column} FROM ${table} ORDER BY 1`).pluck().all();
  for (const days of [40, 40, 39]) {
    await a.sleep(days * DAY_MS);
    await a.pass();
  }
  expect(kept("sessions", "id")).toEqual([gone, stays, "named-by-nothing"]);
  a.advance(2 * DAY_MS);
  expect(await a.pass()).toMatchObject({ recorded: 0, stopped: undefined, sessionsSent: 0 });
  expect(kept("sessions", "id")).toEqual([stays, "named-by-nothing"]);
  expect(kept("prompts", "session")).toEqual(["named-by-nothing", stays].sort());
  a.work(stays, 1, 2);
  await a.pass();
  const after = heldOf(a.server, deviceOf(a)).sessions;
  expect(after.map(({ id }) => id)).toEqual(before.sessions.map(({ id }) => id));
  expect(after[0]).toEqual(before.sessions[0]);
  expect(JSON.parse(after[1]?.document ?? "{}").prompts).toHaveLength(3);
  expect([flagsOf(a.server), a.server.verify()]).toEqual([{ gaps: 0, rollbacks: 0 }, []]);
});

it("work trees that are gone are forgotten after a month, though not by the sessions that began in them", async () => {
  const a = await startAgent();
  const tree = join(a.home, "till");
  makeRepository(tree, "github.com/acme/till");
  a.work("s1", 1, 0, "till");
  a.work("s2", 1);
  await a.pass();
  const repos = () => a.capture.rows.roots.all().map(({ repo }) => repo);
  expect(repos()).toEqual(["github.com/acme/shop", "github.com/acme/till"]);
  rmSync(tree, { recursive: true });
  await a.sleep(31 * DAY_MS);
  a.work("s1", 1, 1, "till");
  await a.pass();
  expect(repos()).toEqual(["github.com/acme/shop"]);
  a.work("s1", 1, 2, "till");
  await a.pass();
  expect(a.server.rows("SELECT repo_key AS repo FROM trace_sessions ORDER BY external_id")).toEqual([
    { repo: "github.com/acme/till" },
    { repo: "github.com/acme/shop" },
  ]);
  expectAgreement(a);
});
