import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { expect, it } from "vitest";
import { createApiToken, revokeApiToken } from "../../../src/identity/api-tokens/api-tokens.ts";
import {
  createCliToken,
  decideAuthorization,
  startAuthorization,
} from "../../../src/identity/device-flow/device-flow.ts";
import { bindDevice, createCode, renameDevice } from "../../../src/identity/devices/devices.ts";
import { setRole } from "../../../src/identity/members/members.ts";
import { createResetLink } from "../../../src/identity/one-time-links/one-time-links.ts";
import { createReadToken } from "../../../src/identity/read-tokens/read-tokens.ts";
import { saveView } from "../../../src/identity/saved-views/saved-views.ts";
import { addApp, beginApp, openPending } from "../../../src/identity/second-factor/second-factor.ts";
import { codeAt } from "../../../src/identity/second-factor/totp.ts";
import { signIn } from "../../../src/identity/sign-in/sign-in.ts";
import { addIssuer, linkVouched } from "../../../src/identity/sso/sso.ts";
import { recordDeviceRead } from "../../../src/insight/ask/ask.ts";
import { setBudget } from "../../../src/insight/budgets/budgets.ts";
import { catchUpSpend } from "../../../src/insight/spend/spend.ts";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { COMMAND_LINE, recordEvent } from "../../../src/platform/audit/audit.ts";
import { currentVersion, setPolicy } from "../../../src/record/policy/policy.ts";
import { seal } from "../../../src/record/telemetry/seal.ts";
import { listEntries } from "../../../src/record/telemetry/telemetry.ts";
import { seal as sealSpans } from "../../../src/record/traces/seal.ts";
import {
  carryOut,
  placeHold,
  planErasure,
  releaseHold,
  requestErasure,
  resolveTarget,
} from "../../../src/share/erasure/erasure.ts";
import { JOURNAL } from "../../../src/share/erasure/journal.ts";
import { resumingJob } from "../../../src/share/erasure/resume.ts";
import { stepsOf } from "../../../src/share/erasure/steps.ts";
import { backup, restore, verifyLedger } from "../../../src/share/maintenance/maintenance.ts";
import { makeAccount, PASSWORD } from "../../support/accounts.ts";
import { deliverAll, filesWith, personWith } from "../../support/erasure.ts";
import { startInstance, startWithDevice, startWithTeam, type TestInstance } from "../../support/instance.ts";

const request = (t: TestInstance, target: Parameters<typeof resolveTarget>[1]) => {
  const { core } = t.instance;
  return requestErasure(core, resolveTarget(core, target), "they wanted it", COMMAND_LINE);
};
const erase = async (t: TestInstance, target: Parameters<typeof resolveTarget>[1]) =>
  carryOut(t.instance.core, await request(t, target));
const report = (t: TestInstance) => verifyLedger(t.instance.core, undefined, () => {});
const spent = (t: TestInstance) => t.rows("SELECT sum(usages) AS usages FROM spend_cells")[0].usages;

async function twoDevices() {
  const t = await startInstance();
  const team = await t.team({ name: "Acme" });
  const [mine, other] = [await t.device(team), await t.device(team)];
  await deliverAll(t, mine, "shop", "marigold");
  await deliverAll(t, mine, "shop", "marigold", 10);
  await deliverAll(t, other, "till", "lavender");
  return { t, team, mine, other };
}

it("erases what a device sent, from every file, and nothing of others", async () => {
  const { t, mine, other } = await twoDevices();
  await t.instance.core.store.reclaim();
  expect(filesWith(t.directory, "marigold")).not.toEqual([]);
  const before = spent(t);
  const counts = await erase(t, { device: mine.deviceId });
  expect(counts).toMatchObject({ entries: 6, sessions: 2, spans: 2, labels: 3, snapshots: 2, notes: 2, devices: 1 });
  expect(filesWith(t.directory, "marigold")).toEqual([]);
  expect(filesWith(t.directory, "lavender")).toEqual(["reckon.db"]);
  expect(spent(t)).toBeLessThan(before);
  expect(t.rows("SELECT DISTINCT device_id FROM spend_cells")).toEqual([{ device_id: other.deviceId }]);
  expect(report(t)).toMatchObject({ faults: [], erased: 8 });
  expect((await t.post("/api/telemetry/heartbeat", { token: mine.token, json: {} })).status).toBe(401);
  const erasure = t.rows("SELECT kind, completed_at IS NOT NULL AS done, counts FROM erasures")[0];
  expect([erasure.kind, erasure.done, JSON.parse(erasure.counts)]).toEqual(["device", 1, counts]);
  expect(t.rows("SELECT action FROM audit_events WHERE action LIKE 'erasure.%' ORDER BY id")).toEqual([
    { action: "erasure.requested" },
    { action: "erasure.completed" },
  ]);
});

