import { appendFileSync, rmSync, statfsSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { createApiToken, revokeApiToken } from "../../src/identity/api-tokens/api-tokens.ts";
import { createFleetCodes, revokeDevice } from "../../src/identity/devices/devices.ts";
import { rows as peopleRows } from "../../src/identity/people/rows.ts";
import { teamMoves, updateTeam } from "../../src/identity/teams/teams.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { eraseNotices } from "../../src/platform/notices/notices.ts";
import { digestJob } from "../../src/share/alarms/digest.ts";
import { alarmsJob } from "../../src/share/alarms/watch.ts";
import { noteReplicaCheck } from "../../src/share/maintenance/maintenance.ts";
import { checkFile, exportTeam, importTeam } from "../../src/share/moves/moves.ts";
import { chooseEvents, eventsFor } from "../../src/share/notifications/notifications.ts";
import { mountTmpfs, noMounts } from "../faults/support/disk.ts";
import { makeAccount } from "../support/accounts.ts";
import { startInstance, type TestInstance } from "../support/instance.ts";
import { addChannel, arrived, startSending, startWithReceiver } from "../support/notifications.ts";
import { turnsOfOthers } from "../support/others.ts";

const noted = (t: TestInstance, type: string) =>
  t.rows("SELECT data FROM notices WHERE type = ? ORDER BY id", type).map(({ data }) => JSON.parse(data));

const backedUp = (t: TestInstance) =>
  writeFileSync(
    join(t.directory, "last-backup.json"),
    JSON.stringify({ at: new Date(t.clock.now()).toISOString(), file: "x", bytes: 1 }),
  );

const beat = (t: TestInstance, token: string, seq: number) =>
  t.post("/api/telemetry/ingest", { token, json: { entries: [{ seq, payload: {} }] } });

it("tells once when a device goes quiet, and once when it reports again", async () => {
  const { receiver, t } = await startWithReceiver();
  const look = () => alarmsJob.run(t.instance.core);
  const { token, deviceId, team } = await t.device();
  const other = await t.device(team);
  await addChannel(t, receiver, team.id, ["device.quiet"]);
  await beat(t, token, 1);
  await beat(t, other.token, 1);
  t.clock.advance(3 * DAY_MS - MINUTE_MS);
  await beat(t, other.token, 2);
  await look();
  expect(noted(t, "device.quiet")).toEqual([]);
  t.clock.advance(2 * MINUTE_MS);
  for (let i = 0; i < 3; i++) await look();
  expect(noted(t, "device.quiet")).toEqual([
    { device: deviceId, last_seen: "2026-11-21T08:00:00.000Z", state: "began" },
  ]);
  await beat(t, token, 2);
  for (let i = 0; i < 2; i++) await look();
  expect(noted(t, "device.quiet")).toMatchObject([{ state: "began" }, { device: deviceId, state: "ended" }]);
  expect((await arrived(receiver, 2)).map(({ json }) => json.data.url)).toEqual(
    [1, 2].map(() => expect.stringMatching(new RegExp(`/devices/${deviceId}$`))),
  );
  // A quiet device that is disconnected ends its alarm without a notice.
  t.clock.advance(4 * DAY_MS);
  await look();
  expect(noted(t, "device.quiet")).toHaveLength(4);
  await revokeDevice(t.instance.core, deviceId, COMMAND_LINE);
  await beat(t, other.token, 3);
  await look();
  expect(noted(t, "device.quiet").slice(4)).toMatchObject([{ device: other.deviceId, state: "ended" }]);
});

it("reports a device as quiet that never reported after it was connected, as when the reply to that was lost", async () => {
  const { receiver, t } = await startWithReceiver();
  const { deviceId, team } = await t.device();
  await addChannel(t, receiver, team.id, ["device.quiet"]);
  t.clock.advance(3 * DAY_MS + MINUTE_MS);
  await alarmsJob.run(t.instance.core);
  expect(noted(t, "device.quiet")).toEqual([{ device: deviceId, last_seen: null, state: "began" }]);
});

it("tells of thousands of devices that go quiet and report again at once, letting others write in between", async () => {
  const { t, core } = await startWithReceiver();
  const team = await t.team();
  const [COUNT, now] = [2_000, t.clock.now()];
  const insert = core.store.db.prepare(
    "INSERT INTO devices (id, team_id, consent_version, created_at, last_seen_at) VALUES (?, ?, '1', ?, ?)",
  );
  await core.store.write(() => {
    for (let i = 0; i < COUNT; i++) insert.run(`dev_${i}`, team.id, now, now);
  });
  const look = async () => {
    const before = core.store.stats.transactions;
    await alarmsJob.run(core);
    return core.store.stats.transactions - before;
  };
  await look();
  t.clock.advance(4 * DAY_MS);
  expect(await look()).toBeGreaterThan(10);
  core.store.db.prepare("UPDATE devices SET last_seen_at = ?").run(t.clock.now());
  expect(await look()).toBeGreaterThan(10);
  expect(
    t.rows(
      "SELECT data ->> 'state' AS state, count(*) AS n FROM notices WHERE type = 'device.quiet' GROUP BY 1 ORDER BY 1",
    ),
  ).toEqual([
    { state: "began", n: COUNT },
    { state: "ended", n: COUNT },
  ]);
  expect(await look()).toBe(0);
});

it("does not report a machine as quiet that was connected for a single job", async () => {
  const { receiver, t } = await startWithReceiver();
  const team = await t.team();
  await addChannel(t, receiver, team.id, ["device.quiet"]);
  const how = { count: 1, uses: 1, lifetimeMs: DAY_MS, bindsForMs: 7 * DAY_MS };
  const [made] = await createFleetCodes(t.instance.core, team.id, how, COMMAND_LINE);
  const { body } = await t.post("/api/connect/exchange", { json: { code: made?.code, consent: { version: "1" } } });
  await beat(t, body.deviceToken, 1);
  const other = await t.device(team);
  await beat(t, other.token, 1);
  t.clock.advance(4 * DAY_MS);
  await alarmsJob.run(t.instance.core);
  expect(noted(t, "device.quiet")).toMatchObject([{ device: other.deviceId }]);
});

it("does not count the time that the server was away as a device's silence, nor report a device that reports again", async () => {
  const { receiver, t: first } = await startWithReceiver();
  const { token, deviceId, team } = await first.device();
  const other = await first.device(team);
  await addChannel(first, receiver, team.id, ["device.quiet"]);
  await beat(first, other.token, 1);
  first.clock.advance(3 * DAY_MS + MINUTE_MS);
  await beat(first, token, 1);
  await alarmsJob.run(first.instance.core);
  const others = { device: other.deviceId, state: "began" };
  expect(noted(first, "device.quiet")).toMatchObject([others]);
  await first.instance.close();
  first.clock.advance(4 * DAY_MS);

  const t = await startSending([receiver], { directory: first.directory, clock: first.clock });
  const look = () => alarmsJob.run(t.instance.core);
  await look();
  t.clock.advance(3 * DAY_MS - MINUTE_MS);
  await look();
  expect(noted(t, "device.quiet")).toMatchObject([others]);
  t.clock.advance(2 * MINUTE_MS);
  await look();
  expect(noted(t, "device.quiet")).toMatchObject([others, { device: deviceId, state: "began" }]);
  await beat(t, other.token, 2);
  await look();
  expect(noted(t, "device.quiet")).toMatchObject([others, {}, { device: other.deviceId, state: "ended" }]);
});

it("tells once, also across a restart, of a stale backup and of licences and keys that are about to expire", async () => {
  const { receiver, t } = await startWithReceiver({ settings: { billing: "on" } });
  const team = await t.team();
  await addChannel(t, receiver, null, eventsFor(null));
  await updateTeam(t.instance.core, team.id, { periodEndAt: t.clock.now() + 20 * DAY_MS }, COMMAND_LINE);
  const ending = { periodEndAt: t.clock.now() + 20 * DAY_MS, subscription: "canceled" } as const;
  await updateTeam(t.instance.core, (await t.team()).id, ending, COMMAND_LINE);
  const tokenOf = (name: string) =>
    createApiToken(t.instance.core, { teamId: team.id, userId: null, name, lifetimeMs: 10 * DAY_MS }, COMMAND_LINE);
  const { id } = await tokenOf("report");
  await revokeApiToken(t.instance.core, (await tokenOf("revoked")).id, COMMAND_LINE);
  await alarmsJob.run(t.instance.core);
  expect(t.count("notices")).toBe(0);
  t.clock.advance(7 * DAY_MS);
  await alarmsJob.run(t.instance.core);
  expect(noted(t, "backup.stale")).toEqual([{ last: null, state: "began" }]);
  expect(noted(t, "license.due")).toEqual([{ until: "2026-12-11T08:00:00.000Z", subscription: "active" }]);
  expect(noted(t, "key.due")).toEqual([{ kind: "api_token", id, name: "report", until: "2026-12-01T08:00:00.000Z" }]);
  await t.close();
  const next = await startSending([receiver], { directory: t.directory, clock: t.clock });
  await alarmsJob.run(next.instance.core);
  expect(next.count("notices")).toBe(3);
  backedUp(next);
  await alarmsJob.run(next.instance.core);
  expect(noted(next, "backup.stale")).toEqual([{ last: null, state: "began" }, { state: "ended" }]);
  t.clock.advance(400 * DAY_MS);
  backedUp(next);
  await alarmsJob.run(next.instance.core);
  // Notices of 400 days ago may be gone by now.
  expect(noted(next, "key.due").at(-1)).toMatchObject({ kind: "signing_key" });
});

it("looks up the owners only of tokens that are due, and lets others in between the teams", async () => {
  const { receiver, t, core } = await startWithReceiver();
  await addChannel(t, receiver, null, eventsFor(null));
  const teams = await Promise.all(Array.from({ length: 5 }, () => t.team()));
  const due = [];
  for (const team of teams) {
    const { id: userId } = await makeAccount(core, {
      email: `${team.id}@example.com`,
      team: { id: team.id, role: "owner" },
    });
    const make = (days: number) =>
      createApiToken(core, { teamId: team.id, userId, name: "ci", lifetimeMs: days * DAY_MS }, COMMAND_LINE);
    for (let i = 0; i < 10; i++) await make(60);
    await revokeApiToken(core, (await make(3)).id, COMMAND_LINE);
    due.push((await make(3)).id);
  }
  due.push(
    (await createApiToken(core, { teamId: null, userId: null, name: "all", lifetimeMs: DAY_MS }, COMMAND_LINE)).id,
  );
  const owners = vi.spyOn(peopleRows(core.store).userById, "get");
  const { turns } = await turnsOfOthers(core, async () => alarmsJob.run(core));
  expect(owners).toHaveBeenCalledTimes(5);
  // Others get a turn after each team's devices and each team's tokens, and after the installation's tokens.
  expect(turns).toBeGreaterThan(2 * teams.length);
  expect(
    noted(t, "key.due")
      .map(({ id }) => id)
      .sort(),
  ).toEqual(due.sort());
});

it("reports a backup and a replica as stale whose last note is dated years ahead", async () => {
  const { receiver, t } = await startWithReceiver();
  await addChannel(t, receiver, null, eventsFor(null));
  await t.team();
  const last = "2030-01-01T00:00:00.000Z";
  writeFileSync(join(t.directory, "last-backup.json"), JSON.stringify({ at: last, bytes: 1 }));
  writeFileSync(join(t.directory, "last-replica-check.json"), JSON.stringify({ goodAt: last, failure: null }));
  await alarmsJob.run(t.instance.core);
  expect(noted(t, "backup.stale")).toEqual([{ last, state: "began" }]);
  expect(noted(t, "replica.stale")).toEqual([{ last, failing: false, state: "began" }]);
  backedUp(t);
  await alarmsJob.run(t.instance.core);
  expect(noted(t, "backup.stale").at(-1)).toEqual({ state: "ended" });
});

it.skipIf(noMounts)(
  "tells once of a disk that is nearly full, although its free space varies around the limit",
  async () => {
    const disk = mountTmpfs("400m");
    onTestFinished(() => disk.unmount());
    const { t } = await startWithReceiver({ directory: disk.path });
    const filler = join(disk.path, "filler");
    writeFileSync(filler, "");
    /** Fills the disk until this share of it is free, looks, and returns the states noted so far. */
    const seenWith = async (share: number) => {
      const { bavail, blocks, bsize } = statfsSync(disk.path);
      const more = Math.floor((bavail - blocks * share) * bsize);
      if (more > 0) appendFileSync(filler, Buffer.alloc(more));
      else truncateSync(filler, statSync(filler).size + more);
      await alarmsJob.run(t.instance.core);
      return noted(t, "disk.low").map(({ state }) => state);
    };
    expect(await seenWith(0.054)).toEqual([]);
    for (const share of [0.045, 0.055, 0.045, 0.055]) expect(await seenWith(share)).toEqual(["began"]);
    for (const share of [0.07, 0.055]) expect(await seenWith(share)).toEqual(["began", "ended"]);
    expect(await seenWith(0.045)).toEqual(["began", "ended", "began"]);
    rmSync(filler);
    await t.close();
  },
);

it("sends the weekly digest on Monday at 7, once, also across a restart, to whoever asked for it by then", async () => {
  const { receiver, t } = await startWithReceiver();
  const { token, team } = await t.device();
  await addChannel(t, receiver, team.id, ["digest.weekly"]);
  const session = (id: string, outcome: string, startedAt: string) => ({ id, outcome, startedAt, spans: [] });
  const sessions = [
    session("a", "success", "2026-11-17T10:00:00Z"),
    session("b", "failed", "2026-11-18T10:00:00Z"),
    session("c", "merged", "2026-11-19T10:00:00Z"),
    session("d", "whatever", "2026-11-20T10:00:00Z"),
    session("e", "failed", "2026-11-12T10:00:00Z"),
  ];
  await t.post("/api/agent-traces/ingest", { token, json: { sessions } });
  const content =
    "## 2026-11-20 Off by two\n\nBroke.\n\n**Prevention rule:** round once.\n\n## 2026-11-01 Off by one\n\nBroke.\n\n**Prevention rule:** round once.\n";
  await t.post("/api/brain/ingest", {
    token,
    json: { version: 1, repoKey: "acme/shop", files: [{ path: ".claude/brain/errors.md", content }] },
  });
  const look = () => digestJob.run(t.instance.core);
  // It is a Saturday, and nobody had asked by last Monday.
  await look();
  t.clock.advance(Date.UTC(2026, 10, 23, 7) - t.clock.now() - 1);
  await look();
  expect(noted(t, "digest.weekly")).toEqual([]);
  t.clock.advance(1);
  await look();
  await look();
  expect(noted(t, "digest.weekly")).toEqual([
    {
      ...{ from: "2026-11-16", to: "2026-11-22", sessions: 4, sessions_before: 1 },
      ...{ success_rate: 2 / 3, success_rate_before: 0, spend_usd: 0, spend_usd_before: 0 },
      ...{ new_errors: 1, newest_errors: [{ entry: expect.any(Number), title: "Off by two" }] },
      ...{
        recurring_errors: 1,
        most_recurring: [{ fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/), title: "Off by two", occurrences: 2 }],
      },
      ...{ open_errors: 1, gaps: 0, rollbacks: 0, quiet_devices: 0 },
    },
  ]);
  await arrived(receiver, 1);
  // A digest whose notice an erasure removed is not sent a second time.
  const { core } = t.instance;
  const erased = { teamId: team.id, repoKey: null };
  expect(await core.store.write(() => eraseNotices(core, erased, ["dev_other"], []))).toBeGreaterThan(0);
  await look();
  expect(noted(t, "digest.weekly")).toEqual([]);
  await t.close();
  const next = await startSending([receiver], { directory: t.directory, clock: t.clock });
  next.clock.advance(HOUR_MS);
  await digestJob.run(next.instance.core);
  expect(noted(next, "digest.weekly")).toEqual([]);
  next.clock.advance(7 * DAY_MS);
  await digestJob.run(next.instance.core);
  expect(noted(next, "digest.weekly")).toMatchObject([{ from: "2026-11-23", sessions: 0, success_rate: null }]);
  expect(next.rows("SELECT key FROM alarms WHERE key LIKE 'digest:%'")).toHaveLength(2);
});

