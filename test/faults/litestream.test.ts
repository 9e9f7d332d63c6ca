import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createCode } from "../../src/identity/devices/devices.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { deviceOf, expectAgreement, heldOf, startAgent, type TestAgent, type TestServer } from "../support/capture.ts";
import { newFolder } from "../support/folder.ts";
import { freePort } from "../support/free-port.ts";
import { TestClock } from "../support/instance.ts";
import { ledgerFaults } from "../support/ledger-faults.ts";
import { makeRepository } from "../support/turns.ts";
import { rowsOf, withDirectory } from "./support/data.ts";
import { reckon, until, within } from "./support/process.ts";
import {
  directoryPlace,
  type Fate,
  INTERVAL_MS,
  LOOK_MS,
  noLitestream,
  noVersitygw,
  type Place,
  replicate,
  s3Place,
  start,
} from "./support/replicas.ts";
import { testData, testServer } from "./support/test.ts";

/** Rounds with a directory and with S3, each; ten and more for whoever wants to be sure. */
const ROUNDS = Number(process.env.RECKON_TEST_LITESTREAM_ROUNDS) || 2;
/** What a busy machine may add until the replicator has its turn and the place has stored what it brings. */
const SLACK_MS = 2_000;
const TIMEOUT_MS = 60_000 * (ROUNDS + 2);

const LOAD = "load";
const BATCH = 2;
const payloadOf = (seq: number) => ({ seq, pad: "x".repeat(500) });

/** A device that sends batch after batch, and notes of each number when it was acknowledged. */
function sender(url: string, token: string, from: number) {
  const acknowledged = new Map<number, number>();
  let stopped = false;
  let next = from;
  const send = async () => {
    while (!stopped) {
      const entries = Array.from({ length: BATCH }, (_, i) => ({ seq: next + i, payload: payloadOf(next + i) }));
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const body = JSON.stringify({ repoKey: LOAD, entries });
      const sent = await fetch(`${url}/api/telemetry/ingest`, { method: "POST", headers, body }).catch(() => undefined);
      if (sent?.status !== 200) continue;
      for (const { seq } of entries) acknowledged.set(seq, Date.now());
      next += BATCH;
    }
  };
  const done = send();
  return {
    acknowledged,
    async stop() {
      stopped = true;
      await done;
    },
  };
}

const PASSPHRASE = "a passphrase of some length";

/** Takes all that comes: a quota would soon keep the load from being acknowledged. */
const serveAt = (directory: string, port: number) =>
  testServer(directory, {
    args: ["--port", String(port)],
    env: { RECKON_LIMIT_TELEMETRY: "off", RECKON_LIMIT_TRACES: "off" },
  });

/** A server that keeps its address while it moves from one data directory to the next, for clients that keep the address. */
async function standing() {
  const data = await testData({ devices: 3 });
  const port = await freePort();
  const state = {
    directory: data.directory,
    server: await serveAt(data.directory, port),
  };
  const clock = new TestClock();
  const sync = () => clock.jump(Date.now() - clock.now());
  sync();
  const known = {
    url: state.server.url,
    clock,
    code: () =>
      withDirectory(state.directory, async (core) => (await createCode(core, data.team.id, COMMAND_LINE)).code),
    rows: (sql: string, ...parameters: unknown[]) => rowsOf(state.directory, sql, ...parameters),
    // The ledger is verified apart, with all that it says.
    verify: () => [],
  } as Partial<TestServer> as TestServer;
  const agent = await startAgent({ server: known });
  makeRepository(join(agent.home, "other"), "github.com/acme/other");
  const wrapped = await reckon(["key", "wrap", "--passphrase-stdin", "--data", data.directory], { input: PASSPHRASE });
  expect(wrapped.code, wrapped.stderr).toBe(0);
  return {
    agent,
    state,
    sync,
    devices: data.devices,
    async goOn(directory: string) {
      state.directory = directory;
      state.server = await serveAt(directory, port);
    },
  };
}

const faultsIn = (directory: string) => withDirectory(directory, async (core) => ledgerFaults(core));

/** The highest number of a device's load that a directory holds. */
const heldLoad = (directory: string, deviceId: string): number =>
  rowsOf(directory, "SELECT max_seq FROM telemetry_streams WHERE device_id = ? AND repo_key = ?", deviceId, LOAD)[0]
    ?.max_seq ?? 0;