it("erases a person with their devices, from accounts, audit and whatever they made", async () => {
  const t = await startInstance();
  const [device, other] = [await t.device(), await t.device()];
  const email = "Zinnia@example.com";
  const { id } = await personWith(t, device, email);
  await personWith(t, other, "lilac.zinnia@example.com");
  await deliverAll(t, device, "shop", "marigold");
  const { core } = t.instance;
  const by = { kind: "user", id, label: email, ip: "192.0.2.77" } as const;
  await setPolicy(core, device.team.id, { captureMode: "full" } as never, by);
  for (const label of ["marigold laptop", "the short one"])
    await renameDevice(core, device.team.id, device.deviceId, label, COMMAND_LINE);
  // The name that they gave to another's device stays, but not who gave it.
  await renameDevice(core, other.team.id, other.deviceId, "the tall one", by);
  await setRole(core, device.team.id, id, "admin", by);
  const mine = await createApiToken(core, { name: "marigold nightly", teamId: device.team.id, userId: id }, by);
  await revokeApiToken(core, mine.id, by);
  await createReadToken(core, { userId: id, name: "marigold reads" }, by);
  const read = { tool: "brain_search", total: 1, shown: 1, ip: "192.0.2.77" };
  await recordDeviceRead(core, { ...device, teamId: device.team.id }, read);
  await recordDeviceRead(core, { ...other, teamId: other.team.id }, { ...read, ip: "192.0.2.5" });
  const plan = await planErasure(core, resolveTarget(core, { person: "zinnia@example.com" }));
  expect(plan).toMatchObject({ counts: { entries: 3, sessions: 1, snapshots: 1 }, devices: [device.deviceId] });
  await erase(t, { person: "zinnia@example.com" });
  for (const text of ["marigold", "192.0.2.77"]) expect([text, filesWith(t.directory, text)]).toEqual([text, []]);
  expect(
    t.rows("SELECT email, name, password_hash, disabled_at IS NOT NULL AS closed FROM users WHERE id = ?", id),
  ).toEqual([{ email: `erased-${id}`, name: null, password_hash: null, closed: 1 }]);
  expect(t.count("memberships")).toBe(1);
  const labels = t.rows("SELECT actor_label, target_label, ip, detail FROM audit_events");
  expect(JSON.stringify(labels)).not.toMatch(/(?<!lilac\.)zinnia@/i);
  expect(JSON.stringify(labels)).toContain("lilac.zinnia@example.com");
  expect(t.rows("SELECT DISTINCT target_label AS label FROM audit_events WHERE target_id = ?", mine.id)).toEqual([
    { label: `erased-${mine.id}` },
  ]);
  expect(t.rows("SELECT device_id AS id FROM device_reads")).toEqual([{ id: other.deviceId }]);
  expect(currentVersion(core, device.team.id).createdBy).toBe(`erased-${id}`);
  expect(report(t).faults).toEqual([]);
});

/** Where a text stands in the rows of a database, as `table.column`. */
function cellsWith(t: TestInstance, text: string): string[] {
  const tables: { name: string }[] = t.rows(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'",
  );
  return tables
    .flatMap(({ name }) =>
      t.rows("SELECT ? || '.' || name AS cell, ? AS 'table', name FROM pragma_table_info(?)", name, name, name),
    )
    .filter((one) => t.rows(`SELECT 1 FROM "${one.table}" WHERE instr("${one.name}", ?) > 0 LIMIT 1`, text).length > 0)
    .map(({ cell }) => cell)
    .sort();
}

it("leaves no row of an account, except those that show that somebody acted", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const [device, other] = [await t.device(), await t.device()];
  const email = "zinnia@example.com";
  const { id } = await personWith(t, device, email);
  const teamId = device.team.id;
  const by = { kind: "user", id, label: email, ip: "192.0.2.77" } as const;
  const keeper = await makeAccount(core, { email: "keeper@example.com", team: { id: teamId, role: "owner" } });
  await signIn(core, email, PASSWORD, { ip: "192.0.2.77", userAgent: "a browser" });
  const [{ id: sessionId }] = t.rows("SELECT id FROM web_sessions");
  const { sealed } = beginApp(core, id, "Reckon");
  const secret = Buffer.from(openPending<string>(core, `app ${id}`, sealed) ?? "", "base64");
  const code = codeAt(secret, Math.floor(t.clock.now() / 30_000));
  await addApp(core, id, { sealed, code, name: "zinnia's phone" }, by, sessionId);
  const issuer = await addIssuer(
    core,
    "acme",
    { issuer: "https://login.example.com", clientId: "reckon" },
    COMMAND_LINE,
  );
  const vouched = { subject: "zinnia-at-acme", email, emailVerified: true, name: null, groups: [] };
  await linkVouched(core, issuer, vouched, id, by);
  await createCliToken(core, { id, email }, by);
  const { userCode } = await startAuthorization(core, { channel: null, ip: "192.0.2.77", userAgent: "zinnia's tool" });
  await decideAuthorization(core, userCode, "approved", { id, email }, by);
  await createReadToken(core, { userId: id, name: "zinnia reads" }, by);
  await createResetLink(core, id, by);
  await setBudget(core, teamId, { scope: "person", subject: id, period: "month", amountUsd: 5 }, COMMAND_LINE);
  await setBudget(core, teamId, { scope: "repo", subject: "shop", period: "month", amountUsd: 5 }, by);
  await setPolicy(core, teamId, { captureMode: "full" } as never, by);
  // As an upgrade leaves it where it cannot tell which holder of an address it was.
  for (const table of ["budgets", "connect_codes", "policies"])
    core.store.db.prepare(`UPDATE ${table} SET created_by = ?`).run(email);
  await saveView(core, teamId, id, { place: "/spend", name: "zinnia's", query: "", shared: false }, COMMAND_LINE);
  for (const name of ["person", "owner"])
    await saveView(
      core,
      teamId,
      keeper.id,
      { place: "/errors", name, query: `${name}=${id}`, shared: true },
      COMMAND_LINE,
    );
  await placeHold(core, { team: other.team.id, reason: "asked for by counsel" }, by);
  const of = (table: string) => t.rows(`SELECT count(*) AS n FROM ${table}`)[0].n;
  const planted = ["budgets", "cli_tokens", "device_authorizations", "memberships", "one_time_links", "recovery_codes"];
  planted.push("second_factors", "sso_holders", "sso_identities", "web_sessions");
  for (const table of planted) expect([table, of(table) > 0]).toEqual([table, true]);
  await erase(t, { person: id });
  // Only ids stay, of what was done and what was revoked, and the account's own row under a mark.
  expect(cellsWith(t, id)).toEqual([
    ...["audit_events.actor_id", "audit_events.actor_label", "audit_events.detail"],
    ...["audit_events.target_id", "audit_events.target_label", "budgets.created_by", "connect_codes.created_by"],
    ...["devices.person_id", "erasures.target", "holds.placed_by", "policies.created_by", "read_tokens.user_id"],
    ...["users.email", "users.email_key", "users.id"],
  ]);
  expect([of("cli_tokens"), of("memberships"), of("saved_views")]).toEqual([0, 1, 0]);
  for (const text of ["zinnia", "192.0.2.77"]) expect([text, filesWith(t.directory, text)]).toEqual([text, []]);
  expect(report(t).faults).toEqual([]);
});