it("sends each week once after the clock was a year ahead for a moment, also to whoever asked for it during that moment", async () => {
  const { receiver, t, core } = await startWithReceiver();
  const team = await t.team();
  await addChannel(t, receiver, team.id, ["digest.weekly"]);
  t.clock.advance(3 * DAY_MS);
  const look = () => digestJob.run(core);
  await look();
  await arrived(receiver, 1);
  t.clock.jump(365 * DAY_MS);
  await look();
  await arrived(receiver, 2);
  const other = await t.team();
  await addChannel(t, receiver, other.id, ["digest.weekly"]);
  await expect.poll(() => noted(t, "digest.weekly")).toMatchObject([{ from: "2026-11-16" }, { from: "2027-11-15" }]);
  t.clock.jump(-365 * DAY_MS);
  const told = () => t.rows("SELECT team_id FROM notices WHERE type = 'digest.weekly' ORDER BY id").slice(2);
  await look();
  expect(told()).toEqual([{ team_id: other.id }]);
  t.clock.advance(7 * DAY_MS);
  await look();
  expect(told().slice(1)).toEqual([{ team_id: team.id }, { team_id: other.id }]);
});

it("sends no past week to whoever asks for it later, and none of a team made after it", async () => {
  const { receiver, t, core } = await startWithReceiver();
  const [asked, late] = [await t.team(), await t.team()];
  await addChannel(t, receiver, asked.id, ["digest.weekly"]);
  const { channel } = await addChannel(t, receiver, late.id, ["device.quiet"]);
  t.clock.advance(Date.UTC(2026, 10, 23, 7) - t.clock.now());
  await digestJob.run(core);
  // On Wednesday.
  t.clock.advance(2 * DAY_MS);
  await chooseEvents(core, { id: channel.id, by: COMMAND_LINE }, ["digest.weekly"]);
  await addChannel(t, receiver, null, ["digest.weekly"]);
  await t.team();
  const told = () => t.rows("SELECT team_id AS team FROM notices WHERE type = 'digest.weekly' ORDER BY id");
  await digestJob.run(core);
  expect(told()).toEqual([{ team: asked.id }]);
  t.clock.advance(5 * DAY_MS);
  await digestJob.run(core);
  expect(told()).toHaveLength(4);
});

