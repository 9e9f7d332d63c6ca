import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { expect, it, onTestFinished, vi } from "vitest";
import { countEntries } from "../../../src/insight/defects/defects.ts";
import { sumSessions } from "../../../src/insight/sessions/sessions.ts";
import { spendReport } from "../../../src/insight/spend/spend.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { databasePath } from "../../../src/platform/store/store.ts";
import { carryOut, planErasure, requestErasure, resolveTarget } from "../../../src/share/erasure/erasure.ts";
import { runRetention } from "../../../src/share/erasure/nightly.ts";
import { setRetention } from "../../../src/share/erasure/retention.ts";
import { checkLake } from "../../../src/share/lake/check.ts";
import { flow } from "../../../src/share/lake/flow.ts";
import { rows } from "../../../src/share/lake/rows.ts";
import { lakeStatus } from "../../../src/share/lake/status.ts";
import { deliverAll, filesWith, personWith } from "../../support/erasure.ts";
import { newFolder } from "../../support/folder.ts";
import { startInstance, type TestInstance } from "../../support/instance.ts";
import {
  flowAll,
  type LakeRow,
  lakeFiles,
  lakeRows,
  lakeText,
  sendEntries,
  startOnBucket,
} from "../../support/lake.ts";

const DAY = 86_400_000;

async function started(settings: Record<string, string> = {}) {
  const lake = newFolder();
  const t = await startInstance({ settings: { lake, ...settings } });
  return { t, lake };
}

const sum = (rows: readonly LakeRow[], column: string) =>
  rows.reduce((total, row) => total + Number(row[column] ?? 0), 0);

/** What pages say of a team, over all time. */
async function pagesOf({ instance: { core } }: TestInstance, teamId: string) {
  const report = spendReport(core, teamId, { from: Date.UTC(1900, 0), to: Date.UTC(3000, 0), by: "model" });
  return { spend: report.total, sessions: await sumSessions(core, teamId), errors: await countEntries(core, teamId) };
}

async function expectAsPages(t: TestInstance, lake: string, teamId: string) {
  const { spend, sessions, errors } = await pagesOf(t, teamId);
  const of = async (table: string) => (await lakeRows(lake, table)).filter(({ team }) => team === teamId);
  const used = await of("spend");
  expect(sum(used, "cost_usd")).toBeCloseTo(spend.usd ?? 0, 9);
  expect(sum(used, "reported_usd")).toBeCloseTo(spend.reportedUsd ?? 0, 9);
  expect([
    sum(used, "calls"),
    sum(used, "input_tokens"),
    sum(used, "output_tokens"),
    sum(used, "cache_write_tokens"),
    sum(used, "cache_read_tokens"),
    sum(used, "unpriced_tokens"),
  ]).toEqual([
    spend.usages,
    spend.inputTokens,
    spend.outputTokens,
    spend.cacheWriteTokens,
    spend.cacheReadTokens,
    spend.unpricedTokens,
  ]);
  const worked = await of("sessions");
  expect(worked).toHaveLength(sessions.sessions);
  expect(worked.filter(({ result }) => result === "succeeded")).toHaveLength(sessions.succeeded);
  expect(sum(worked, "cost_usd")).toBeCloseTo(sessions.usd ?? 0, 9);
  const noted = (await of("errors")).filter(({ kind }) => kind === "error");
  expect([noted.length, noted.filter(({ open }) => open).length]).toEqual([errors.entries, errors.open]);
}

it("brings sealed entries, spend, sessions and errors to a directory, equal to what pages say", async () => {
  const { t, lake } = await started();
  const device = await t.device();
  const other = await t.device();
  await personWith(t, device, "ada@example.com");
  await deliverAll(t, device, "github.com/acme/shop", "alpha");
  await deliverAll(t, other, "github.com/acme/till", "beta");
  await sendEntries(t, device, { repoKey: "github.com/acme/app" });
  await flowAll(t);
  for (const { id } of [device.team, other.team]) await expectAsPages(t, lake, id);

  const entries = await lakeRows(lake, "entries");
  const sealed = t.rows("SELECT coalesce(sum(entries), 0) AS n FROM telemetry_segments WHERE block_id IS NOT NULL");
  expect(entries).toHaveLength(sealed[0].n);
  expect(entries.length).toBeGreaterThanOrEqual(1_000);
  expect(new Set(entries.map(({ entry }) => entry)).size).toBe(entries.length);
  const [first] = entries;
  expect(first).toMatchObject({
    ...{ team: device.team.id, day: "2026-11-21", device: device.deviceId, repo: "github.com/acme/app" },
    ...{ kind: "reply", session: "work-1", model: "gpt-5-mini", input_tokens: 8n, output_tokens: 3n, seq: 1n },
  });
  expect(first?.at).toEqual(new Date("2026-11-19T09:00:01.000Z"));
  expect(JSON.parse(first?.payload)).toMatchObject({ text: "work 1" });
  expect((await lakeRows(lake, "devices")).find(({ device: id }) => id === device.deviceId)).toMatchObject({
    ...{ email: "ada@example.com", team: device.team.id, team_name: device.team.name },
  });
  expect(
    lakeFiles(lake).every((path) => /^\w+\/team=team_\w+\/(?:day=\d{4}-\d\d-\d\d\/)?[\w-]+\.parquet$/.test(path)),
  ).toBe(true);
  expect(lakeStatus(t.instance.core)).toMatchObject({
    ...{ place: lake, currentAt: t.clock.now(), failure: null },
    waiting: { blocks: 0, days: 0, removals: 0 },
  });
});