it("leaves nothing of the program that connected a device, also in the audit", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const { code } = await createCode(core, (await t.team()).id, COMMAND_LINE);
  const { deviceId } = await bindDevice(core, code, "1", "the tall one", "tuberose-client/1.0", "192.0.2.78");
  // A failure's text may quote what could not be read.
  t.rows("INSERT INTO projection_failures VALUES ('spend', 1, 1, 'cannot read tuberose') RETURNING name");
  expect(filesWith(t.directory, "tuberose")).not.toEqual([]);
  await erase(t, { device: deviceId });
  for (const text of ["tuberose", "the tall one", "192.0.2.78"])
    expect([text, filesWith(t.directory, text)]).toEqual([text, []]);
  expect(report(t).faults).toEqual([]);
});

it("leaves nothing of a person who stays active while they are erased", async () => {
  const { t, core, device } = await startWithDevice();
  const { id, email } = await personWith(t, device, "zinnia@example.com");
  await deliverAll(t, device, "shop", "marigold");
  const { code } = await createCode(core, device.team.id, COMMAND_LINE, undefined, id);
  const erasure = await request(t, { person: id });
  const origin = { ip: "192.0.2.77", userAgent: "zinnia's browser" };
  let refused = 0;
  for await (const step of stepsOf(core, erasure)) {
    await signIn(core, email, PASSWORD, origin).catch(() => refused++);
    t.clock.advance(DAY_MS);
    await core.store.write(step);
    await bindDevice(core, code, "1", "zinnia's laptop", null, origin.ip).catch(() => refused++);
  }
  expect(refused).toBeGreaterThan(10);
  await carryOut(core, erasure);
  for (const text of ["zinnia", "192.0.2.77"]) expect([text, filesWith(t.directory, text)]).toEqual([text, []]);
  expect(report(t).faults).toEqual([]);
});

it("keeps longer addresses in the audit that contain the person's, and finds the person's before a full stop", async () => {
  const { t, core, device } = await startWithDevice();
  await personWith(t, device, "ann@acme.example");
  const others = ["ann@acme.example.org", "joann@acme.example", "o'ann@acme.example", "ann@acme.example-labs.org"];
  const texts = [
    ...others,
    "asked by Ann@Acme.example.",
    "ann@acme.example, ann@acme.example.org",
    "<ann@acme.example>",
  ];
  for (const label of texts)
    await core.store.write(() =>
      recordEvent(core, COMMAND_LINE, {
        action: "user.created",
        teamId: null,
        target: { kind: "user", id: "x", label },
      }),
    );
  await erase(t, { person: "ann@acme.example" });
  const mark = t.rows("SELECT email FROM users")[0].email;
  expect(t.rows("SELECT target_label AS label FROM audit_events WHERE target_id = 'x' ORDER BY id")).toEqual(
    [...others, `asked by ${mark}.`, `${mark}, ann@acme.example.org`, `<${mark}>`].map((label) => ({ label })),
  );
  expect(report(t).faults).toEqual([]);
});

