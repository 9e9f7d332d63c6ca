import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createCode } from "../../src/identity/devices/devices.ts";
import { verifyLedger } from "../../src/share/maintenance/maintenance.ts";
import { expectAgreement, startAgent, type TestServer } from "../support/capture.ts";
import { TestClock } from "../support/instance.ts";
import { makeRepository } from "../support/turns.ts";
import { rowsOf, withDirectory } from "./support/data.ts";
import { reckon, until, within } from "./support/process.ts";
import { testData, testServer } from "./support/test.ts";

/** Two rounds on a directory and one on S3; far more for whoever wants to be sure. */
const KILLS = Number(process.env.RECKON_TEST_KILLS) || 2;
const SYNC_MS = 200;
/** What a busy machine may add until the replicator has its turn. */
const SLACK_MS = 3_000;
const TIMEOUT_MS = 60_000 * (KILLS + 2);

const LITESTREAM = process.env.RECKON_TEST_LITESTREAM ?? "litestream";
const VERSITYGW = process.env.RECKON_TEST_VERSITYGW ?? "versitygw";
const lacks = (program: string, ...args: string[]) => spawnSync(program, args).status !== 0;
const noLitestream = lacks(LITESTREAM, "version");
const noVersitygw = lacks(VERSITYGW, "--version");
if (noLitestream)
  console.log("tests with Litestream are skipped: it is not installed (RECKON_TEST_LITESTREAM names it elsewhere)");
else if (noVersitygw)
  console.log("the test with Litestream and S3 is skipped: versitygw is not installed (RECKON_TEST_VERSITYGW)");

const KEYS = { access: "reckon-test", secret: "reckon-test-secret" };

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "reckon-litestream-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

// Its S3 client does not take a bundle of certificates that the environment names.
const { AWS_CA_BUNDLE: _, ...env } = process.env;

/** A process of somebody else's program, ended with the test. */
function start(program: string, args: readonly string[]) {
  const child: ChildProcess = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (text: Buffer) => {
      said += text.toString();
    });
  const ended = once(child, "close").then(([code]): unknown => code);
  const end = async () => {
    child.kill("SIGKILL");
    await within(ended, `${program} to end`);
  };
  onTestFinished(end);
  return { end, ended, said: () => said };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

/** Where a replica goes: a part of Litestream's configuration, and the folder in which it arrives. */
type Target = (name: string) => { readonly lines: readonly string[]; readonly place: string };

function directoryTarget(): Target {
  const root = folder();
  return (name) => ({ lines: ["type: file", `path: ${join(root, name)}`], place: join(root, name) });
}

async function s3Target(): Promise<Target> {
  const root = folder();
  mkdirSync(join(root, "reckon"));
  const port = await freePort();
  const { access, secret } = KEYS;
  const gateway = start(VERSITYGW, [
    "--access",
    access,
    "--secret",
    secret,
    "--port",
    `127.0.0.1:${port}`,
    "posix",
    root,
  ]);
  await until("the S3 server listens", () => gateway.said().includes("listening"));
  return (name) => ({
    place: join(root, "reckon", name),
    lines: [
      "type: s3",
      "bucket: reckon",
      `path: ${name}`,
      `endpoint: http://127.0.0.1:${port}`,
      "region: us-east-1",
      "force-path-style: true",
      `access-key-id: ${access}`,
      `secret-access-key: ${secret}`,
    ],
  });
}

const hasFiles = (place: string) =>
  existsSync(place) && readdirSync(place, { recursive: true }).some((name) => String(name).endsWith(".ltx"));

/** Replicates a data directory. */
async function replicate(directory: string, target: ReturnType<Target>) {
  const config = join(folder(), "litestream.yml");
  const lines = [...target.lines, `sync-interval: ${SYNC_MS}ms`].map((line) => `      ${line}`);
  const db = join(directory, "reckon.db");
  writeFileSync(config, ["dbs:", `  - path: ${db}`, "    replica:", ...lines, ""].join("\n"));
  const running = start(LITESTREAM, ["replicate", "-config", config]);
  await until("something is replicated", () => hasFiles(target.place)).catch((error: Error) => {
    throw new Error(`${error.message}: ${running.said()}`);
  });
  return { end: running.end, restore: [LITESTREAM, "restore", "-config", config, "-o", "{}", db] };
}

