import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { seal } from "../../src/record/telemetry/seal.ts";
import { exportParquet } from "../../src/share/lake/lake.ts";
import { deliverAll } from "../support/erasure.ts";
import { newFolder } from "../support/folder.ts";
import { startInstance, startWithDevice } from "../support/instance.ts";
import { flowAll, lakeFiles, lakeRows, sendEntries } from "../support/lake.ts";
import { command } from "../support/remote.ts";

it("shows the state of the lake, and which objects are not as they were put there", async () => {
  const lake = newFolder();
  const t = await startInstance({ settings: { lake } });
  const run = (args: readonly string[], env = { RECKON_LAKE: lake }, { directory } = t) =>
    command(["lake", ...args, "--data", directory], { env });
  // A server with a lake makes it within a second.
  const before = await run(["status"], undefined, await startInstance());
  expect([before.code, before.stderr]).toEqual([1, expect.stringContaining("there is no lake here")]);
  const device = await t.device();
  await sendEntries(t, device);
  await flowAll(t);

  const status = await run(["status", "--json"]);
  expect(JSON.parse(status.stdout)).toEqual({
    ...{ place: lake, shard: expect.stringMatching(/^[0-9a-f]{10}$/), currentAt: "2026-11-21T08:00:00.000Z" },
    ...{ waiting: { blocks: 0, days: 0, removals: 0 }, failure: null },
  });
  expect((await run(["status"])).stdout).toContain("holds all up to      2026-11-21T08:00:00.000Z");
  expect(await run(["check"])).toMatchObject({ code: 0, stdout: expect.stringMatching(/missing +0\nunknown +0/) });
  const [first = ""] = lakeFiles(lake);
  // A name that somebody puts into the lake gives the terminal no orders.
  const folder = join(lake, "entries", "team=\u001b]0;mine\u0007");
  mkdirSync(folder);
  writeFileSync(join(folder, `${JSON.parse(status.stdout).shard}.parquet`), "");
  expect(await run(["check"])).toMatchObject({ code: 0, stdout: expect.stringMatching(/unknown +0/) });
  rmSync(folder, { recursive: true });
  rmSync(join(lake, first));
  expect(await run(["check"])).toMatchObject({ code: 1, stdout: expect.stringContaining(`missing: ${first}`) });
  expect(await run(["check", "--repair"])).toMatchObject({ code: 0, stdout: expect.stringContaining("repaired") });
  await flowAll(t);
  const elsewhere = await run(["check"], { RECKON_LAKE: newFolder() });
  expect([elsewhere.code, elsewhere.stderr]).toEqual([
    1,
    expect.stringContaining("set RECKON_LAKE as the server has it"),
  ]);
  const doctor = await command(["doctor", "--data", t.directory]);
  expect(doctor.stdout).toContain(`lake\tok\t${lake} holds all up to`);
});

it("is named by a restore of a database that goes on with it, as it may hold what that does not know", async () => {
  const lake = newFolder();
  const t = await startInstance({ settings: { lake } });
  const run = async (...args: string[]) => {
    const { code, stderr } = await command([...args, "--data", t.directory]);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    return stderr;
  };
  const [before, after] = [join(newFolder(), "before.db"), join(newFolder(), "after.db")];
  await run("backup", before);
  await flowAll(t);
  await run("backup", after);
  await t.instance.close();
  expect(await run("restore", after)).toContain(`The lake ${lake} may hold what came since: say "reckon lake check`);
  expect(await run("restore", before)).not.toContain("lake");
  const copied = await command(["restore", "--from", after, "--data", t.directory, "--json"]);
  expect(JSON.parse(copied.stdout)).toMatchObject({ lake });
});

it.each([
  ["begun", () => 1],
  // The entries are written last.
  ["nearly written", (files: number) => files - 4],
])("exports each entry once, although it is sealed when the tables are %s", async (_, from) => {
  const t = await startInstance();
  const { core } = t.instance;
  const devices = [await t.device(), await t.device(), await t.device()];
  for (const device of devices)
    for (const repoKey of ["github.com/acme/shop", "github.com/acme/till"])
      await sendEntries(t, device, { count: 200, repoKey });
  // A stream that was quiet for a day is sealed.
  t.clock.advance(2 * 86_400_000);
  const before = await exportParquet(core, join(newFolder(), "before"), undefined, () => {}, COMMAND_LINE);
  const done: string[] = [];
  const sealAll = async () => {
    await seal(core, 100);
    done.push("sealed");
  };
  let sealing: Promise<void> | undefined;
  const onFile = (files: number) => {
    if (files === from(before.files)) sealing = sealAll();
  };
  const out = join(newFolder(), "all");
  await exportParquet(core, out, undefined, onFile, COMMAND_LINE);
  done.push("exported");
  await sealing;
  expect(done).toEqual(["sealed", "exported"]);
  expect(t.rows("SELECT count(*) AS n FROM telemetry_segments WHERE block_id IS NULL")).toEqual([{ n: 0 }]);
  const entries = await lakeRows(out, "entries");
  const names = entries.map(({ device, repo, seq }) => `${device} ${repo} ${seq}`);
  expect([entries.length, new Set(names).size]).toEqual([1_200, 1_200]);
});