it("erases a session with what entries and spend tell of it, and leaves its device alone", async () => {
  const { t, mine } = await twoDevices();
  const { core } = t.instance;
  const { counts } = await planErasure(core, resolveTarget(core, { session: "marigold-s10" }));
  expect(counts).toMatchObject({ entries: 3, sessions: 1, snapshots: 0 });
  await erase(t, { session: "marigold-s10" });
  expect(filesWith(t.directory, "marigold-s10")).toEqual([]);
  expect(t.count("trace_sessions")).toBe(2);
  expect(t.rows("SELECT count(*) AS n FROM spend_cells WHERE session = 'marigold-s10'")).toEqual([{ n: 0 }]);
  expect(report(t).faults).toEqual([]);
  expect(t.rows("SELECT id FROM devices WHERE revoked_at IS NOT NULL")).toEqual([]);
  await deliverAll(t, mine, "shop", "marigold", 20);
  expect(report(t).faults).toEqual([]);
});

it("erases no session whose name several devices use, unless its device or the number of its page is given", async () => {
  const { t, mine, other } = await twoDevices();
  await deliverAll(t, other, "till", "marigold");
  const [session] = t.rows("SELECT id FROM trace_sessions WHERE external_id = 'marigold-s1' ORDER BY id");
  await expect(erase(t, { session: "marigold-s1" })).rejects.toThrow(/several devices .*, one of \d+, \d+$/);
  expect(t.count("erasures")).toBe(0);
  expect(await erase(t, { session: `${session.id}` })).toMatchObject({ sessions: 1 });
  expect(await erase(t, { session: "marigold-s1", device: other.deviceId })).toMatchObject({ sessions: 1 });
  expect(t.rows("SELECT device_id FROM trace_sessions WHERE device_id = ?", mine.deviceId)).toHaveLength(1);
});

it.each(["sessionId", "session_id"])(
  "erases a session that entries alone tell of as %s, of the device that is named",
  async (name) => {
    const { t, team } = await twoDevices();
    const [mine, other] = [await t.device(team), await t.device(team)];
    const payload = { type: "usage", [name]: "larkspur", usage: { input_tokens: 1 } };
    for (const { token } of [mine, other])
      expect((await t.post("/api/telemetry/ingest", { token, json: { entries: [{ seq: 1, payload }] } })).status).toBe(
        200,
      );
    await catchUpSpend(t.instance.core);
    await expect(erase(t, { session: "larkspur" })).rejects.toThrow("erase it with --device");
    expect(await erase(t, { session: "larkspur", device: mine.deviceId })).toMatchObject({ entries: 1 });
    expect((await listEntries(t.instance.core, team.id, { sessionId: "larkspur" })).rows).toHaveLength(1);
    await erase(t, { session: "larkspur", device: other.deviceId });
    expect(filesWith(t.directory, "larkspur")).toEqual([]);
    expect(t.rows("SELECT session FROM spend_cells WHERE session = 'larkspur' OR session = ''")).toEqual([]);
    expect(t.rows("SELECT id FROM devices WHERE revoked_at IS NOT NULL")).toEqual([]);
    expect(report(t).faults).toEqual([]);
  },
);

it("erases a session that came in several parts, and still compares what came with its last part", async () => {
  const { t, token } = await startWithDevice();
  const spans = Array.from({ length: 600 }, (_, i) => ({ id: `${i}` }));
  const sessions = [
    { id: "goes", outcome: "ok", spans },
    { id: "stays", outcome: "ok", spans: [{ id: "a", name: "a" }] },
  ];
  expect((await t.post("/api/agent-traces/ingest", { token, json: { sessions } })).status).toBe(200);
  await erase(t, { session: "goes" });
  expect(t.rows("SELECT name FROM trace_spans")).toEqual([{ name: "a" }]);
  expect(report(t).faults).toEqual([]);
  t.rows("UPDATE trace_spans SET document = replace(document, 'a', 'b') RETURNING id");
  expect(report(t).faults).toMatchObject([{ problem: "content", kind: "traces" }]);
  t.rows("DELETE FROM trace_spans RETURNING id");
  expect(report(t).faults).toMatchObject([{ problem: "content", kind: "traces" }]);
  await erase(t, { session: "stays" });
  expect(t.count("trace_sessions")).toBe(0);
});

it("erases sealed sessions with their parts of blocks, in several steps, and leaves others alone", async () => {
  const { t, core, token } = await startWithDevice();
  const spansOf = (text: string, count: number) =>
    Array.from({ length: count }, (_, i) => ({ id: `${i}`, text: `${text} ${Math.sin(i)}`.repeat(5) }));
  const sessions = [
    { id: "goes", outcome: "ok", spans: spansOf("marigold", 1_500) },
    { id: "stays", outcome: "ok", spans: spansOf("lavender", 50) },
  ];
  const send = async (json: object) =>
    expect((await t.post("/api/agent-traces/ingest", { token, json })).status).toBe(200);
  await send({ sessions });
  const later = { ...core, clock: { ...core.clock, now: () => core.clock.now() + DAY_MS } };
  await sealSpans(later, Number.MAX_SAFE_INTEGER);
  // One was sent again since it was sealed, and one is not sealed yet.
  await send({
    sessions: [{ id: "goes", outcome: "ok", spans: [{ id: "3", text: "another marigold" }, { id: "new" }] }],
  });
  const texts = () =>
    t.rows("SELECT content FROM trace_span_blocks").map(({ content }) => `${zstdDecompressSync(content)}`);
  expect([texts().length > 4, texts().join().includes("marigold"), report(t).faults]).toEqual([true, true, []]);
  expect(await erase(t, { session: "goes" })).toEqual({ sessions: 1, spans: 1_501 });
  expect(t.rows("SELECT external_id AS id FROM trace_sessions")).toEqual([{ id: "stays" }]);
  expect([texts().length, texts().join().includes("marigold"), texts().join().includes("lavender 0")]).toEqual([
    1,
    false,
    true,
  ]);
  expect(report(t).faults).toEqual([]);
  t.rows("UPDATE trace_spans SET block_at = block_at + 1 RETURNING id");
  expect(report(t).faults).toMatchObject([{ problem: "content", kind: "traces" }]);
  await erase(t, { session: "stays" });
  expect([t.count("trace_spans"), t.count("trace_span_blocks")]).toEqual([0, 0]);
});

