import { expect, it } from "vitest";
import { teamMoves } from "../../src/identity/teams/teams.ts";
import { DAY_MS, isoInstant } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { listPulses } from "../../src/record/pulses/pulses.ts";
import { startInstance, startWithDevice, type TestInstance } from "../support/instance.ts";
import { turnsOfOthers } from "../support/others.ts";

const pulse = (more: Record<string, unknown> = {}) => ({
  ...{ repoKey: "shop", at: "2026-11-21T07:00:00Z", counts: { errors: 9, open: 1 }, fingerprints: ["3fa9c1d2"] },
  ...more,
});
const send = (t: TestInstance, token: string, json: unknown) => t.post("/api/brain-pulse/ingest", { token, json });
const held = (t: TestInstance) =>
  t.rows("SELECT repo_key, at, counts, fingerprints FROM brain_pulses ORDER BY repo_key");

it("keeps one row a device and repository: the newest", async () => {
  const { t, token } = await startWithDevice();
  const first = await send(t, token, pulse());
  expect(first.body).toEqual({ ok: true, repoKey: "shop", at: "2026-11-21T07:00:00.000Z" });
  const newer = await send(
    t,
    token,
    pulse({ at: "2026-11-21T09:00:00+01:00", counts: { errors: 10 }, fingerprints: [] }),
  );
  expect(newer.body.at).toBe("2026-11-21T08:00:00.000Z");
  await send(t, token, pulse({ repoKey: "other" }));
  expect(held(t)).toEqual([
    expect.objectContaining({ repo_key: "other" }),
    {
      ...{ repo_key: "shop", at: Date.parse("2026-11-21T08:00:00Z") },
      ...{ counts: '{"errors":10}', fingerprints: "[]" },
    },
  ]);
});

it("answers an older pulse with the stored one, and takes a retry as harmless", async () => {
  const { t, token } = await startWithDevice();
  await send(t, token, pulse());
  const before = held(t);
  const late = await send(t, token, pulse({ at: "2026-11-21T06:00:00Z", counts: { errors: 1 } }));
  expect([late.status, late.body]).toEqual([200, { ok: true, repoKey: "shop", at: "2026-11-21T07:00:00.000Z" }]);
  expect((await send(t, token, pulse())).status).toBe(200);
  expect(held(t)).toEqual(before);
});

it("keeps what came without a repository apart", async () => {
  const { t, token } = await startWithDevice();
  const { repoKey: _, ...nameless } = pulse();
  expect((await send(t, token, nameless)).body.repoKey).toBeNull();
  await send(t, token, pulse());
  expect(t.count("brain_pulses")).toBe(2);
});

it("keeps each fingerprint once and secrets never", async () => {
  const { t, token } = await startWithDevice();
  const secret = "ghp_0123456789abcdefghijABCDEFGHIJ456789";
  const answer = await send(
    t,
    token,
    pulse({
      ...{
        repoKey: "https://user:hunter2secret@git.example.com/a",
        fingerprints: ["ffffffff", "00000000", "ffffffff"],
      },
      counts: { [secret]: 2, errors: 1 },
    }),
  );
  expect(answer.status).toBe(200);
  const [row] = held(t);
  expect(row.fingerprints).toBe('["00000000","ffffffff"]');
  expect(`${JSON.stringify(row)}${answer.text}`).not.toMatch(/hunter2secret|ghp_/);
  expect(Object.values(JSON.parse(row.counts))).toEqual([2, 1]);
});

it.each<[string, unknown]>([
  ["at", pulse({ at: "yesterday" })],
  ["at", pulse({ at: 1 })],
  ["at", pulse({ at: undefined })],
  ["at", pulse({ at: "1969-12-31T23:59:59Z" })],
  ["at", pulse({ at: isoInstant(Date.UTC(2026, 10, 21, 8) + DAY_MS + 1) })],
  ["counts", pulse({ counts: undefined })],
  ["counts", pulse({ counts: [] })],
  ["counts", pulse({ counts: { errors: -1 } })],
  ["counts", pulse({ counts: { errors: 1.5 } })],
  ["counts", pulse({ counts: { errors: "1" } })],
  ["counts", pulse({ counts: { errors: 2 ** 53 } })],
  ["counts", pulse({ counts: { "": 1 } })],
  ["counts", pulse({ counts: { "a\n": 1 } })],
  ["counts", pulse({ counts: { ["a".repeat(65)]: 1 } })],
  ["counts", pulse({ counts: JSON.parse('{"__proto__":1}') })],
  ['counts" must have no member named', pulse({ counts: { constructor: 1 } })],
  ["counts", pulse({ counts: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`c${i}`, i])) })],
  ["fingerprints", pulse({ fingerprints: undefined })],
  ["fingerprints", pulse({ fingerprints: ["3FA9C1D2"] })],
  ["fingerprints", pulse({ fingerprints: ["3fa9c1d"] })],
  ["fingerprints", pulse({ fingerprints: Array(1_001).fill("3fa9c1d2") })],
  ["repoKey", pulse({ repoKey: "" })],
])("refuses a pulse whose %s is wrong, and keeps nothing of it", async (member, json) => {
  const { t, token } = await startWithDevice();
  const answer = await send(t, token, json);
  expect(answer.status).toBe(400);
  expect(answer.body.error).toContain(member);
  expect(t.count("brain_pulses")).toBe(0);
});

