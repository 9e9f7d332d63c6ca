import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { bindDevice, createCode } from "../../src/identity/devices/devices.ts";
import { createTeam } from "../../src/identity/teams/teams.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { newFolder } from "../support/folder.ts";
import { newMachine } from "../support/machine.ts";
import { command } from "../support/remote.ts";
import { makeRepository, textOf, turns } from "../support/turns.ts";
import { type Data, rowsOf, withDirectory } from "./support/data.ts";
import { LOAD_ENV, Load } from "./support/load.ts";
import { launch, reckon } from "./support/process.ts";
import { testData, testServer } from "./support/test.ts";

function file(): string {
  const folder = newFolder();
  return join(folder, "team");
}

/** Another team beside the first, with devices of its own. */
const besides = (directory: string, name: string): Promise<Data> =>
  withDirectory(directory, async (core) => {
    const team = await createTeam(core, name, COMMAND_LINE);
    const { code } = await createCode(core, team.id, COMMAND_LINE);
    const { deviceId, deviceToken } = await bindDevice(core, code, "1", null);
    return { directory, team, devices: [{ deviceId, token: deviceToken }], codes: [] };
  });

const done = async (args: readonly string[]) => {
  const { code, stdout, stderr } = await reckon([...args, "--json"]);
  expect([args[1], code, stderr.replace(/^(?:Next|Then|No password|No usage|\d{4}-\d\d-\d\d to).*\n/gm, "")]).toEqual([
    args[1],
    0,
    "",
  ]);
  return JSON.parse(stdout);
};

it("moves a team under load: what was acknowledged is there once, nobody else loses anything, both ledgers verify", async () => {
  const a = await testData({ devices: 4 });
  const b = await testData();
  const [left, met] = [await besides(a.directory, "Lavender"), await besides(b.directory, "Peony")];
  const [old, next] = [
    await testServer(a.directory, { env: LOAD_ENV }),
    await testServer(b.directory, { env: LOAD_ENV }),
  ];
  const moving: { -readonly [K in keyof Data]: Data[K] } = { ...a };
  const load = new Load(moving, "mv");
  const others = [new Load(left, "lavender"), new Load(met, "peony")] as const;
  const reached = load.reached(120);
  others[0].start(old.port, 2);
  others[1].start(next.port, 2);
  load.start(old.port, 8);
  await reached;
  await withDirectory(b.directory, async (core) =>
    core.store.write(() => core.store.db.exec("UPDATE teams SET name = 'Home' WHERE name = 'Acme'")),
  );
  await done(["team", "move", "Acme", "--to", next.url, "--data", a.directory]);
  await load.stop();
  // Every connection was told once, and where to go.
  expect(load.odd).toHaveLength(8);
  for (const line of load.odd) expect(line).toMatch(new RegExp(` 401 .*"movedTo":"${next.url}"`));
  const out = file();
  const made = await done(["team", "export", "Acme", "--out", out, "--data", a.directory]);
  expect(made.final).toBe(true);
  expect(readFileSync(out).includes("lavender")).toBe(false);
  const key = await (await fetch(`${old.url}/ledger/key`)).text();
  const came = await done(["team", "import", out, "--origin-key", key.trim(), "--data", b.directory]);
  expect(came).toMatchObject({ imported: true, deliveries: made.deliveries });
  const figures = (directory: string) => done(["spend", "--team", "Acme", "--data", directory]);
  expect(await figures(b.directory)).toEqual(await figures(a.directory));
  const lists = (directory: string) =>
    ["trace_sessions", "session_figures", "session_finds", "brain_currents", "delivery_days"].map(
      (table) => rowsOf(directory, `SELECT count(*) AS n FROM ${table} WHERE team_id = ?`, a.team.id)[0].n,
    );
  expect(lists(b.directory)).toEqual(lists(a.directory));
  for (const other of others) {
    await other.stop();
    expect([other.compare().lost, other.odd]).toEqual([[], []]);
  }
  moving.directory = b.directory;
  expect(load.compare().lost).toEqual([]);
  // Everything is sent again, also what no reply acknowledged: nothing is stored twice.
  expect(await load.resend(next.port)).toEqual([]);
  expect(load.compare().lost).toEqual([]);
  const twice = "SELECT 1 FROM telemetry_entries e GROUP BY stream_id, seq HAVING count(*) > 1";
  expect([rowsOf(b.directory, twice), rowsOf(b.directory, "SELECT 1 FROM telemetry_conflicts")]).toEqual([[], []]);
  for (const { directory } of [a, b])
    expect(await command(["ledger", "verify", "--data", directory])).toMatchObject({ code: 0 });
  for (const server of [old, next]) expect(server.stderr()).not.toMatch(/"level":"(?:error|warn)"/);
});

