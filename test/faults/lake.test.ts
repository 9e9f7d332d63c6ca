import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { assignDevice } from "../../src/identity/devices/devices.ts";
import { setRole } from "../../src/identity/members/members.ts";
import { createUser } from "../../src/identity/sign-in/sign-in.ts";
import { countEntries } from "../../src/insight/defects/defects.ts";
import { sumSessions } from "../../src/insight/sessions/sessions.ts";
import { catchUpSpend, spendReport } from "../../src/insight/spend/spend.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { carryOut, requestErasure, resolveTarget } from "../../src/share/erasure/erasure.ts";
import { checkLake } from "../../src/share/lake/check.ts";
import { lakeStatus } from "../../src/share/lake/lake.ts";
import { newFolder } from "../support/folder.ts";
import { freePort } from "../support/free-port.ts";
import { startInstance, TestClock } from "../support/instance.ts";
import { flowAll, lakeText, sendEntries } from "../support/lake.ts";
import { type Data, rowsOf, withDirectory } from "./support/data.ts";
import { type Running, reckon, until, within } from "./support/process.ts";
import { testData, testServer } from "./support/test.ts";

/** How often servers and the S3 service are killed; far more often for whoever wants to be sure. */
const KILLS = Number(process.env.RECKON_TEST_KILLS) || 4;
const SHARDS = 3;
const TIMEOUT_MS = 180_000 + 30_000 * KILLS;

const VERSITYGW = process.env.RECKON_TEST_VERSITYGW ?? "versitygw";
const PYTHON = process.env.RECKON_TEST_PYTHON ?? "python3";
const lacks = (program: string, ...args: string[]) => spawnSync(program, args).status !== 0;
const noVersitygw = lacks(VERSITYGW, "--version");
if (noVersitygw)
  console.log("the lake on S3 is tested in a directory alone: versitygw is not installed (RECKON_TEST_VERSITYGW)");
const noEngines = lacks(PYTHON, "-c", "import duckdb, chdb");
if (noEngines)
  console.log(
    "DuckDB and ClickHouse's engine are not asked: RECKON_TEST_PYTHON names no Python that has duckdb and chdb",
  );

const KEYS = { access: "reckon-test", secret: "reckon-test-secret" };

/** Where three installations write to, and how it is killed and started again. */
interface Lake {
  readonly env: Record<string, string>;
  /** Where the objects arrive as files. */
  readonly files: string;
  start(): Promise<void>;
  kill(): Promise<void>;
}

function directoryLake(): Lake {
  const files = newFolder();
  return { env: { RECKON_LAKE: files }, files, start: async () => {}, kill: async () => {} };
}

async function s3Lake() {
  const root = newFolder();
  mkdirSync(join(root, "company"));
  const port = await freePort();
  const host = `127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  const kill = async () => {
    if (!child) return;
    const ended = once(child, "close");
    child.kill("SIGKILL");
    await within(ended, "the S3 service to end");
    child = undefined;
  };
  onTestFinished(kill);
  const settings = {
    lake: "s3://company/reckon",
    lakeEndpoint: `http://${host}`,
    lakeAccessKeyId: KEYS.access,
    lakeSecretAccessKey: KEYS.secret,
    outbound: `${host},+private`,
  };
  return {
    settings,
    env: {
      RECKON_LAKE: settings.lake,
      RECKON_LAKE_ENDPOINT: settings.lakeEndpoint,
      RECKON_LAKE_ACCESS_KEY_ID: KEYS.access,
      RECKON_LAKE_SECRET_ACCESS_KEY: KEYS.secret,
      RECKON_OUTBOUND: settings.outbound,
    },
    files: join(root, "company", "reckon"),
    kill,
    async start() {
      const args = ["--access", KEYS.access, "--secret", KEYS.secret, "--port", host, "posix", root];
      const started = spawn(VERSITYGW, args, { stdio: "ignore" });
      child = started;
      await until("the S3 service answers", () =>
        fetch(`http://${host}/`).then(
          () => true,
          () => false,
        ),
      );
    },
  };
}

/** An installation: its data, its server, and what its devices sent so far. */
interface Shard {
  readonly data: Data;
  server: Running;
  seq: number;
  version: number;
}

const post = async ({ data, server }: Shard, device: number, path: string, json: object): Promise<boolean> => {
  const headers = {
    authorization: `Bearer ${data.devices[device]?.token}`,
    "content-type": "application/json",
  };
  const sent = await fetch(`${server.url}${path}`, { method: "POST", headers, body: JSON.stringify(json) }).catch(
    () => undefined,
  );
  return sent?.status === 200;
};

