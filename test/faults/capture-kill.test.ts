import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { expectAgreement, saidBy, startAgent, startServer, type TestAgent } from "../support/capture.ts";
import { makeRepository } from "../support/turns.ts";
import { launch, within } from "./support/process.ts";

/** How often a pass is killed; RECKON_TEST_KILLS sets far more, for whoever wants to be sure. */
const KILLS = Number(process.env.RECKON_TEST_KILLS) || 24;
const noTracing = spawnSync("strace", ["-e", "inject=fsync,fdatasync:signal=KILL:when=1", "true"]).status !== 0;

/** A pass as hooks and people start it. @param under a command to run it under */
function run(a: TestAgent, under: readonly string[] = []) {
  return launch(["agent", "run", "--json"], {
    under,
    env: { HOME: a.home, XDG_STATE_HOME: "", RECKON_AGENT_HOME: a.capture.places.home },
  });
}

/** Writes what several sessions in two repositories say in a round; the same on every machine. */
function write(a: TestAgent, round: number): void {
  a.work("s1", 2, round * 10);
  a.work("s2", 1, round * 10, "other");
  a.work(`own${round % 5}`, 2, round * 10);
}

async function machine(server = startServer()): Promise<TestAgent> {
  const a = await startAgent({ server: await server });
  makeRepository(join(a.home, "other"), "github.com/acme/other");
  return a;
}

/** Ends passes by force in many rounds, then lets one through, and compares with a machine on which none was ended. */
async function compare(kill: (a: TestAgent, round: number) => Promise<boolean>): Promise<number> {
  const a = await machine();
  let killed = 0;
  for (let round = 0; round < KILLS; round++) {
    write(a, round);
    if (await kill(a, round)) killed++;
    expect(a.capture.db.pragma("quick_check", { simple: true })).toBe("ok");
  }
  const last = run(a);
  expect((await within(last.exited, "the last pass")).code, last.stderr()).toBe(0);
  expectAgreement(a);
  const b = await machine();
  for (let round = 0; round < KILLS; round++) write(b, round);
  await b.pass();
  expectAgreement(b);
  expect(saidBy(a)).toEqual(saidBy(b));
  return killed;
}

it.skipIf(noTracing)(
  "a pass killed at each of its transactions in turn loses nothing and sends nothing twice",
  { timeout: 1_800_000 },
  async () => {
    let when = 0;
    const killed = await compare(async (a) => {
      when++;
      const { exited } = run(a, [
        "strace",
        "-f",
        "-o",
        "/dev/null",
        "-e",
        `inject=fsync,fdatasync:signal=KILL:when=${when}`,
      ]);
      const { code } = await within(exited, "the pass to be killed");
      // The pass ended before it made that many: begin with the first again.
      if (code === 0) when = 0;
      return code !== 0;
    });
    expect(killed).toBeGreaterThan(KILLS / 2);
  },
);

it("a pass killed at any instant loses nothing and sends nothing twice", { timeout: 1_800_000 }, async () => {
  let longest = 1_000;
  const killed = await compare(async (a) => {
    const began = performance.now();
    const { child, exited } = run(a);
    const timer = setTimeout(() => child.kill("SIGKILL"), (0.2 + 0.8 * Math.random()) * longest);
    const { signal } = await within(exited, "the pass to end");
    clearTimeout(timer);
    if (signal === null) longest = performance.now() - began;
    return signal === "SIGKILL";
  });
  expect(killed).toBeGreaterThan(KILLS / 10);
});