/** A device that sends entry after entry, and notes when each was acknowledged. */
function sender(url: string, token: string, from: number) {
  const acknowledged: number[] = [];
  let stopped = false;
  const send = async () => {
    while (!stopped) {
      const seq = from + acknowledged.length;
      const body = JSON.stringify({ repoKey: "load", entries: [{ seq, payload: { seq, pad: "x".repeat(500) } }] });
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const sent = await fetch(`${url}/api/telemetry/ingest`, { method: "POST", headers, body }).catch(() => undefined);
      if (sent?.status !== 200) continue;
      acknowledged.push(performance.now());
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

/** A server at one address on one data directory after the other, for a client that keeps its address. */
async function standing() {
  const data = await testData({ devices: 1 });
  const port = await freePort();
  const state = {
    directory: data.directory,
    server: await testServer(data.directory, { args: ["--port", String(port)] }),
  };
  const clock = new TestClock();
  const sync = () => clock.jump(Date.now() - clock.now());
  sync();
  const known = {
    url: state.server.url,
    clock,
    code: () => withDirectory(state.directory, async (core) => (await createCode(core, data.team.id)).code),
    rows: (sql: string, ...parameters: unknown[]) => rowsOf(state.directory, sql, ...parameters),
    // Judged apart, with all that the ledger says.
    verify: () => [],
  } as Partial<TestServer> as TestServer;
  const agent = await startAgent({ server: known });
  makeRepository(join(agent.home, "other"), "github.com/acme/other");
  return {
    agent,
    state,
    sync,
    token: data.devices[0]?.token as string,
    async goOn(directory: string) {
      state.directory = directory;
      state.server = await testServer(directory, { args: ["--port", String(port)] });
    },
  };
}

const faultsIn = (directory: string) =>
  withDirectory(directory, async (core) => verifyLedger(core, undefined, () => {}).faults);

const loadedUpTo = (directory: string): number =>
  rowsOf(directory, "SELECT max_seq AS seq FROM telemetry_streams WHERE repo_key = 'load'")[0]?.seq ?? 0;

/** Kills server and replicator at once, restores what the replica has on another directory, and lets the devices fill it up. */
async function survive(target: Target, rounds: number): Promise<void> {
  const { agent, state, sync, token, goOn } = await standing();
  for (let round = 1; round <= rounds; round++) {
    const { directory, server } = state;
    const replica = await replicate(directory, target(`round-${round}`));
    const load = sender(server.url, token, loadedUpTo(directory) + 1);
    sync();
    agent.work("s1", 2, round * 10);
    const pass = agent.pass().catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 500 + Math.random() * 2_500));
    agent.work("s2", 2, round * 10, "other");
    const second = pass.then(() => agent.pass()).catch(() => undefined);
    const killedAt = performance.now();
    await Promise.all([server.end("SIGKILL"), replica.end()]);
    await Promise.all([load.stop(), second]);

    const copy = join(folder(), "replica.db");
    const [program = "", ...args] = replica.restore.map((word) => word.replace("{}", copy));
    const restored = start(program, args);
    expect(await within(restored.ended, "the replica to be restored", 60_000), restored.said()).toBe(0);
    const next = join(folder(), "data");
    const keys = ["signing-key.pem", "ledger-key.pem"].flatMap((name) => ["--key", join(directory, name)]);
    const done = await reckon(["restore", "--from", copy, ...keys, "--data", next]);
    expect(done.code, done.stderr).toBe(0);

    const from = loadedUpTo(directory) - load.acknowledged.length + 1;
    const held = loadedUpTo(next);
    const firstLost = load.acknowledged[held + 1 - from];
    const age = firstLost === undefined ? 0 : killedAt - firstLost;
    const lost = Math.max(0, from + load.acknowledged.length - 1 - held);
    console.log(
      `round ${round}: ${load.acknowledged.length} acknowledged, ${lost} lost, the oldest ${Math.round(age)} ms old`,
    );
    expect(age).toBeLessThan(SYNC_MS + SLACK_MS);

    await goOn(next);
    const { origin } = JSON.parse((await reckon(["ledger", "checkpoint", "--data", next, "--json"])).stdout);
    expect(origin).toMatch(new RegExp(`/${round + 1}$`));
    expect(await faultsIn(next)).toEqual([]);
    const refill = sender(state.server.url, token, held + 1);
    await until("what was lost came again", () => refill.acknowledged.length > lost);
    await refill.stop();
    sync();
    agent.work("s1", 1, round * 10 + 5);
    await agent.pass();
    expectAgreement(agent);
    expect(await faultsIn(next)).toEqual([]);
  }
}

describe.skipIf(noLitestream)("a server that Litestream replicates, both killed at any instant", () => {
  it("loses no more than the last moment, proves the rest, and is filled up by its devices: a directory", {
    timeout: TIMEOUT_MS,
  }, async () => {
    await survive(directoryTarget(), KILLS);
  });

  it.skipIf(noVersitygw)("the same with S3", { timeout: TIMEOUT_MS }, async () => {
    await survive(await s3Target(), Math.ceil(KILLS / 2));
  });

  it("passes a check while it runs, and fails one once the replicator is gone", { timeout: TIMEOUT_MS }, async () => {
    const { state, token } = await standing();
    const replica = await replicate(state.directory, directoryTarget()("checked"));
    const load = sender(state.server.url, token, 1);
    await until("something was sent", () => load.acknowledged.length > 20);
    const check = ["replica", "check", "--restore-to", folder(), "--data", state.directory, "--json"];
    const good = await reckon([...check, "--max-lag", "30s", "--", ...replica.restore]);
    expect([good.code, JSON.parse(good.stdout || "null")], good.stderr).toEqual([
      0,
      expect.objectContaining({ teams: 1, behind: expect.any(Number) }),
    ]);
    await replica.end();
    const sent = load.acknowledged.length;
    await until("more was sent", () => load.acknowledged.length > sent + 5);
    await load.stop();
    const bad = await reckon([...check, "--max-lag", "0s", "--", ...replica.restore]);
    expect([bad.code, bad.stderr]).toEqual([1, expect.stringContaining("the replica stopped")]);
  });
});
