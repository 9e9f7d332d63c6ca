import { join } from "node:path";
import { expect, it } from "vitest";
import { saveView } from "../../../src/identity/saved-views/saved-views.ts";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import {
  carryOut,
  placeHold,
  planErasure,
  requestErasure,
  resolveTarget,
  setRetention,
} from "../../../src/share/erasure/erasure.ts";
import { retentionJob } from "../../../src/share/erasure/nightly.ts";
import { backup, restore } from "../../../src/share/maintenance/maintenance.ts";
import { makeAccount } from "../../support/accounts.ts";
import { eraseNow, filesWith, personWith } from "../../support/erasure.ts";
import { startInstance, startWithDevice, type TestInstance } from "../../support/instance.ts";
import { ledgerFaults } from "../../support/ledger-faults.ts";
import { claudeCall, claudeLogs } from "../../support/otlp.ts";

const ADA = { person: "ada@example.com" };

/** A machine of everybody's, over which Ada's and Bob's agents export, and one of Ada's own. */
async function shared() {
  const t = await startInstance();
  const own = await t.device(await t.team({ name: "Acme" }));
  const all = await t.device(own.team);
  await personWith(t, own, ADA.person);
  const exported = async (session: string, email: string, text: string, by = all) => {
    const about = { "session.id": session, "user.email": email };
    const prompt = ["user_prompt", { ...about, prompt: text }] as const;
    const json = claudeLogs(prompt, claudeCall(`req_${session}`, about));
    expect((await t.post("/v1/logs", { token: by.token, json })).status).toBe(200);
  };
  await exported("s-ada", "Ada@Example.com", "marigold");
  await exported("s-bob", "bob@example.com", "lavender");
  // The machine's own client reports the session as well, under a repository.
  const entries = [{ seq: 1, payload: { type: "edit", sessionId: "s-ada", path: "marigold.ts" } }];
  const edited = { repoKey: "shop", sessions: [{ id: "s-ada", outcome: "ok", title: "marigold", spans: [] }] };
  expect((await t.post("/api/telemetry/ingest", { token: all.token, json: { repoKey: "shop", entries } })).status).toBe(
    200,
  );
  expect((await t.post("/api/agent-traces/ingest", { token: all.token, json: edited })).status).toBe(200);
  await t.instance.settle();
  return { t, own, all, exported, core: t.instance.core };
}

const faults = (t: TestInstance) => ledgerFaults(t.instance.core);
const sessions = (t: TestInstance) => t.rows("SELECT external_id AS id FROM trace_sessions").map(({ id }) => id);

it("erases what was exported in a person's name by a shared machine, and nobody else's", async () => {
  const { t, core } = await shared();
  const target = resolveTarget(core, ADA);
  expect((await planErasure(core, target)).counts).toMatchObject({ sessions: 1, spans: 1, entries: 3 });
  expect(await carryOut(core, await requestErasure(core, target, "they wanted it", COMMAND_LINE))).toMatchObject({
    sessions: 1,
    spans: 1,
    entries: 3,
  });
  for (const text of ["marigold", "s-ada", "Ada@Example.com", "ada@example.com"])
    expect(filesWith(t.directory, text)).toEqual([]);
  expect(sessions(t)).toEqual(["s-bob"]);
  expect(filesWith(t.directory, "lavender")).not.toEqual([]);
  expect(t.rows("SELECT sum(usages) AS n FROM spend_cells")).toEqual([{ n: 1 }]);
  expect(faults(t)).toEqual([]);
});

it("erases nothing of a person who has a held exported session", async () => {
  const { t, core } = await shared();
  const { id } = await placeHold(core, { session: "s-ada", reason: "claim" }, COMMAND_LINE);
  const target = resolveTarget(core, ADA);
  await expect(planErasure(core, target)).rejects.toThrow(id);
  await expect(requestErasure(core, target, "they wanted it", COMMAND_LINE)).rejects.toThrow(id);
  expect([sessions(t), t.count("erasures")]).toEqual([["s-ada", "s-bob"], 0]);
});

it("repeats that after a backup from before is restored", async () => {
  const { t, core } = await shared();
  const file = join(t.directory, "before");
  await backup(core, file);
  await eraseNow(core, ADA);
  await t.close();
  restore(file, t.directory, "then");
  const again = await startInstance({ directory: t.directory, clock: t.clock });
  await again.instance.settle();
  expect(sessions(again)).toEqual(["s-bob"]);
  expect(filesWith(join(t.directory), "marigold").filter((name) => !/^(?:backups|before)/.test(name))).toEqual([]);
  expect(faults(again)).toEqual([]);
});