it("leaves access to the permissions of the lake's directory, though the program's own files are private", async () => {
  const before = process.umask(0o077);
  onTestFinished(() => void process.umask(before));
  const { t, lake } = await started();
  await sendEntries(t, await t.device());
  await flowAll(t);
  const all = readdirSync(lake, { recursive: true, withFileTypes: true });
  const modes = all.map((one) => [one.isFile(), statSync(join(one.parentPath, one.name)).mode & 0o777]);
  expect(new Set(modes.map(String))).toEqual(new Set([`false,${0o755}`, `true,${0o644}`]));
  expect(statSync(lake).mode & 0o777).toBe(0o700);
});

it("holds what it claims: deliveries from just before are derived first", async () => {
  const { t, lake } = await started();
  const device = await t.device();
  await flowAll(t);
  await sendEntries(t, device, { count: 3 });
  await flow(t.instance.core);
  expect(lakeStatus(t.instance.core)).toMatchObject({ currentAt: t.clock.now(), waiting: { days: 0 } });
  expect((await lakeRows(lake, "spend")).length).toBeGreaterThan(0);
  await expectAsPages(t, lake, device.team.id);
});

it("writes only the days anew in which something changed", async () => {
  const { t, lake } = await started();
  const device = await t.device();
  await sendEntries(t, device);
  await deliverAll(t, device, "github.com/acme/shop", "alpha");
  await flowAll(t);
  const at = (path: string) => statSync(join(lake, path), { bigint: true }).ino;
  const before = new Map(lakeFiles(lake).map((path) => [path, at(path)]));
  await flowAll(t);
  expect(lakeFiles(lake).map((path) => [path, at(path)])).toEqual([...before]);

  await t.post("/api/telemetry/ingest", {
    token: device.token,
    json: {
      repoKey: "github.com/acme/shop",
      entries: [
        {
          ...{ seq: 5_000, clientTimestamp: "2026-11-18T09:00:00Z" },
          payload: {
            type: "reply",
            model: "gpt-5-mini",
            message: { id: "msg_new", usage: { input_tokens: 1, output_tokens: 1 } },
          },
        },
      ],
    },
  });
  await flowAll(t);
  const changed = lakeFiles(lake).filter((path) => before.get(path) !== at(path));
  expect(changed).toEqual([expect.stringMatching(/^spend\/team=\w+\/day=2026-11-18\/\w+\.parquet$/)]);
  await expectAsPages(t, lake, device.team.id);

  // Changed prices concern all spend, and nothing else.
  writeFileSync(
    join(t.directory, "prices.json"),
    JSON.stringify({ date: "2026-11-21", models: { "acme-local-70b": { input: 2, output: 3 } } }),
  );
  t.clock.advance(60_000);
  await flowAll(t);
  const ours = (await lakeRows(lake, "spend")).filter(({ model }) => model === "acme-local-70b");
  expect([ours.length > 0, sum(ours, "unpriced_tokens")]).toEqual([true, 0]);
});

