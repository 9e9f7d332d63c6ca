import { expect, it } from "vitest";
import { getUser, storePerson } from "../../../src/identity/people/people.ts";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import {
  carryOut,
  placeHold,
  planErasure,
  releaseHold,
  requestErasure,
  resolveTarget,
  setRetention,
} from "../../../src/share/erasure/erasure.ts";
import { retentionJob } from "../../../src/share/erasure/nightly.ts";
import { eraseNow, filesWith, personWith } from "../../support/erasure.ts";
import { noteOf, read, sha, upload } from "../../support/git-ai.ts";
import { startInstance, type TestDevice, type TestInstance } from "../../support/instance.ts";
import { ledgerFaults } from "../../support/ledger-faults.ts";

const faults = (t: TestInstance) => ledgerFaults(t.instance.core);
const commits = (t: TestInstance) => t.rows("SELECT commit_sha AS c FROM trace_notes ORDER BY id").map(({ c }) => c);

/** A note of a session, or of several, with a text of its own. */
const noteBy = (text: string, ...ids: string[]) => {
  const keys = ids.map((id, i) => [`s_${i}`, id] as const);
  const lines = Object.fromEntries(keys.map(([key], i) => [`${key}::t_1`, String(i + 1)]));
  return noteOf({ files: { [`src/${text}.ts`]: lines }, sessions: Object.fromEntries(keys) });
};
const session = (t: TestInstance, { token }: TestDevice, id: string) =>
  t.post("/api/agent-traces/ingest", {
    token,
    json: { repoKey: "shop", sessions: [{ id, outcome: "ok", spans: [] }] },
  });

async function team() {
  const t = await startInstance();
  const mine = await t.device(await t.team({ name: "Acme" }));
  const [other, key] = [await t.device(mine.team), await t.device(mine.team)];
  await session(t, mine, "mine");
  await session(t, other, "theirs");
  return { t, mine, other, key };
}

it("erases the notes that name an erased session, whoever sent them, with what they told of others", async () => {
  const { t, mine, key } = await team();
  const before = { [sha("a")]: noteBy("marigold", "mine", "theirs"), [sha("b")]: noteBy("lavender", "theirs") };
  await upload(t, key.token, before);
  await t.instance.settle();
  expect(t.rows("SELECT DISTINCT sha FROM trace_session_commits ORDER BY sha")).toHaveLength(2);
  expect(await eraseNow(t.instance.core, { session: "mine" })).toMatchObject({ sessions: 1, notes: 1 });
  expect([commits(t), filesWith(t.directory, "marigold"), filesWith(t.directory, sha("a"))]).toEqual([
    [sha("b")],
    [],
    [],
  ]);
  expect(t.rows("SELECT sha FROM trace_session_commits")).toEqual([{ sha: sha("b") }]);
  expect((await read(t, mine.token, sha("a"))).status).toBe(404);
  expect(faults(t)).toEqual([]);
  expect(await eraseNow(t.instance.core, { device: key.deviceId })).toMatchObject({ notes: 1, devices: 1 });
  expect([commits(t), filesWith(t.directory, "lavender"), t.count("trace_session_commits")]).toEqual([[], [], 0]);
  expect(faults(t)).toEqual([]);
  expect(t.rows("SELECT erased_by IS NOT NULL AS gone FROM deliveries WHERE mode = 'notes'")).toEqual([{ gone: 1 }]);
});

it("leaves nothing of what a note told of others when the erasure is interrupted and continued", async () => {
  const { t, key } = await team();
  await upload(t, key.token, { [sha("a")]: noteBy("marigold", "mine", "theirs"), [sha("b")]: noteBy("b", "theirs") });
  await t.instance.settle();
  const { core } = t.instance;
  const erasure = await requestErasure(core, resolveTarget(core, { session: "mine" }), "they wanted it", COMMAND_LINE);
  const cut = carryOut(core, erasure, ({ notes = 0 }) => {
    if (notes > 0) throw new Error("cut");
  });
  await expect(cut).rejects.toThrow("cut");
  await t.close();
  const again = await startInstance({ directory: t.directory, clock: t.clock });
  expect(again.rows("SELECT sha FROM trace_session_commits")).toEqual([{ sha: sha("b") }]);
  expect([filesWith(again.directory, sha("a")), faults(again)]).toEqual([[], []]);
});

it("erases one note of a delivery and keeps the others, and one that was sent again", async () => {
  const { t, mine, other, key } = await team();
  await upload(t, key.token, { [sha("a")]: noteBy("marigold", "mine"), [sha("b")]: noteBy("crocus", "x") });
  await upload(t, other.token, { [sha("b")]: noteBy("lavender", "mine") });
  await eraseNow(t.instance.core, { session: "mine" });
  expect([commits(t), filesWith(t.directory, "lavender"), faults(t)]).toEqual([[], [], []]);
  await upload(t, mine.token, { [sha("a")]: noteBy("rose", "y") });
  expect([commits(t), faults(t)]).toEqual([[sha("a")], []]);
});