it("sends no week of a team made after it, although somebody had asked for the weeks of all teams before", async () => {
  const { receiver, t } = await startWithReceiver();
  await addChannel(t, receiver, null, ["digest.weekly"]);
  t.clock.advance(5 * DAY_MS);
  await t.team();
  await digestJob.run(t.instance.core);
  expect(t.count("notices")).toBe(0);
});

it("leaves the week before a team moved here to the instance that it came from", async () => {
  const from = await startInstance();
  const team = await from.team({ name: "Acme" });
  const { receiver, t } = await startWithReceiver();
  await addChannel(t, receiver, null, ["digest.weekly"]);
  for (const one of [from, t]) one.clock.advance(4 * DAY_MS);
  await teamMoves.begin(from.instance.core, team.id, "https://new.example", COMMAND_LINE);
  const file = join(from.directory, "team");
  await exportTeam(from.instance.core, team.id, file, () => {}, COMMAND_LINE);
  await importTeam(t.instance.core, file, await checkFile(t.instance.core, file, undefined, () => {}), COMMAND_LINE);
  await digestJob.run(t.instance.core);
  expect(noted(t, "digest.weekly")).toEqual([]);
  t.clock.advance(7 * DAY_MS);
  await digestJob.run(t.instance.core);
  expect(noted(t, "digest.weekly")).toHaveLength(1);
});