it("holds spend at the present prices, though they changed and changed back while it was written", async () => {
  const lake = newFolder();
  const model = "acme-local-70b";
  let days = 0;
  const t = await startOnBucket(async (request, response) => {
    const path = (request.url ?? "").replace("/company/", "");
    mkdirSync(dirname(join(lake, path)), { recursive: true });
    writeFileSync(join(lake, path), await buffer(request));
    const prices = join(t.directory, "prices.json");
    // Some days are written at once: those after the first have a price, and those after the fifth have none again.
    if (path.startsWith("spend/") && ++days === 1)
      writeFileSync(prices, JSON.stringify({ date: "2026-11-21", models: { [model]: { input: 2, output: 3 } } }));
    else if (days === 5) rmSync(prices);
    response.end();
  });
  const { token } = await t.device();
  const entries = Array.from({ length: 12 }, (_, i) => ({
    ...{ seq: i + 1, clientTimestamp: `2026-11-${10 + i}T07:00:00Z` },
    payload: { type: "reply", model, message: { id: `msg_${i}`, usage: { input_tokens: 9, output_tokens: 1 } } },
  }));
  await t.post("/api/telemetry/ingest", { token, json: { repoKey: "shop", entries } });
  const unpriced = async () => sum(await lakeRows(lake, "spend"), "unpriced_tokens");
  await flowAll(t);
  const before = await unpriced();
  await flowAll(t);
  expect([before < 120, await unpriced()]).toEqual([true, 120]);
  expect(lakeStatus(t.instance.core)?.waiting.days).toBe(0);
});

it("removes what is erased: an erased person is in no object, and the plan names the lake", async () => {
  const { t, lake } = await started();
  const ada = await t.device();
  const grace = await t.device(ada.team);
  await personWith(t, ada, "ada@example.com");
  await deliverAll(t, ada, "github.com/acme/shop", "zebrafish");
  await sendEntries(t, ada, { repoKey: "github.com/acme/shop", from: 100, text: "zebrafish" });
  await sendEntries(t, grace, { repoKey: "github.com/acme/till", text: "kept" });
  await flowAll(t);
  expect((await lakeText(lake)).includes("zebrafish")).toBe(true);
  const kept = (await lakeRows(lake, "entries")).filter(({ device }) => device === grace.deviceId);

  const { core } = t.instance;
  const target = resolveTarget(core, { person: "ada@example.com" });
  expect((await planErasure(core, target)).copies.join("\n")).toContain(`the lake ${lake} holds all up to`);
  await carryOut(core, await requestErasure(core, target, "asked for", COMMAND_LINE));
  await flowAll(t);
  const text = await lakeText(lake);
  expect(["zebrafish", "ada@example.com"].filter((word) => text.includes(word))).toEqual([]);
  expect(filesWith(lake, "zebrafish")).toEqual([]);
  const left = (await lakeRows(lake, "entries")).filter(({ device }) => device === grace.deviceId);
  expect(left.map(({ entry }) => entry)).toEqual(kept.map(({ entry }) => entry));
  expect((await lakeRows(lake, "entries")).filter(({ device }) => device === ada.deviceId)).toEqual([]);
  await expectAsPages(t, lake, ada.team.id);
});

it("removes what ran out", async () => {
  const { t, lake } = await started();
  const device = await t.device();
  await sendEntries(t, device);
  await flowAll(t);
  expect((await lakeRows(lake, "entries")).length).toBeGreaterThan(0);
  await setRetention(t.instance.core, device.team.id, "telemetry", 1, COMMAND_LINE);
  t.clock.advance(3 * DAY);
  await runRetention(t.instance.core, device.team.id);
  await flowAll(t);
  expect(await lakeRows(lake, "entries")).toEqual([]);
  await expectAsPages(t, lake, device.team.id);
});

it("removes an object after an erasure, though the process was killed before it noted the object", async () => {
  const { t, lake } = await started();
  const device = await t.device();
  await sendEntries(t, device, { text: "zebrafish" });
  await flowAll(t);
  // As if the process had ended after it wrote the object and before it noted that.
  await t.instance.core.store.write(() => {
    t.instance.core.store.db.exec("UPDATE lake_objects SET written_at = NULL; UPDATE lake_places SET last_block = 0");
  });
  const target = resolveTarget(t.instance.core, { device: device.deviceId });
  await carryOut(t.instance.core, await requestErasure(t.instance.core, target, "asked for", COMMAND_LINE));
  await flowAll(t);
  expect((await lakeText(lake)).includes("zebrafish")).toBe(false);
});

it("waits for a lake that cannot be reached, while the service is healthy, and continues from there", async () => {
  const { t, lake } = await started();
  const device = await t.device();
  await sendEntries(t, device);
  await flowAll(t);
  const there = lakeFiles(lake).length;
  rmSync(lake, { recursive: true });
  writeFileSync(lake, "no directory");
  await sendEntries(t, device, { from: 2_000, count: 2_000 });
  await expect(flowAll(t)).rejects.toThrow(/ENOTDIR|EEXIST/);
  expect((await t.get("/api/health")).status).toBe(200);
  expect(lakeStatus(t.instance.core)?.waiting.blocks).toBeGreaterThan(0);
  rmSync(lake);
  mkdirSync(lake);

  // The objects are gone from there: a check finds them missing, and they are written again.
  const found = await checkLake(t.instance.core, true);
  expect(found.missing.length).toBeGreaterThan(0);
  await flowAll(t);
  expect(lakeFiles(lake).length).toBeGreaterThan(there);
  expect(await checkLake(t.instance.core, false)).toMatchObject({ missing: [], unknown: [] });
  const entries = await lakeRows(lake, "entries");
  expect(new Set(entries.map(({ entry }) => entry)).size).toBe(entries.length);
  const sealed = t.rows("SELECT sum(entries) AS n FROM telemetry_segments WHERE block_id IS NOT NULL")[0].n;
  expect(entries).toHaveLength(sealed);
  await expectAsPages(t, lake, device.team.id);
});