it("erases a person's address from the spend of sessions that ran out before", async () => {
  const { t, core } = await shared();
  await setRetention(core, "Acme", "traces", 30, COMMAND_LINE);
  await setRetention(core, "Acme", "telemetry", 30, COMMAND_LINE);
  t.clock.advance(31 * DAY_MS);
  await retentionJob.run(core);
  const users = () => t.rows("SELECT session_user AS email FROM spend_cells WHERE usages > 0 ORDER BY email");
  expect([sessions(t), users()]).toEqual([[], [{ email: "ada@example.com" }, { email: "bob@example.com" }]]);
  await eraseNow(core, ADA);
  expect(users()).toEqual([{ email: "" }, { email: "bob@example.com" }]);
  expect(filesWith(t.directory, "ada@example.com")).toEqual([]);
  expect(faults(t)).toEqual([]);
});

it("erases what another client reported of sessions exported in a person's name, also when it is interrupted", async () => {
  const { t, core, own, all, exported } = await shared();
  const machine = await t.device(own.team);
  const told = async (session: string, text: string) => {
    const entries = [{ seq: session.length, payload: { type: "edit", sessionId: session, path: `${text}.ts` } }];
    const sessions = [{ id: session, outcome: "ok", title: text, files: [], spans: [{ id: "a", name: text }] }];
    for (const [path, json] of Object.entries({
      "/api/telemetry/ingest": { repoKey: "shop", entries },
      "/api/agent-traces/ingest": { repoKey: "shop", sessions },
    }))
      expect((await t.post(path, { token: machine.token, json })).status).toBe(200);
    await t.instance.settle();
  };
  // Exported with the shared token, and with that of her own machine, which is erased with her.
  await exported("s-peony", ADA.person, "peony", all);
  await exported("s-tulip-1", ADA.person, "tulip", own);
  await exported("s-iris", ADA.person, "peony", machine);
  await told("s-peony", "peony");
  await told("s-tulip-1", "tulip");
  await told("s-machine-1", "lavender");
  const target = resolveTarget(core, ADA);
  expect((await planErasure(core, target)).counts).toMatchObject({ sessions: 6 });
  const erasure = await requestErasure(core, target, "they wanted it", COMMAND_LINE);
  const onStep = ({ sessions = 0 }) => {
    if (sessions > 0) throw new Error("killed");
  };
  for (let killed = true; killed; )
    killed = await carryOut(core, erasure, onStep).then(
      () => false,
      () => true,
    );
  for (const text of ["peony", "tulip", ADA.person, "Ada@Example.com"])
    expect(filesWith(t.directory, text)).toEqual([]);
  expect(sessions(t)).toEqual(["s-bob", "s-machine-1"]);
  expect(t.rows("SELECT completed_at FROM erasures")).not.toEqual([{ completed_at: null }]);
  expect(faults(t)).toEqual([]);
});

it("erases views that others saved of a person who is named without an account", async () => {
  const { t, core } = await shared();
  const [{ id: teamId }] = t.rows("SELECT id FROM teams");
  const keeper = await makeAccount(core, { email: "keeper@example.com", team: { id: teamId, role: "owner" } });
  for (const person of ["ada@example.com", "bob@example.com"])
    await saveView(
      core,
      teamId,
      keeper.id,
      {
        ...{ place: "/sessions", name: person.slice(0, 3), shared: true },
        query: `${new URLSearchParams({ person, result: "failed" })}`,
      },
      COMMAND_LINE,
    );
  await eraseNow(core, ADA);
  expect(t.rows("SELECT name FROM saved_views")).toEqual([{ name: "bob" }]);
});

it("erases exported sessions that name no repository, so that none of their usage counts any more", async () => {
  const { t, core, device } = await startWithDevice();
  const records = [claudeCall("req_1"), ["user_prompt", { prompt: "marigold" }]] as const;
  expect((await t.post("/v1/logs", { token: device.token, json: claudeLogs(...records) })).status).toBe(200);
  await t.instance.settle();
  expect(() => resolveTarget(core, { repo: "(otlp)" })).toThrow('--repo "" erases it');
  await eraseNow(core, { repo: "" });
  expect(filesWith(t.directory, "marigold")).toEqual([]);
  expect(t.rows("SELECT * FROM telemetry_entries WHERE payload <> ''")).toEqual([]);
  expect(t.rows("SELECT sum(usages) AS usages FROM spend_cells")).toEqual([{ usages: null }]);
  expect(faults(t)).toEqual([]);
});