/** The payloads of that load, in the order of their numbers. */
const payloadsOf = (directory: string, deviceId: string): unknown[] =>
  rowsOf(
    directory,
    `SELECT e.payload FROM telemetry_streams s JOIN telemetry_entries e ON e.stream_id = s.id
     WHERE s.device_id = ? AND s.repo_key = ? ORDER BY e.seq`,
    deviceId,
    LOAD,
  ).map(({ payload }) => JSON.parse(payload));

/** A machine on which agents work and the capture client runs, over and over. */
function working(agent: TestAgent, sync: () => void, round: number) {
  let stopped = false;
  const work = async () => {
    for (let n = 0; !stopped; n++) {
      sync();
      agent.work(`round-${round}-${n % 2}`, 1, n, n % 2 === 0 ? "shop" : "other");
      await agent.pass().catch(() => undefined);
    }
  };
  const done = work();
  return async () => {
    stopped = true;
    await done;
  };
}

interface Sent {
  readonly name: string;
  /** When it was acknowledged. */
  readonly at: number;
}

/** Each entry and span that the capture client has sent. */
const sentBy = (agent: TestAgent): Sent[] =>
  agent.capture.db
    .prepare<[], Sent>(
      `SELECT e.repo || ' ' || e.seq AS name, e.sent_at AS at FROM entries e JOIN streams s USING (repo) WHERE e.seq <= s.acknowledged
       UNION ALL SELECT p.session || ' ' || p.id, s.sent_at FROM spans p JOIN sessions s ON s.id = p.session WHERE p.revision <= s.sent`,
    )
    .all();