/** A lake with the entries of a device, and the path of a file of them. */
async function filled() {
  const { t, lake } = await started();
  const device = await t.device();
  await sendEntries(t, device);
  await flowAll(t);
  const block = lakeFiles(lake).find((path) => path.startsWith("entries/")) as string;
  return { core: t.instance.core, lake, block };
}

it("reports and mends objects that are not as they were written, and leaves others' alone", async () => {
  const { core, lake, block } = await filled();
  const shard = lakeStatus(core)?.shard as string;
  const stray = block.replace(/block-\d+/, "block-999");
  const foreign = block.replace(shard, "0123456789");
  for (const path of [stray, foreign]) writeFileSync(join(lake, path), readFileSync(join(lake, block)));
  rmSync(join(lake, block));
  expect(await checkLake(core, false)).toMatchObject({ missing: [block], unknown: [stray], repaired: false });
  expect(await checkLake(core, true)).toMatchObject({ missing: [block], unknown: [stray], repaired: true });
  await flow(core);
  expect([block, stray, foreign].map((path) => existsSync(join(lake, path)))).toEqual([true, false, true]);
  expect(await checkLake(core, false)).toMatchObject({ missing: [], unknown: [] });
});

it("compares all noted objects, however many there are", async () => {
  const { core } = await filled();
  core.store.db.exec(`INSERT INTO lake_objects (path, rows, bytes, written_at)
    WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 4500) SELECT 'spend/team=x/day=2026-01-01/' || i || '.parquet', 1, 1, 1 FROM n`);
  expect((await checkLake(core, false)).missing).toHaveLength(4_500);
});

it("matches the restored database after a restore, also where files have the same size as before", async () => {
  const { t, lake } = await started();
  const { token, team } = await t.device();
  const publish = (status: string, version: number) =>
    t.post("/api/brain/ingest", {
      token,
      json: {
        ...{ repoKey: "shop", version },
        files: [
          { path: ".claude/brain/errors.md", content: `## 2026-11-20 It broke\n\nIt did.\n\n**Status:** ${status}\n` },
        ],
      },
    });
  await publish("open", 1);
  await flowAll(t);
  const backup = join(newFolder(), "backup.db");
  await t.instance.core.store.db.backup(backup);
  await publish("fixed", 2);
  await flowAll(t);
  const open = async () => (await lakeRows(lake, "errors")).map((row) => row.open);
  expect(await open()).toEqual([false]);

  await t.close();
  for (const ending of ["-wal", "-shm"]) rmSync(`${databasePath(t.directory)}${ending}`, { force: true });
  copyFileSync(backup, databasePath(t.directory));
  const restored = await startInstance({ settings: { lake }, directory: t.directory, clock: t.clock });
  expect((await countEntries(restored.instance.core, team.id)).open).toBe(1);
  await checkLake(restored.instance.core, true);
  await flowAll(restored);
  expect(await open()).toEqual([true]);
});

it("does not call an object unknown that the server removes during a check", async () => {
  const { core, lake, block } = await filled();
  const sql = rows(core.store);
  const after = sql.after.all.bind(sql.after);
  let looks = 0;
  vi.spyOn(sql.after, "all").mockImplementation((...of: Parameters<typeof after>) => {
    // The second look comes after it was seen: notes are read both before and after.
    if (++looks === 2) {
      rmSync(join(lake, block));
      sql.drop.run(block);
    }
    return after(...of);
  });
  expect(await checkLake(core, false)).toMatchObject({ missing: [], unknown: [] });
  expect(looks).toBeGreaterThan(1);
});

