import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { constants, getPriority } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { passAndLookAgain, watchOn } from "../../src/capture/background.ts";
import { disconnectMachine, openCapture, readStatus } from "../../src/capture/capture.ts";
import { expectAgreement, startAgent } from "../support/capture.ts";
import { MAIN } from "../support/program.ts";

it("what an agent writes after its hook rang is found, though the running pass was at its last look", async () => {
  const a = await startAgent();
  a.work("s1", 1);
  let written = 1;
  let isWriting = false;
  let hasRung = false;
  a.server.between = async (path, answer) => {
    const reply = await answer();
    if (path !== "/api/telemetry/ingest") return reply;
    // Between the first pass and its only look.
    if (!isWriting) setTimeout(() => a.work("s1", 1, written++), 200);
    isWriting = true;
    if (written === 2 && !hasRung) {
      hasRung = true;
      // During the last look the agent's last hook rings. Its own pass gives up, and only then the end of the turn is written.
      writeFileSync(join(a.capture.places.spool, "1-1-claude-code-Stop"), "");
      setTimeout(() => a.work("s1", 1, written++), 150);
    }
    return reply;
  };
  await passAndLookAgain(a.capture, [400]);
  expect(written).toBe(3);
  expectAgreement(a);
});

it("a watch goes on once a full disk has room again, and ends where the machine was disconnected", async () => {
  const a = await startAgent();
  await a.pass();
  const { db } = a.capture;
  const pages = db.pragma("page_count", { simple: true }) as number;
  const failures: string[] = [];
  const stop = new AbortController();
  a.work("s1", 200);
  // As if the disk had no room for one more page.
  db.pragma(`max_page_count = ${pages}`);
  const passes: number[] = [];
  const watching = watchOn(
    a.capture,
    10,
    stop.signal,
    ({ recorded }) => {
      passes.push(recorded);
      stop.abort();
    },
    (error) => {
      failures.push((error as Error).message);
      db.pragma("max_page_count = 1000000");
    },
  );
  await watching;
  expect(failures).toEqual([expect.stringMatching(/agent\.db cannot be written .*: the disk is full/)]);
  expect(passes).toEqual([expect.any(Number)]);
  expectAgreement(a);
  await disconnectMachine(openCapture(a.capture), true);
  await expect(
    watchOn(
      a.capture,
      10,
      new AbortController().signal,
      () => {},
      () => {},
    ),
  ).rejects.toThrow("disconnected");
});

it("a watch goes on reading while the server is left in peace, however long it asked for that", async () => {
  const a = await startAgent();
  await a.server.fault("telemetryIngest", 503, 1, { retryAfter: 86_400 });
  a.work("s1", 1);
  const stop = new AbortController();
  const passes: (string | undefined)[] = [];
  await watchOn(
    a.capture,
    10,
    stop.signal,
    ({ recorded, stopped }) => {
      if (recorded > 0) passes.push(stopped);
      if (passes.length === 2) stop.abort();
      else if (stopped !== undefined) a.work("s2", 1);
    },
    () => {},
  );
  expect(passes).toEqual([expect.any(String), undefined]);
  expect(readStatus(a.capture)).toMatchObject({ sessions: 2, waiting: { sessions: 2, entries: 6 } });
  expect(a.server.rows("SELECT * FROM trace_sessions")).toEqual([]);
});

it.each(["--background", "--watch"])("a pass with %s lets other programs have the processor first", async (how) => {
  const a = await startAgent();
  const env = { PATH: process.env.PATH, HOME: a.home, RECKON_AGENT_HOME: a.capture.places.home };
  const priority = await new Promise((resolve) => {
    const pass = spawn(process.execPath, [MAIN, "agent", "run", how], { env, stdio: "ignore" });
    a.server.between = async (_, answer) => {
      resolve(getPriority(pass.pid));
      const ended = once(pass, "exit");
      pass.kill("SIGKILL");
      await ended;
      return answer();
    };
  });
  expect(priority).toBe(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL));
});