it("erases an entry of a delivery, still compares the others, and does not record the erased one again", async () => {
  const { t, token } = await startWithDevice();
  const post = (text: string) =>
    t.post("/api/telemetry/ingest", {
      token,
      json: {
        repoKey: "r",
        entries: [
          { seq: 1, payload: { text } },
          { seq: 2, payload: { text: "lavender" } },
        ],
      },
    });
  await post("marigold");
  expect(await erase(t, { entry: "1" })).toEqual({ entries: 1 });
  expect(filesWith(t.directory, "marigold")).toEqual([]);
  expect(filesWith(t.directory, "lavender")).toEqual(["reckon.db"]);
  expect(report(t)).toMatchObject({ faults: [], erased: 1 });
  expect((await post("marigold")).body).toMatchObject({ accepted: 0, flagged: null });
  await t.instance.core.store.reclaim();
  expect(filesWith(t.directory, "marigold")).toEqual([]);
  t.rows("UPDATE deliveries SET erased_items = 2 RETURNING id");
  expect(report(t).faults).toMatchObject([{ deliveryId: expect.any(Number), problem: "content" }]);
});

it("rebuilds sealed blocks without what was erased, and the rest reads as before", async () => {
  const { t, core, token, deviceId } = await startWithDevice();
  const send = (seq: number, text: string) =>
    t.post("/api/telemetry/ingest", {
      token,
      json: { repoKey: "r", entries: [0, 1].map((i) => ({ seq: seq + i, payload: { text: `${text} ${seq + i}` } })) },
    });
  for (let seq = 1; seq <= 9; seq += 2) await send(seq, seq === 5 ? "marigold" : "lavender");
  t.clock.advance(100 * 3_600_000);
  expect(await seal(core, 10)).toBe(1);
  const listed = async () =>
    (await listEntries(core, t.rows("SELECT id FROM teams")[0].id)).rows.map(({ payload }) => payload);
  expect(await listed()).toHaveLength(10);
  await erase(t, { entry: "5" });
  expect((await listed()).filter((payload) => payload.includes("marigold"))).toEqual(['{"text":"marigold 6"}']);
  expect(report(t).faults).toEqual([]);
  const rest = (await listed()).filter((payload) => !payload.includes("marigold"));
  await erase(t, { entry: "6" });
  expect(await listed()).toEqual(rest);
  const content = () => zstdDecompressSync(t.rows("SELECT content FROM telemetry_blocks")[0].content).toString();
  expect(content()).not.toContain("marigold");
  expect(content()).toContain("lavender 10");
  await send(20, "tulip");
  await erase(t, { device: deviceId });
  expect(content()).not.toContain("lavender");
  expect(await listed()).toEqual([]);
  expect(report(t)).toMatchObject({ faults: [], erased: 6 });
});

it("erases a repository of a team, and keeps what comes later, also when the record is replayed", async () => {
  const { t, mine } = await twoDevices();
  await deliverAll(t, mine, "till", "crocus", 1);
  const { core } = t.instance;
  const keeper = await makeAccount(core, { email: "keeper@example.com", team: { id: mine.team.id, role: "owner" } });
  for (const repo of ["shop", "till"]) {
    await setBudget(core, mine.team.id, { scope: "repo", subject: repo, period: "month", amountUsd: 5 }, COMMAND_LINE);
    const view = { place: "/errors", name: repo, query: `repo=${repo}`, shared: true } as const;
    await saveView(core, mine.team.id, keeper.id, view, COMMAND_LINE);
  }
  // Another team may have a repository of the same key.
  const other = { place: "/errors", name: "another team's", query: "repo=shop", shared: true } as const;
  await saveView(core, (await t.team()).id, keeper.id, other, COMMAND_LINE);
  const reached =
    "INSERT INTO budget_crossings (budget_id, day, threshold, at, used_nano) SELECT id, 0, 80, 0, 0 FROM budgets";
  core.store.db.exec(reached);
  await erase(t, { repo: "shop", team: "Acme" });
  expect(filesWith(t.directory, "marigold")).toEqual([]);
  expect(t.count("budget_crossings")).toBe(1);
  expect([t.rows("SELECT subject FROM budgets"), t.rows("SELECT name FROM saved_views ORDER BY rowid")]).toEqual([
    [{ subject: "till" }],
    [{ name: "till" }, { name: "another team's" }],
  ]);
  expect(t.rows("SELECT DISTINCT repo_key FROM brain_currents ORDER BY 1")).toEqual([{ repo_key: "till" }]);
  expect(report(t).faults).toEqual([]);
  t.clock.advance(1);
  await deliverAll(t, mine, "shop", "tulip", 30);
  await t.close();
  const again = await startInstance({ directory: t.directory, clock: t.clock });
  expect(filesWith(again.directory, "tulip")).not.toEqual([]);
  expect(report(again).faults).toEqual([]);
});