it("waits with the digest until all spend is counted, as after an upgrade", async () => {
  const { receiver, t } = await startWithReceiver();
  const { token, team } = await t.device();
  await addChannel(t, receiver, team.id, ["digest.weekly"]);
  const spans = [{ id: "a", kind: "llm", usage: { input_tokens: 1_000_000, output_tokens: 0 } }];
  const about = { outcome: "success", model: "claude-opus-4-6", startedAt: "2026-11-20T08:00:00Z", spans };
  const sessions = Array.from({ length: 150 }, (_, i) => ({ ...about, id: `s-${i}` }));
  for (let from = 0; from < sessions.length; from += 50)
    await t.post("/api/agent-traces/ingest", { token, json: { sessions: sessions.slice(from, from + 50) } });
  t.clock.advance(Date.UTC(2026, 10, 23, 7) - t.clock.now());
  await digestJob.run(t.instance.core);
  expect(noted(t, "digest.weekly")).toMatchObject([{ sessions: 150, spend_usd: 750 }]);
});

it("does not count usage without a price as free in the digest", async () => {
  const { receiver, t } = await startWithReceiver();
  const { token, team } = await t.device();
  await addChannel(t, receiver, team.id, ["digest.weekly"]);
  const spans = [{ id: "a", kind: "llm", usage: { input_tokens: 1_000_000, output_tokens: 0 } }];
  const session = { id: "s", outcome: "ok", model: "our-own", startedAt: "2026-11-20T08:00:00Z", spans };
  await t.post("/api/agent-traces/ingest", { token, json: { sessions: [session] } });
  t.clock.advance(Date.UTC(2026, 10, 23, 7) - t.clock.now());
  await digestJob.run(t.instance.core);
  expect(noted(t, "digest.weekly")).toMatchObject([{ spend_usd: null, spend_usd_before: 0 }]);
  await arrived(receiver, 1);
});