/** Sends a batch of every kind for each device; what was not acknowledged is sent again the next time. */
async function work(shard: Shard, name: string): Promise<void> {
  const { data } = shard;
  for (const device of data.devices.keys()) {
    const text = `${name}-${device}`;
    const entries = Array.from({ length: 400 }, (_, i) => {
      const seq = shard.seq + i;
      return {
        seq,
        clientTimestamp: new Date(Date.UTC(2026, 10, 1 + (seq % 20), 9)).toISOString(),
        payload: {
          type: "reply",
          text: `${text} works on ${seq}`,
          sessionId: `${text}-${seq % 40}`,
          model: ["claude-opus-4-6", "gpt-5-mini", "acme-local-70b"][seq % 3],
          message: {
            id: `msg_${text}_${seq}`,
            usage: { input_tokens: 11 + (seq % 97), output_tokens: 5 + (seq % 13) },
          },
          ...(seq % 9 === 0 ? { costUsd: 0.000_123 } : {}),
        },
      };
    });
    const sessions = Array.from({ length: 10 }, (_, i) => {
      const id = `${text}-${(shard.seq + i) % 40}`;
      const startedAt = new Date(Date.UTC(2026, 10, 1 + (i % 20), 8)).toISOString();
      const outcome = i % 3 === 0 ? "failed" : "completed";
      return { id, outcome, startedAt, prompts: [{ at: startedAt, text: `${text} asks` }], spans: [] };
    });
    const errors = Array.from({ length: 3 + (shard.version % 4) }, (_, i) => {
      const day = String(1 + ((i * 3) % 20)).padStart(2, "0");
      return `## 2026-11-${day} ${text} broke ${i}\n\nIt did.\n\n**Status:** ${i % 2 ? "open" : "fixed"}\n`;
    });
    const repoKey = `github.com/acme/${text}`;
    const brain = {
      repoKey,
      version: shard.version,
      files: [{ path: ".claude/brain/errors.md", content: errors.join("\n") }],
    };
    await until(`${text} delivers`, async () => {
      const all = await Promise.all([
        post(shard, device, "/api/telemetry/ingest", { repoKey, entries }),
        post(shard, device, "/api/agent-traces/ingest", { repoKey, sessions }),
        post(shard, device, "/api/brain/ingest", brain),
      ]);
      return all.every(Boolean);
    });
  }
  shard.seq += 400;
  shard.version++;
}

/** The sums that pages show, over all installations. */
async function pages(shards: readonly Shard[]) {
  const sums = { calls: 0, input: 0, output: 0, unpriced: 0, sessions: 0, failed: 0, errors: 0, open: 0 };
  let [usd, reported] = [0, 0];
  for (const { data } of shards)
    await withDirectory(data.directory, async (core) => {
      await catchUpSpend(core);
      const period = { from: Date.UTC(2000, 0), to: Date.UTC(2050, 0) };
      const { total } = spendReport(core, data.team.id, { ...period, by: "model" });
      const sessions = await sumSessions(core, data.team.id);
      const errors = await countEntries(core, data.team.id);
      sums.calls += total.usages;
      sums.input += total.inputTokens;
      sums.output += total.outputTokens;
      sums.unpriced += total.unpricedTokens;
      usd += total.usd ?? 0;
      reported += total.reportedUsd ?? 0;
      sums.sessions += sessions.sessions;
      sums.failed += sessions.failed;
      sums.errors += errors.entries;
      sums.open += errors.open;
    });
  return { ...sums, usd: usd.toFixed(9), reported: reported.toFixed(9) };
}

/** Asks both engines the questions of docs/lake.md, each in its own words. */
const QUESTIONS = `
import json, sys, duckdb, chdb
lake, s3 = sys.argv[1], json.loads(sys.argv[2])
files = sys.argv[3]
if s3:
    try:
        duckdb.sql("LOAD httpfs")
        duckdb.sql(f"""CREATE SECRET reckon (TYPE s3, KEY_ID '{s3["key"]}', SECRET '{s3["secret"]}', REGION 'us-east-1', ENDPOINT '{s3["host"]}', URL_STYLE 'path', USE_SSL false)""")
        files = lake
    except Exception: print("DuckDB has no httpfs here: it reads the files themselves")
def duck(table): return f"read_parquet('{files}/{table}/**/*.parquet', hive_partitioning = true)"
def house(table):
    if s3: return f"s3('http://{s3['host']}/company/reckon/{table}/**/*.parquet', '{s3['key']}', '{s3['secret']}', 'Parquet')"
    return f"file('{lake}/{table}/**/*.parquet', Parquet)"
SPEND = "SELECT sum(calls), sum(input_tokens), sum(output_tokens), sum(unpriced_tokens), round(sum(cost_usd), 9), round(sum(reported_usd), 9) FROM "
def sessions(count): return f"SELECT count(*), {count}(result = 'failed') FROM "
def errors(count): return f"SELECT count(*), {count}(open) FROM "
ENTRIES = "SELECT count(*), count(DISTINCT (shard, entry)), count(DISTINCT (shard, block)) FROM "
out = {}
ask = lambda sql: duckdb.sql(sql).fetchall()[0]
where = " WHERE kind = 'error'"
out["duckdb"] = [*ask(SPEND + duck("spend")), *ask(sessions("count_if") + duck("sessions")), *ask(errors("count_if") + duck("errors") + where), *ask(ENTRIES + duck("entries"))]
ask = lambda sql: json.loads(str(chdb.query(sql, "JSONCompactEachRow")).strip())
out["chdb"] = [*ask(SPEND + house("spend")), *ask(sessions("countIf") + house("sessions")), *ask(errors("countIf") + house("errors") + where), *ask(ENTRIES + house("entries"))]
print(json.dumps(out, default=str))
`;