it("makes the newest remaining brain the current one, with its entries", async () => {
  const { t, team } = await startWithTeam();
  const [first, second] = [await t.device(team), await t.device(team)];
  await deliverAll(t, first, "shop", "lavender");
  await deliverAll(t, second, "shop", "marigold");
  expect(t.rows("SELECT title FROM defects")).toEqual([{ title: expect.stringContaining("marigold") }]);
  await erase(t, { device: second.deviceId });
  expect(t.rows("SELECT title FROM defects")).toEqual([{ title: expect.stringContaining("lavender") }]);
  expect(report(t).faults).toEqual([]);
  await deliverAll(t, first, "shop", "tulip", 2);
  expect(t.rows("SELECT title FROM defects")).toEqual([{ title: expect.stringContaining("tulip") }]);
});

it("refuses to erase what a hold keeps, naming the hold, until it is released", async () => {
  const { t, team, mine } = await twoDevices();
  const { core } = t.instance;
  for (const place of [{ team: team.id }, { device: mine.deviceId }, { session: "marigold-s1" }]) {
    const hold = await placeHold(core, { ...place, reason: "a claim" }, COMMAND_LINE);
    await expect(request(t, { device: mine.deviceId })).rejects.toThrow(new RegExp(`${hold.id}.*a claim`));
    await releaseHold(core, hold.id, COMMAND_LINE);
  }
  expect(t.count("erasures")).toBe(0);
  await erase(t, { device: mine.deviceId });
  expect(filesWith(t.directory, "marigold")).toEqual([]);
});

it("holds nothing that is erased while the hold is placed", async () => {
  const { t } = await twoDevices();
  const { core } = t.instance;
  const gone = core.store.write(() => {
    core.store.db.prepare("UPDATE trace_sessions SET external_id = 'gone' WHERE external_id = 'marigold-s1'").run();
  });
  const hold = placeHold(core, { session: "marigold-s1", reason: "a claim" }, COMMAND_LINE);
  await expect(hold).rejects.toThrow(/there is no session/);
  await gone;
  expect(t.rows("SELECT * FROM holds")).toEqual([]);
});

it("erases a repository although a device is held that sent nothing of it and has no session in it", async () => {
  const { t, mine, other } = await twoDevices();
  await placeHold(t.instance.core, { device: other.deviceId, reason: "a claim" }, COMMAND_LINE);
  await expect(request(t, { repo: "till" })).rejects.toThrow(/a claim/);
  await erase(t, { repo: "shop" });
  expect(filesWith(t.directory, "marigold")).toEqual([]);
  expect(filesWith(t.directory, "lavender")).toEqual(["reckon.db"]);
  // A held session may have moved to a repository of which its device sent nothing else.
  await deliverAll(t, mine, "shop", "tulip", 20);
  t.instance.core.store.db
    .prepare("UPDATE trace_sessions SET repo_key = 'shop' WHERE device_id = ?")
    .run(other.deviceId);
  await expect(request(t, { repo: "shop" })).rejects.toThrow(/a claim/);
});

it("finishes an erasure that stopped halfway, at whatever step", async () => {
  for (const steps of [0, 1, 3, 8, 15, 21]) {
    const { t, mine } = await twoDevices();
    const erasure = await request(t, { device: mine.deviceId });
    let left = steps;
    const cut = carryOut(t.instance.core, erasure, () => {
      if (left-- === 0) throw new Error("cut");
    });
    await expect(cut).rejects.toThrow("cut");
    await t.close();
    const again = await startInstance({ directory: t.directory, clock: t.clock });
    const state = () =>
      again.rows("SELECT completed_at IS NOT NULL AS done, reclaimed_at IS NOT NULL AS reclaimed FROM erasures");
    // The server answers before that is done.
    expect(state()).toEqual([{ done: 0, reclaimed: 0 }]);
    expect((await again.get("/api/health")).status).toBe(200);
    await resumingJob.run(again.instance.core);
    expect(state()).toEqual([{ done: 1, reclaimed: 1 }]);
    expect([steps, filesWith(again.directory, "marigold")]).toEqual([steps, []]);
    expect(report(again).faults).toEqual([]);
    await again.close();
  }
});

it("is interrupted when the instance stops, and finished by the next", async () => {
  const { t, mine } = await twoDevices();
  await request(t, { device: mine.deviceId });
  await t.close();
  const done = (one: TestInstance) => one.rows("SELECT completed_at IS NOT NULL AS done, counts FROM erasures");
  const second = await startInstance({ directory: t.directory, clock: t.clock, withJobs: true });
  await new Promise<void>((resolve) => second.instance.core.store.onChange(["erasures"], () => resolve()));
  await second.close();
  const third = await startInstance({ directory: t.directory, clock: t.clock });
  expect(done(third)).toEqual([{ done: 0, counts: expect.stringContaining("devices") }]);
  expect(third.rows("SELECT * FROM job_failures")).toEqual([]);
  await resumingJob.run(third.instance.core);
  expect(done(third)).toMatchObject([{ done: 1 }]);
  expect(filesWith(third.directory, "marigold")).toEqual([]);
});