it("erases notes that name a person, from colleagues' devices too", async () => {
  const { t, mine, key } = await team();
  await personWith(t, mine, "ada@example.com");
  await upload(t, key.token, {
    [sha("a")]: noteBy("marigold", "unknown"),
    [sha("b")]: noteBy("lavender", "unknown").replaceAll("ada@example.com", "bob@example.com"),
  });
  await eraseNow(t.instance.core, { person: "ada@example.com" });
  expect([commits(t), filesWith(t.directory, "marigold"), faults(t)]).toEqual([[sha("b")], [], []]);
});

it("erases notes that name a person by the address that they had before, and nothing where such a note is held", async () => {
  const { t, mine, key } = await team();
  const { core } = t.instance;
  const user = await personWith(t, mine, "ada@example.com");
  await upload(t, key.token, { [sha("a")]: noteBy("marigold", "unknown") });
  const changed = { email: "ada.byron@example.com", name: "Ada" };
  await core.store.write(() => storePerson(core, getUser(core, user.id), changed, COMMAND_LINE));
  const { id } = await placeHold(core, { device: key.deviceId, reason: "claim" }, COMMAND_LINE);
  await expect(planErasure(core, resolveTarget(core, { person: changed.email }))).rejects.toThrow(id);
  await releaseHold(core, id, COMMAND_LINE);
  expect(await eraseNow(t.instance.core, { person: changed.email })).toMatchObject({ notes: 1 });
  expect([commits(t), filesWith(t.directory, "ada@example.com"), faults(t)]).toEqual([[], [], []]);
});

it("erases notes that name a person in any case of letters, and none with a longer address that contains theirs", async () => {
  const { t, other, key } = await team();
  await personWith(t, other, "ann@acme.example");
  const texts = ["by ann@acme.example.org", "by joann@acme.example", "on\\nAnn@Acme.example.", "<ann@acme.example>"];
  const notes = texts.map((text, i) => [sha("abcd".charAt(i)), noteBy(text, "x")] as const);
  await upload(t, key.token, Object.fromEntries(notes));
  expect(await eraseNow(t.instance.core, { person: "ann@acme.example" })).toMatchObject({ notes: 2 });
  expect([commits(t), faults(t)]).toEqual([[sha("a"), sha("b")], []]);
});

it("removes notes that ran out with their sessions, except those of a held session", async () => {
  const { t, mine, key } = await team();
  await placeHold(t.instance.core, { session: "theirs", reason: "claim" }, COMMAND_LINE);
  await setRetention(t.instance.core, "Acme", "traces", 30, COMMAND_LINE);
  await upload(t, key.token, {
    [sha("a")]: noteBy("a", "mine"),
    [sha("b")]: noteBy("b", "theirs"),
    [sha("c")]: noteBy("c", "unknown"),
  });
  t.clock.advance(40 * DAY_MS);
  await upload(t, mine.token, { [sha("d")]: noteBy("d", "unknown") });
  await retentionJob.run(t.instance.core);
  expect([commits(t), faults(t)]).toEqual([[sha("b"), sha("d")], []]);
});

it("erases a note although a device of the team is held that sent something else", async () => {
  const { t, mine, key } = await team();
  await upload(t, key.token, { [sha("a")]: noteBy("a", "mine") });
  await placeHold(t.instance.core, { device: (await t.device(mine.team)).deviceId, reason: "claim" }, COMMAND_LINE);
  await eraseNow(t.instance.core, { session: "mine" });
  expect([commits(t), faults(t)]).toEqual([[], []]);
});

it.each([
  ["of their device", (key: TestDevice) => ({ device: key.deviceId }), { person: "ada@example.com" }, ["a", "b"]],
  ["of a session that they name", () => ({ session: "theirs" }), { repo: "shop" }, ["b"]],
] as const)("keeps notes that are held, though what they name goes: by a hold %s", async (_, held, target, kept) => {
  const { t, mine, key } = await team();
  const { core } = t.instance;
  await personWith(t, mine, "ada@example.com");
  const notes = { [sha("a")]: noteBy("a", "mine"), [sha("b")]: noteBy("b", "mine", "theirs") };
  await upload(t, key.token, notes);
  const hold = await placeHold(core, { ...held(key), reason: "claim" }, COMMAND_LINE);
  for (const one of [{ session: "mine" }, { device: mine.deviceId }, target]) {
    await expect(eraseNow(t.instance.core, one)).rejects.toThrow(hold.id);
    await expect(planErasure(core, resolveTarget(core, one))).rejects.toThrow(hold.id);
  }
  const entries = [{ seq: 1, payload: { sessionId: "mine" } }];
  await t.post("/api/telemetry/ingest", { token: mine.token, json: { repoKey: "shop", entries } });
  await eraseNow(core, { entry: String(t.rows("SELECT id FROM telemetry_entries")[0].id) });
  expect(t.rows("SELECT entry_count AS entries FROM telemetry_streams")).toEqual([{ entries: 0 }]);
  await setRetention(core, "Acme", "traces", 30, COMMAND_LINE);
  t.clock.advance(40 * DAY_MS);
  await retentionJob.run(core);
  expect([commits(t), faults(t)]).toEqual([kept.map(sha), []]);
});