it("arrives whole or not at all, whenever the import is killed", async () => {
  const a = await testData({ devices: 2 });
  const b = await testData();
  const old = await testServer(a.directory, { env: LOAD_ENV });
  const load = new Load(a, "kill");
  const reached = load.reached(200);
  load.start(old.port, 8);
  await reached;
  await load.stop();
  await withDirectory(b.directory, async (core) =>
    core.store.write(() => core.store.db.exec("UPDATE teams SET name = 'Home' WHERE name = 'Acme'")),
  );
  const next = await testServer(b.directory);
  await done(["team", "move", "Acme", "--to", next.url, "--data", a.directory]);
  const out = file();
  await done(["team", "export", "Acme", "--out", out, "--data", a.directory]);
  const args = ["team", "import", out, "--accept-key", "--data", b.directory];
  const started = performance.now();
  expect((await reckon([...args, "--dry-run"])).code).toBe(0);
  const usual = performance.now() - started;
  const COUNTS =
    "SELECT (SELECT count(*) FROM teams) AS teams, (SELECT count(*) FROM log_imports) AS imports, (SELECT count(*) FROM deliveries) AS deliveries";
  for (let round = 0; round < 6; round++) {
    const watched = launch(args);
    // Around the end of the verification, where it begins to write.
    const timer = setTimeout(() => watched.child.kill("SIGKILL"), usual * (0.6 + Math.random() * 0.6));
    await watched.exited;
    clearTimeout(timer);
    const [counts] = rowsOf(b.directory, COUNTS);
    expect([
      { teams: 1, imports: 0, deliveries: 0 },
      { teams: 2, imports: 1, deliveries: counts.deliveries },
    ]).toContainEqual(counts);
  }
  const printed = await done(args);
  const moved: Data = { ...a, directory: b.directory };
  expect(printed.deliveries).toBe(rowsOf(b.directory, COUNTS)[0].deliveries);
  expect(rowsOf(moved.directory, "SELECT count(*) AS n FROM teams")).toEqual([{ n: 2 }]);
  expect(await command(["ledger", "verify", "--data", b.directory])).toMatchObject({ code: 0 });
});

it("is followed by the capture client, which sends there what it had not sent", async () => {
  const a = await testData({ codes: 1 });
  const b = await testData();
  await withDirectory(b.directory, async (core) =>
    core.store.write(() => core.store.db.exec("UPDATE teams SET name = 'Home' WHERE name = 'Acme'")),
  );
  const [old, next] = [await testServer(a.directory), await testServer(b.directory)];
  const machine = newMachine();
  const work = join(machine.home, "shop");
  makeRepository(work, "github.com/acme/shop");
  const transcripts = join(machine.home, ".claude/projects/-home-kim-shop");
  mkdirSync(transcripts, { recursive: true });
  const at = Date.now() - 3_600_000;
  const say = (count: number) => writeFileSync(join(transcripts, "s1.jsonl"), textOf(turns("s1", count, at, 0, work)));
  say(3);
  await machine.run(`reckon agent connect ${old.url} ${a.codes[0]} --yes 2>&1`);
  const before = rowsOf(a.directory, "SELECT seq, payload FROM telemetry_entries ORDER BY seq");
  expect(before.length).toBeGreaterThan(0);
  await done(["team", "move", "Acme", "--to", next.url, "--data", a.directory]);
  say(6);
  // Not there yet: it waits, and says why.
  expect(await machine.run("reckon agent run 2>&1 || true")).toContain("does not know this machine yet");
  const out = file();
  await done(["team", "export", "Acme", "--out", out, "--data", a.directory]);
  await done(["team", "import", out, "--accept-key", "--data", b.directory]);
  expect(await machine.run("reckon agent run 2>&1")).not.toContain("Not everything");
  const status = JSON.parse(await machine.run("reckon agent status --json"));
  expect(status).toMatchObject({ url: next.url, trouble: null, move: { from: old.url, to: next.url, problem: null } });
  for (const at of [status.policyAt, status.lastPass, status.lastContact, status.move.at])
    expect(at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  expect(await machine.run("reckon agent doctor || true")).toContain(
    `followed the team from ${old.url} to ${next.url}`,
  );
  const after = rowsOf(b.directory, "SELECT seq, payload FROM telemetry_entries ORDER BY seq");
  expect(after.slice(0, before.length)).toEqual(before);
  expect(after.map(({ seq }) => seq)).toEqual(Array.from(after, (_, i) => i + 1));
  expect(after.length).toBeGreaterThan(before.length);
  expect(rowsOf(a.directory, "SELECT count(*) AS n FROM telemetry_entries")[0].n).toBe(before.length);
  for (const { directory } of [a, b])
    expect(await command(["ledger", "verify", "--data", directory])).toMatchObject({ code: 0 });
});