it("erases again what a restored backup brings back, once, and says so", async () => {
  const { t, mine } = await twoDevices();
  const file = join(t.directory, "..", `reckon-${randomUUID()}.backup`);
  await backup(t.instance.core, file);
  t.clock.advance(30 * 86_400_000);
  await erase(t, { device: mine.deviceId });
  await t.close();
  restore(file, t.directory, "then");
  rmSync(file);
  rmSync(join(t.directory, "backups"), { recursive: true });
  for (const _ of [1, 2]) {
    const again = await startInstance({ directory: t.directory, clock: t.clock });
    expect(filesWith(again.directory, "marigold")).toEqual([]);
    expect(again.rows("SELECT action FROM audit_events WHERE action LIKE 'erasure.%' ORDER BY id")).toEqual([
      { action: "erasure.replayed" },
      { action: "erasure.completed" },
    ]);
    expect(report(again).faults).toEqual([]);
    await again.close();
  }
  expect(filesWith(t.directory, mine.deviceId)).toContain(JOURNAL);
});

it("repeats after a restore an erasure that only the replaced database has on record", async () => {
  const { t, mine } = await twoDevices();
  const file = join(t.directory, "..", `reckon-${randomUUID()}.backup`);
  await backup(t.instance.core, file);
  t.clock.advance(30 * 86_400_000);
  await request(t, { device: mine.deviceId });
  await t.close();
  // The journal is missing after a kill at that moment, and after earlier versions when two processes erased at a time.
  rmSync(join(t.directory, JOURNAL));
  restore(file, t.directory, "then");
  rmSync(file);
  rmSync(join(t.directory, "backups"), { recursive: true });
  const again = await startInstance({ directory: t.directory, clock: t.clock });
  expect(filesWith(again.directory, "marigold")).toEqual([]);
  expect(again.rows("SELECT kind, completed_at IS NOT NULL AS done FROM erasures")).toEqual([
    { kind: "device", done: 1 },
  ]);
  await again.close();
});

it("leaves nothing of deliveries that were not derived yet, or come again, while it erases", async () => {
  const { t, core, device } = await startWithDevice();
  const deliver = (span: string) =>
    t.post("/api/agent-traces/ingest", {
      token: device.token,
      json: {
        repoKey: "shop",
        sessions: [
          {
            id: "marigold",
            outcome: "ok",
            branch: "marigold-branch",
            commits: ["a1b2c3d4e5f6"],
            spans: [{ id: span, name: "chat", usage: { id: span, input_tokens: 9, output_tokens: 1 } }],
          },
        ],
      },
    });
  expect((await deliver("first")).status).toBe(200);
  const erasure = await request(t, { session: "marigold" });
  const { rows } = t;
  let steps = 0;
  // Derived rows are updated after every step, as often as the server itself could do it.
  for await (const step of stepsOf(core, erasure)) {
    await core.store.write(step);
    if (++steps === 3) expect((await deliver("second")).status).toBe(200);
    await t.instance.settle();
  }
  expect(steps).toBeGreaterThan(3);
  for (const table of [
    "trace_sessions",
    "trace_spans",
    "trace_session_commits",
    "session_finds",
    "spend_usages",
    "spend_cells",
  ])
    expect(rows(`SELECT * FROM ${table}`), table).toEqual([]);
});

it.each([{ repo: "shop" }, { session: "marigold" }])(
  "erases all of a session that goes on after the request: %o",
  async (target) => {
    const { t, token } = await startWithDevice();
    const deliver = async (id: string, text: string) => {
      t.clock.advance(1_000);
      const sessions = [{ id, outcome: "ok", spans: [{ id: text, name: text }] }];
      const { status } = await t.post("/api/agent-traces/ingest", { token, json: { repoKey: "shop", sessions } });
      expect(status).toBe(200);
    };
    await deliver("marigold", "before");
    const asked = await request(t, target);
    await deliver("marigold", "meanwhile");
    await deliver("tulip", "another");
    await carryOut(t.instance.core, asked);
    expect(t.rows("SELECT name FROM trace_spans")).toEqual([{ name: "another" }]);
    expect(report(t).faults).toEqual([]);
  },
);

it.each(["device", "person"])(
  "erases what a %s sends during the erasure, and what came while the clock was ahead",
  async (kind) => {
    const { t, core, device } = await startWithDevice();
    await personWith(t, device, "ada@example.com");
    await deliverAll(t, device, "shop", "marigold");
    t.clock.jump(60 * 60_000);
    await deliverAll(t, device, "shop", "lavender", 10);
    t.clock.jump(-60 * 60_000);
    const erasure = await request(t, kind === "device" ? { device: device.deviceId } : { person: "ada@example.com" });
    t.clock.advance(1_000);
    let isFirst = true;
    for await (const step of stepsOf(core, erasure)) {
      if (isFirst) await deliverAll(t, device, "shop", "crocus", 20);
      isFirst = false;
      await core.store.write(step);
    }
    for (const table of ["trace_sessions", "trace_labels", "trace_notes", "brain_snapshots", "spend_cells"])
      expect([table, t.count(table)]).toEqual([table, 0]);
    expect(t.rows("SELECT payload FROM telemetry_entries WHERE payload <> ''")).toEqual([]);
  },
);