it("counts in a digest the classes that recurred in that week, however many others recurred before, and none that recurred after it", async () => {
  const { receiver, t } = await startWithReceiver();
  const { token, team } = await t.device();
  await addChannel(t, receiver, team.id, ["digest.weekly"]);
  const entry = (date: string, rule: string) => `## ${date} It broke\n\nBroke.\n\n**Prevention rule:** ${rule}.\n\n`;
  // These recurred more often than the week's class, but long ago.
  const old = Array.from({ length: 120 }, (_, i) =>
    ["2026-09-03", "2026-09-02", "2026-09-01"].map((date) => entry(date, `look twice at case ${i}`)).join(""),
  );
  const again = entry("2026-11-18", "round once") + entry("2026-10-01", "round once");
  // One entry by the end of the week; the second, which makes it recur, is of the morning of the digest.
  const later = entry("2026-11-23", "read the clock once") + entry("2026-11-19", "read the clock once");
  await t.post("/api/brain/ingest", {
    token,
    json: {
      version: 1,
      repoKey: "acme/shop",
      files: [{ path: ".claude/brain/errors.md", content: later + again + old.join("") }],
    },
  });
  t.clock.advance(Date.UTC(2026, 10, 23, 7) - t.clock.now());
  await digestJob.run(t.instance.core);
  expect(noted(t, "digest.weekly")).toMatchObject([
    { recurring_errors: 1, most_recurring: [{ title: "It broke", occurrences: 2 }] },
  ]);
});