it("exports payloads with U+FFFD for halves of surrogate pairs, at which DuckDB ends a query of all", async () => {
  const { t, token } = await startWithDevice();
  const body = String.raw`{"repoKey":"shop","entries":[{"seq":1,"payload":{"text":"cut \ud83d here \ud83d\ude00","n":1.50}}]}`;
  const headers = { "content-type": "application/json" };
  expect((await t.post("/api/telemetry/ingest", { token, body, headers })).status).toBe(200);
  const out = join(newFolder(), "all");
  await exportParquet(t.instance.core, out, undefined, () => {}, COMMAND_LINE);
  expect((await lakeRows(out, "entries")).map(({ payload }) => payload)).toEqual([
    String.raw`{"text":"cut \ufffd here \ud83d\ude00","n":1.50}`,
  ]);
});

it("exports sessions at the prices that their spend is exported at, and nothing while those have a mistake", async () => {
  const { t, device } = await startWithDevice();
  await sendEntries(t, device, { count: 60 });
  const sessions = Array.from({ length: 5 }, (_, i) => ({ id: `work-${i}`, outcome: "ok", spans: [] }));
  await t.post("/api/agent-traces/ingest", {
    token: device.token,
    json: { repoKey: "github.com/acme/shop", sessions },
  });
  await t.close();
  const prices = (models: object) =>
    writeFileSync(join(t.directory, "prices.json"), JSON.stringify({ date: "2026-11-21", models }));
  const run = (out: string) => command(["export", "--format", "parquet", "--out", out, "--data", t.directory]);
  const nanos = async (out: string, table: string) =>
    (await lakeRows(out, table)).reduce((sum, row) => sum + Math.round(Number(row.cost_usd ?? 0) * 1e9), 0);
  const used = { input: 1_000, output: 1_000 };
  for (const models of [{}, { "claude-opus-4-6": used, "gpt-5-mini": used }]) {
    prices(models);
    const out = join(newFolder(), "all");
    expect(await run(out)).toMatchObject({ code: 0 });
    const spent = await nanos(out, "spend");
    expect([spent > 0, await nanos(out, "sessions")]).toEqual([true, spent]);
  }
  prices({ "gpt-5-mini": { input: -1, output: 1 } });
  const out = join(newFolder(), "all");
  expect(await run(out)).toMatchObject({ code: 1, stderr: expect.stringContaining("prices.json") });
  expect(existsSync(out)).toBe(false);
});

it("exports the tables of a team or of all once, what is not sealed included", async () => {
  const t = await startInstance();
  const [shop, till] = [await t.device(), await t.device()];
  await deliverAll(t, shop, "github.com/acme/shop", "alpha");
  await sendEntries(t, shop, { repoKey: "github.com/acme/app" });
  await deliverAll(t, till, "github.com/acme/till", "beta");
  await t.instance.settle();
  const out = join(newFolder(), "acme");
  const run = (...args: string[]) => command(["export", "--format", "parquet", "--data", t.directory, ...args]);
  const done = await run("--team", shop.team.name, "--out", out, "--json");
  expect([done.code, done.stderr]).toEqual([0, ""]);
  expect(JSON.parse(done.stdout)).toMatchObject({ directory: out, files: lakeFiles(out).length });
  const entries = await lakeRows(out, "entries");
  expect(entries).toHaveLength(1_103);
  expect(new Set(entries.map(({ entry }) => entry)).size).toBe(1_103);
  expect(entries.every(({ team }) => team === shop.team.id)).toBe(true);
  expect(await lakeRows(out, "sessions")).toMatchObject([{ session: "alpha-s1", result: "succeeded" }]);
  expect(await lakeRows(out, "errors")).toMatchObject([{ title: "alpha loop", date: new Date("2026-11-20") }]);

  const all = join(newFolder(), "all");
  expect((await run("--out", all)).code).toBe(0);
  expect(new Set((await lakeRows(all, "sessions")).map(({ team }) => team))).toEqual(
    new Set([shop.team.id, till.team.id]),
  );
  expect(await run("--out", all)).toMatchObject({ code: 1, stderr: expect.stringContaining("exists already") });
  expect(await run("--out", `${all}2`, "--repo", "x")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--team"),
  });
  const told = t.rows("SELECT target_label AS label FROM audit_events WHERE action = 'lake.exported' ORDER BY id");
  expect(told).toEqual([{ label: shop.team.name }, { label: "all teams" }]);
});