it("counts a session's own total again only once all entries with its usage are erased", async () => {
  const t = await startInstance();
  const { token } = await t.device(await t.team({ name: "Acme" }));
  const post = async (path: string, json: object) => expect((await t.post(path, { token, json })).status).toBe(200);
  const usage = { input_tokens: 100, output_tokens: 10 };
  const session = { id: "s", outcome: "ok", startedAt: "2026-11-20T10:00:00Z", usage, costUsd: 0.5, spans: [] };
  await post("/api/agent-traces/ingest", { repoKey: "till", sessions: [session] });
  const own = () =>
    t.rows("SELECT repo_key AS repo, sum(input) AS input, sum(reported_nano) AS nano FROM spend_cells GROUP BY 1");
  await t.instance.settle();
  expect(own()).toEqual([{ repo: "till", input: 100, nano: 5e8 }]);
  const entry = (seq: number, more: object) => ({ seq, payload: { sessionId: "s", ...more } });
  const entries = [entry(1, { usage: { ...usage, input_tokens: 7 }, costUsd: 0.25 })];
  await post("/api/telemetry/ingest", { repoKey: "shop", entries });
  await post("/api/telemetry/ingest", {
    repoKey: "desk",
    entries: [entry(1, { usage: { ...usage, input_tokens: 8 } })],
  });
  await t.instance.settle();
  await erase(t, { repo: "shop", team: "Acme" });
  // The remaining entries tell usage, but no cost.
  expect(own()).toEqual([
    { repo: "desk", input: 8, nano: 0 },
    { repo: "till", input: 0, nano: 5e8 },
  ]);
  await erase(t, { repo: "desk", team: "Acme" });
  expect(own()).toEqual([{ repo: "till", input: 100, nano: 5e8 }]);
});

it("does not store erased versions of a brain that come again, and stores higher ones", async () => {
  const t = await startInstance();
  const { token } = await t.device(await t.team({ name: "Acme" }));
  const send = async (version: number, text: string) => {
    const files = [{ path: "a.md", content: `# ${text} ${version}` }];
    const { status, body } = await t.post("/api/brain/ingest", { token, json: { repoKey: "shop", version, files } });
    expect(status).toBe(200);
    return body.ledger;
  };
  for (const version of [1, 2, 4]) await send(version, "marigold");
  await erase(t, { repo: "shop", team: "Acme" });
  for (const version of [4, 3, 1]) expect(await send(version, "marigold")).toEqual({ gap: false, rollback: true });
  await t.instance.core.store.reclaim();
  expect([filesWith(t.directory, "# marigold"), t.count("brain_snapshots")]).toEqual([[], 0]);
  expect(await send(5, "tulip")).toEqual({ gap: false, rollback: false });
  expect(await send(2, "marigold")).toEqual({ gap: false, rollback: true });
  // A contradiction to a stored version is evidence, as always.
  expect(await send(5, "crocus")).toEqual({ gap: false, rollback: true });
  expect(t.rows("SELECT version, accepted FROM brain_snapshots ORDER BY id")).toEqual([
    { version: 5, accepted: 1 },
    { version: 5, accepted: 0 },
  ]);
  expect(report(t).faults).toEqual([]);
  const [{ id }] = t.rows("SELECT min(id) AS id FROM deliveries WHERE erased_by IS NOT NULL");
  t.rows("UPDATE brain_snapshots SET delivery_id = ? WHERE accepted = 1 RETURNING 1", id);
  expect(report(t).faults).toContainEqual(expect.objectContaining({ deliveryId: id, problem: "content" }));
});

it.each([-1, 1])(
  "erases what came before, whatever the clock said, and nothing that came since: ahead or back by %i day",
  async (days) => {
    const { t, mine, other } = await twoDevices();
    t.clock.jump(days * 86_400_000);
    await deliverAll(t, other, "shop", "crocus");
    await deliverAll(t, other, "shop", "crocus", 10);
    t.clock.jump(-days * 86_400_000);
    const asked = [await request(t, { repo: "shop", team: "Acme" }), await request(t, { session: "lavender-s1" })];
    t.clock.jump(-days * 86_400_000);
    await deliverAll(t, mine, "shop", "tulip", 30);
    for (const erasure of asked) await carryOut(t.instance.core, erasure);
    for (const text of ["marigold telemetry", "crocus telemetry", "crocus brain", "crocus prompt", "lavender prompt"])
      expect([text, filesWith(t.directory, text)]).toEqual([text, []]);
    for (const text of ["tulip telemetry", "tulip brain", "tulip prompt"])
      expect([text, filesWith(t.directory, text)]).not.toEqual([text, []]);
    expect(report(t).faults).toEqual([]);
  },
);