/** The sent entries and spans that a directory lacks. */
function lostOf(agent: TestAgent, directory: string): Sent[] {
  const server = { ...agent.server, rows: (sql: string, ...rest: unknown[]) => rowsOf(directory, sql, ...rest) };
  const { entries, spans } = heldOf(server, deviceOf(agent));
  const held = new Set([
    ...entries.map(({ repo, seq }) => `${repo} ${seq}`),
    ...spans.map(({ session, id }) => `${session} ${id}`),
  ]);
  return sentBy(agent).filter(({ name }) => !held.has(name));
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const random = (least: number, most: number) => least + Math.random() * (most - least);

/** Lets a place meet its fate. @returns for how long before now nothing need have reached it, in milliseconds */
async function meetFate(place: Place, fate: Fate): Promise<() => number> {
  await pause(random(500, 4_500));
  if (fate !== "killed before" && fate !== "killed, started again") return () => 0;
  const gone = Date.now();
  await place.kill();
  await pause(random(100, 1_500));
  if (fate === "killed before") return () => Date.now() - gone;
  await place.mend();
  const away = Date.now() - gone;
  await pause(random(100, 6_000));
  // The replicator's pauses double while nothing answers, so it may resume as late again as the outage lasted; its client's retries add some.
  return () => Math.min(Date.now() - gone, 2 * away + 2_000);
}

/** Restores a replica as docs/replicate.md has it: with the keys' files or, every other round, those within it. */
async function restoreFrom(restore: readonly string[], old: string, round: number) {
  const copy = join(newFolder(), "replica.db");
  const next = join(newFolder(), "data");
  const [program = "", ...args] = restore.map((word) => word.replace("{}", copy));
  const began = Date.now();
  const restored = start(program, args);
  expect(await within(restored.ended, "the replica to be restored", 60_000), restored.said()).toBe(0);
  const fetched = Date.now();
  const keys =
    round % 2 === 1
      ? ["signing-key.pem", "ledger-key.pem"].flatMap((name) => ["--key", join(old, name)])
      : ["--passphrase-stdin"];
  const input = round % 2 === 1 ? {} : { input: PASSPHRASE };
  const done = await reckon(["restore", "--from", copy, ...keys, "--data", next], input);
  expect(done.code, done.stderr).toBe(0);
  return { next, fetchMs: fetched - began, restoreMs: Date.now() - fetched };
}

/** Kills server and replicator at once, restores what the replica has on another directory, and lets the devices fill it up. */
async function survive(place: Place): Promise<void> {
  const { agent, devices, state, sync, goOn } = await standing();
  console.log(
    "| round | place | acknowledged | lost | oldest of it | litestream restore + reckon restore | sent again |",
  );
  for (let round = 1; round <= ROUNDS; round++) {
    const { directory, server } = state;
    const fate = place.fate(round);
    const replica = await replicate(directory, place.at(`round-${round}`));
    const loads = devices.map((device) => ({
      device,
      ...sender(server.url, device.token, heldLoad(directory, device.deviceId) + 1),
    }));
    const before = sentBy(agent).length;
    const stopWork = working(agent, sync, round);
    const away = await meetFate(place, fate);
    const killedAt = Date.now();
    const excused = away();
    const kills = [() => server.end("SIGKILL"), () => replica.end()];
    if (fate === "killed with them") kills.push(() => place.kill());
    await Promise.all(kills.sort(() => Math.random() - 0.5).map((kill) => kill()));
    await Promise.all([stopWork(), ...loads.map(({ stop }) => stop())]);
    const sent = loads.reduce((sum, { acknowledged }) => sum + acknowledged.size, sentBy(agent).length - before);
    await place.mend();

    const { next, fetchMs, restoreMs } = await restoreFrom(replica.restore, directory, round);
    const lostBy = loads.map(({ device, acknowledged }) => {
      const held = heldLoad(next, device.deviceId);
      return [...acknowledged].filter(([seq]) => seq > held).map(([, at]) => at);
    });
    const lost = [...lostBy.flat(), ...lostOf(agent, next).map(({ at }) => at)];
    const age = Math.max(0, ...lost.map((at) => killedAt - at));
    expect(age, `${fate}, ${excused} ms of it excused`).toBeLessThan(INTERVAL_MS + LOOK_MS + SLACK_MS + excused);

    await goOn(next);
    const { origin } = JSON.parse((await reckon(["ledger", "checkpoint", "--data", next, "--json"])).stdout);
    expect(origin).toMatch(new RegExp(`/${round + 1}-[0-9a-f]{8}$`));
    expect(await faultsIn(next)).toEqual([]);
    for (const [i, { device, acknowledged }] of loads.entries()) {
      const refill = sender(state.server.url, device.token, heldLoad(next, device.deviceId) + 1);
      await until("what was lost came again", () => refill.acknowledged.size >= (lostBy[i] as number[]).length);
      await refill.stop();
      const held = payloadsOf(next, device.deviceId);
      expect(held.length).toBeGreaterThanOrEqual(Math.max(0, ...acknowledged.keys()));
      expect(held).toEqual(held.map((_, k) => payloadOf(k + 1)));
    }
    sync();
    await agent.pass();
    expectAgreement(agent);
    expect(lostOf(agent, next)).toEqual([]);
    expect(await faultsIn(next)).toEqual([]);
    const what = fate === "stays" ? place.name : `${place.name}, ${fate}`;
    const excuse = excused > 0 ? ` (${excused} ms without the place)` : "";
    console.log(
      `| ${round} | ${what} | ${sent} | ${lost.length} | ${age} ms${excuse} | ${fetchMs} + ${restoreMs} ms | all |`,
    );
  }
}

describe.skipIf(noLitestream)("a server that Litestream replicates, both killed at any instant", () => {
  it("loses no more than the last moment, proves the rest, and is filled up by its devices: a directory", {
    timeout: TIMEOUT_MS,
  }, async () => {
    await survive(directoryPlace());
  });

  it.skipIf(noVersitygw)("the same with S3, whose server is killed as well", { timeout: TIMEOUT_MS }, async () => {
    await survive(await s3Place());
  });

  it("passes a check while it runs, and fails one once the replicator is gone", { timeout: TIMEOUT_MS }, async () => {
    const { state, devices } = await standing();
    const replica = await replicate(state.directory, directoryPlace().at("checked"));
    const load = sender(state.server.url, devices[0]?.token as string, 1);
    await until("something was sent", () => load.acknowledged.size > 20);
    const check = ["replica", "check", "--restore-to", newFolder(), "--data", state.directory, "--json"];
    const good = await reckon([...check, "--max-lag", "30s", "--", ...replica.restore]);
    expect([good.code, JSON.parse(good.stdout || "null")], good.stderr).toEqual([
      0,
      expect.objectContaining({ teams: 1, behind: expect.any(Number) }),
    ]);
    await replica.end();
    const sent = load.acknowledged.size;
    await until("more was sent", () => load.acknowledged.size > sent + 5);
    await load.stop();
    const bad = await reckon([...check, "--max-lag", "0s", "--", ...replica.restore]);
    expect([bad.code, bad.stderr]).toEqual([1, expect.stringContaining("the replica stopped")]);
  });
});