function askEngines(lake: Lake) {
  const endpoint = lake.env.RECKON_LAKE_ENDPOINT;
  const s3 = endpoint && { host: new URL(endpoint).host, key: KEYS.access, secret: KEYS.secret };
  const place = s3 ? "s3://company/reckon" : lake.files;
  const asked = spawnSync(PYTHON, ["-c", QUESTIONS, place, JSON.stringify(s3 ?? null), lake.files], {
    encoding: "utf8",
  });
  if (asked.status !== 0) throw new Error(asked.stderr);
  if (asked.stdout.includes("no httpfs")) console.log("DuckDB has no httpfs here: it read the files themselves");
  const [, last = ""] = /(\{.*\})\s*$/.exec(asked.stdout) ?? [];
  const answers = JSON.parse(last) as Record<string, (string | number)[]>;
  return Object.entries(answers).map(([engine, row]) => {
    const [calls, input, output, unpriced, usd, reported, sessions, failed, errors, open, entries, distinct, blocks] =
      row.map(Number);
    const money = { usd: Number(usd).toFixed(9), reported: Number(reported).toFixed(9) };
    return {
      engine,
      entries,
      distinct,
      blocks,
      sums: { calls, input, output, unpriced, sessions, failed, errors, open, ...money },
    };
  });
}

/** How much is sealed and not erased, over all installations. */
const sealedIn = (shards: readonly Shard[]) => {
  const of = (sql: string): number =>
    shards.reduce((sum, { data }) => sum + Number(rowsOf(data.directory, sql)[0]?.n ?? 0), 0);
  const kept = "stream_id IN (SELECT id FROM telemetry_streams WHERE entry_count > 0)";
  return {
    blocks: of(`SELECT count(*) AS n FROM telemetry_blocks WHERE ${kept}`),
    entries: of(`SELECT sum(entries) AS n FROM telemetry_segments WHERE block_id IS NOT NULL AND ${kept}`),
  };
};

/** Whether more than a block of any stream waits to be sealed. */
const isSealing = ({ data }: Shard): boolean =>
  rowsOf(
    data.directory,
    "SELECT 1 FROM telemetry_segments WHERE block_id IS NULL GROUP BY stream_id HAVING sum(entries) > 1000",
  ).length > 0;

/** Waits until an installation has all in the lake that it had when this was asked. */
async function current({ data }: Shard): Promise<void> {
  const since = Date.now();
  await until(
    "all is in the lake",
    () =>
      withDirectory(data.directory, async (core) => {
        const status = lakeStatus(core);
        const waits = Object.values(status?.waiting ?? { any: 1 }).some((count) => count > 0);
        return !waits && (status?.currentAt ?? 0) > since;
      }),
    60_000,
  );
}