it("has a folder for what is dated before 1970, or not at all, and one for what is dated from 2100 on", async () => {
  const { t, lake } = await started();
  const { token, team } = await t.device();
  const usage = { input_tokens: 10, output_tokens: 1 };
  const dates = [
    "1960-01-01T00:00:00Z",
    "1969-12-31T23:59:59Z",
    "1970-01-01T00:00:00Z",
    "2100-01-01T00:00:00Z",
    "2999-05-05T00:00:00Z",
  ];
  const entries = dates.map((clientTimestamp, i) => ({
    ...{ seq: i + 1, clientTimestamp },
    payload: { model: "gpt-5-mini", message: { id: `msg_${i}`, usage } },
  }));
  expect((await t.post("/api/telemetry/ingest", { token, json: { repoKey: "r", entries } })).status).toBe(200);
  const sessions = [undefined, ...dates].map((startedAt, i) => ({
    id: `s${i}`,
    outcome: "completed",
    startedAt,
    spans: [],
  }));
  expect((await t.post("/api/agent-traces/ingest", { token, json: { repoKey: "r", sessions } })).status).toBe(200);
  await flowAll(t);
  const days = async (table: string) => (await lakeRows(lake, table)).map(({ day }) => day).sort();
  const [before, first, after] = ["1969-12-31", "1970-01-01", "2100-01-01"];
  // Usage that is dated ahead counts when it came.
  const came = "2026-11-21";
  expect(await days("spend")).toEqual([before, before, first, came]);
  expect(await days("sessions")).toEqual([before, before, before, first, after, after]);
  expect((await lakeRows(lake, "spend")).map(({ date }) => date.toISOString().slice(0, 10)).sort()).toEqual([
    ...dates.slice(0, 3).map((date) => date.slice(0, 10)),
    came,
  ]);
  await expectAsPages(t, lake, team.id);
});

it("writes everything to another place once that is set", async () => {
  const { t, lake } = await started();
  const device = await t.device();
  await sendEntries(t, device);
  await deliverAll(t, device, "github.com/acme/shop", "alpha");
  await flowAll(t);
  await t.close();
  const elsewhere = newFolder();
  const again = await startInstance({ directory: t.directory, clock: t.clock, settings: { lake: elsewhere } });
  await flowAll(again);
  expect(lakeFiles(elsewhere)).toEqual(lakeFiles(lake));
  await expectAsPages(again, elsewhere, device.team.id);
  await again.close();
});

it("makes files in a thread of its own where bodies have none, byte for byte the same", async () => {
  const { t, lake } = await started({ workers: "1" });
  const device = await t.device();
  await sendEntries(t, device);
  await flowAll(t);
  const before = lakeFiles(lake).map((path) => [path, readFileSync(join(lake, path)).toString("hex")]);
  await t.close();
  const elsewhere = newFolder();
  const again = await startInstance({
    directory: t.directory,
    clock: t.clock,
    settings: { lake: elsewhere, workers: "0" },
  });
  await flowAll(again);
  expect(lakeFiles(elsewhere).map((path) => [path, readFileSync(join(elsewhere, path)).toString("hex")])).toEqual(
    before,
  );
  await again.close();
});

it.skipIf(process.getuid?.() === 0)("says when it may not write to its directory", async () => {
  const { t, lake } = await started();
  await sendEntries(t, await t.device());
  chmodSync(lake, 0o500);
  await expect(flowAll(t)).rejects.toThrow("EACCES");
});

it("writes nothing where a disk is not mounted, and then removes what was erased, or writes all anew", async () => {
  const { t, lake } = await started();
  const { core } = t.instance;
  const device = await t.device();
  await sendEntries(t, device, { repoKey: "shop", text: "marigold" });
  await sendEntries(t, device, { repoKey: "till", text: "crocus" });
  await flowAll(t);
  const target = resolveTarget(core, { repo: "shop" });
  renameSync(lake, `${lake}.away`);
  await carryOut(core, await requestErasure(core, target, "asked for", COMMAND_LINE));
  for (const isMountPoint of [false, true]) {
    if (isMountPoint) mkdirSync(lake);
    await expect(flowAll(t)).rejects.toThrow(/is empty or not there, and files were put there before: bring it back/);
    expect(existsSync(lake) ? readdirSync(lake) : []).toEqual([]);
  }
  rmSync(lake, { recursive: true });
  renameSync(`${lake}.away`, lake);
  expect(await lakeText(lake)).toContain("marigold");
  await flowAll(t);
  const left = await lakeText(lake);
  expect([left.includes("marigold"), left.includes("crocus")]).toEqual([false, true]);
  expect(await checkLake(core, false)).toMatchObject({ missing: [], unknown: [] });
  const files = lakeFiles(lake);
  rmSync(lake, { recursive: true });
  mkdirSync(lake);
  expect((await checkLake(core, true)).missing).toHaveLength(files.length);
  await flowAll(t);
  expect(lakeFiles(lake)).toEqual(files);
});