it("sends no digest of a team that moved to another server", async () => {
  const { receiver, t } = await startWithReceiver();
  const [here, away] = [await t.device(), await t.device()];
  await addChannel(t, receiver, null, ["digest.weekly"]);
  await teamMoves.begin(t.instance.core, away.team.id, "https://new.example", COMMAND_LINE);
  t.clock.advance(Date.UTC(2026, 10, 23, 7) - t.clock.now());
  await digestJob.run(t.instance.core);
  expect(t.rows("SELECT team_id AS team FROM notices WHERE type = 'digest.weekly'")).toEqual([{ team: here.team.id }]);
});

it("tells once when a replica fails its check, when nobody checks it any more, and when it is whole again", async () => {
  const { receiver, t, core } = await startWithReceiver();
  await addChannel(t, receiver, null, ["replica.stale"]);
  const look = async () => {
    for (let i = 0; i < 2; i++) await alarmsJob.run(core);
    return noted(t, "replica.stale");
  };
  // While no replica was ever checked, none is missed.
  t.clock.advance(7 * DAY_MS);
  expect(await look()).toEqual([]);
  noteReplicaCheck(core, null);
  const last = new Date(t.clock.now()).toISOString();
  expect(await look()).toEqual([]);
  t.clock.advance(DAY_MS);
  noteReplicaCheck(core, "it cannot be restored");
  const failed = { last, failing: true, state: "began" };
  expect(await look()).toEqual([failed]);
  noteReplicaCheck(core, null);
  expect(await look()).toEqual([failed, { state: "ended" }]);
  t.clock.advance(2 * DAY_MS + MINUTE_MS);
  const unchecked = { last: expect.any(String), failing: false, state: "began" };
  expect(await look()).toEqual([failed, { state: "ended" }, unchecked]);
  // An operator who gave the replica up is not told that it is whole again.
  rmSync(join(t.directory, "last-replica-check.json"));
  expect(await look()).toEqual([failed, { state: "ended" }, unchecked]);
  expect((await arrived(receiver, 3)).map(({ json }) => json.type)).toEqual(Array(3).fill("replica.stale"));
});