async function survive(lake: Lake): Promise<void> {
  await lake.start();
  const env = {
    ...lake.env,
    RECKON_LAKE_EVERY: "1s",
    RECKON_LIMIT_TELEMETRY: "off",
    RECKON_LIMIT_BRAIN: "off",
    RECKON_LIMIT_TRACES: "off",
  };
  const shards: Shard[] = [];
  for (let i = 0; i < SHARDS; i++) {
    const data = await testData({ devices: 2 });
    shards.push({ data, server: await testServer(data.directory, { env }), seq: 1, version: 1 });
  }
  const [first] = shards as [Shard, ...Shard[]];
  await withDirectory(first.data.directory, async (core) => {
    const password = "a long enough pass phrase 7!";
    await createUser(core, { email: "ada@example.com", name: "Ada", password }, COMMAND_LINE);
    await setRole(core, first.data.team.id, "ada@example.com", "member", COMMAND_LINE);
    await assignDevice(core, first.data.devices[0]?.deviceId as string, "ada@example.com", COMMAND_LINE);
  });

  for (let round = 0; round < KILLS; round++) {
    const working = shards.map((shard, i) => work(shard, i === 0 ? "zebrafish" : `shard${i}`));
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 1_500));
    const victim = shards[round % SHARDS] as Shard;
    if (round % 2 === 0) await lake.kill();
    await victim.server.end("SIGKILL");
    if (round % 2 === 0) await lake.start();
    victim.server = await testServer(victim.data.directory, { env });
    await Promise.all(working);
  }
  // These deliveries fill the last blocks.
  for (let i = 0; i < 2; i++)
    await Promise.all(shards.map((shard, n) => work(shard, n === 0 ? "zebrafish" : `shard${n}`)));

  const judge = async () => {
    await until("blocks are made", () => !shards.some(isSealing), 60_000);
    for (const shard of shards) await current(shard);
    const { blocks, entries } = sealedIn(shards);
    const sums = await pages(shards);
    if (!noEngines)
      for (const { engine, ...found } of askEngines(lake))
        expect({ engine, ...found }).toEqual({ engine, entries, distinct: entries, blocks, sums });
    for (const { data } of shards) {
      const checked = await reckon(["lake", "check", "--data", data.directory, "--json"], { env: lake.env });
      expect(JSON.parse(checked.stdout), checked.stderr).toMatchObject({ missing: [], unknown: [] });
    }
    return sums;
  };
  const before = await judge();
  expect(before.sessions).toBeGreaterThan(0);
  expect((await lakeText(lake.files)).includes("zebrafish-0")).toBe(true);

  const erased = await reckon([
    ...["erase", "--person", "ada@example.com", "--reason", "asked for", "--yes", "--data", first.data.directory],
  ]);
  expect([erased.code, erased.stderr.includes("the lake ")], erased.stderr).toEqual([0, true]);
  const after = await judge();
  expect(after.calls).toBeLessThan(before.calls);
  const text = await lakeText(lake.files);
  expect(["zebrafish-0", "ada@example.com"].filter((word) => text.includes(word))).toEqual([]);
  expect(text.includes("zebrafish-1")).toBe(true);
  for (const { server } of shards) expect((await server.end("SIGTERM")).code).toBe(0);
}

it(
  "keeps every block once in a directory that three installations write to, through kills of each",
  { timeout: TIMEOUT_MS },
  () => survive(directoryLake()),
);

it.skipIf(noVersitygw)(
  "keeps every block once on S3 that three installations write to, through kills of each and of S3",
  { timeout: TIMEOUT_MS },
  async () => survive(await s3Lake()),
);

/** An instance whose lake is on S3. */
async function onS3() {
  const lake = await s3Lake();
  await lake.start();
  const clock = new TestClock();
  // The service judges how old a signature is.
  clock.jump(Date.now() - clock.now());
  const t = await startInstance({ settings: lake.settings, clock });
  return { lake, t };
}

it.skipIf(noVersitygw)(
  "takes no object for removed while the bucket's disk is not mounted, and removes objects once it is",
  { timeout: TIMEOUT_MS },
  async () => {
    const { lake, t } = await onS3();
    const { core } = t.instance;
    const device = await t.device();
    await sendEntries(t, device, { repoKey: "shop", text: "marigold" });
    await sendEntries(t, device, { repoKey: "till", text: "crocus" });
    await flowAll(t);
    const bucket = dirname(lake.files);
    renameSync(bucket, `${bucket}-away`);
    await carryOut(core, await requestErasure(core, resolveTarget(core, { repo: "shop" }), "asked for", COMMAND_LINE));
    await expect(flowAll(t)).rejects.toThrow("404 NoSuchBucket");
    expect(lakeStatus(core)?.waiting.removals).toBeGreaterThan(0);
    renameSync(`${bucket}-away`, bucket);
    expect(await lakeText(lake.files)).toContain("marigold");
    await flowAll(t);
    const left = await lakeText(lake.files);
    expect([left.includes("marigold"), left.includes("crocus")]).toEqual([false, true]);
  },
);

it.skipIf(noVersitygw)(
  "checks a bucket with objects of others whose names cannot be parts of an address",
  { timeout: TIMEOUT_MS },
  async () => {
    const { lake, t } = await onS3();
    await sendEntries(t, await t.device());
    await flowAll(t);
    writeFileSync(join(lake.files, "spend", "100% of it & more.txt"), "somebody else's");
    expect(await checkLake(t.instance.core, true)).toMatchObject({ missing: [], unknown: [] });
  },
);