it("accepts a pulse at the limits", async () => {
  const { t, token } = await startWithDevice();
  const counts = Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`${i}`.padStart(64, "é"), 2 ** 53 - 1]));
  const fingerprints = Array.from({ length: 1_000 }, (_, i) => i.toString(16).padStart(8, "0"));
  const at = isoInstant(t.clock.now() + DAY_MS);
  expect((await send(t, token, pulse({ counts, fingerprints, at }))).status).toBe(200);
});

it("refuses a tier that does not include the brain", async () => {
  const t = await startInstance();
  const { token } = await t.device(await t.team({ tier: "starter" }));
  const answer = await send(t, token, pulse());
  expect([answer.status, answer.body.entitled]).toEqual([402, ["team", "enterprise"]]);
  expect(t.count("brain_pulses")).toBe(0);
});

it("adds up the pulses of a team's devices, and lists the classes that two of them know", async () => {
  const t = await startInstance();
  const [one, other] = [await t.device(), await t.device()];
  const two = await t.device(one.team);
  await send(t, one.token, pulse({ fingerprints: ["aaaaaaaa", "bbbbbbbb"] }));
  await send(t, one.token, pulse({ repoKey: "b", counts: { errors: 1 }, fingerprints: ["cccccccc", "aaaaaaaa"] }));
  await send(t, two.token, pulse({ at: "2026-11-20T07:00:00Z", fingerprints: ["bbbbbbbb", "dddddddd"] }));
  await send(t, other.token, pulse({ counts: { errors: 1_000 }, fingerprints: ["cccccccc"] }));
  const all = await listPulses(t.instance.core, one.team.id);
  expect(all.counts).toEqual({ errors: 19, open: 2 });
  expect(all.shared).toEqual([{ fingerprint: "bbbbbbbb", devices: 2 }]);
  expect(all.pulses.map(({ deviceId, repoKey }) => [deviceId, repoKey]).at(-1)).toEqual([two.deviceId, "shop"]);
  expect((await listPulses(t.instance.core, one.team.id, Date.UTC(2026, 10, 21))).pulses).toHaveLength(2);
});

it("adds up thousands of pulses with distinct fingerprints while others get their turn", async () => {
  const { t, token, deviceId, team } = await startWithDevice();
  await send(t, token, pulse({ counts: { errors: 1 }, fingerprints: ["aaaaaaaa"] }));
  const { deviceId: other } = await t.device(team);
  const { core } = t.instance;
  // As many as devices may send within their limits in an hour.
  const insert = core.store.db.prepare("INSERT INTO brain_pulses VALUES (?, ?, ?, ?, ?, ?, ?)");
  core.store.db.exec("BEGIN");
  for (let i = 1; i < 5_000; i++) {
    const counts = JSON.stringify({ errors: 1, [`n${i}`]: 1 });
    const own = Array.from({ length: 100 }, (_, k) => (i * 100 + k).toString(16).padStart(8, "0"));
    const isNewest = i === 4_999;
    const fingerprints = JSON.stringify(isNewest ? [...own, "aaaaaaaa"] : own);
    insert.run(isNewest ? other : deviceId, `r${i}`, team.id, i, counts, fingerprints, i);
  }
  core.store.db.exec("COMMIT");
  const { turns, done } = await turnsOfOthers(core, () => listPulses(core, team.id));
  const { pulses, counts, shared } = done;
  expect(turns).toBeGreaterThan(2_000);
  expect(pulses).toHaveLength(5_000);
  expect(shared).toEqual([{ fingerprint: "aaaaaaaa", devices: 2 }]);
  expect([counts.errors, counts.n4999, counts.n1]).toEqual([5_000, 1, undefined]);
});

it("refuses a pulse once the team moved, although its token was checked before the move", async () => {
  const { t, token, team } = await startWithDevice();
  const [, answer] = await Promise.all([
    teamMoves.begin(t.instance.core, team.id, "https://new.example", COMMAND_LINE),
    send(t, token, pulse()),
  ]);
  expect([answer.status, answer.body.movedTo]).toEqual([401, "https://new.example"]);
  expect(t.count("brain_pulses")).toBe(0);
});
