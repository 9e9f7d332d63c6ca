import { expect, it } from "vitest";
import { pageRows } from "../../src/insight/defects/page-rows.ts";
import { browseRows } from "../../src/record/traces/browse-rows.ts";
import { makeAccount } from "../support/accounts.ts";
import { apiToken, fillRecords, REPO } from "../support/api.ts";
import { startWithDevice, startWithTeam } from "../support/instance.ts";

/** Lists of tens of thousands: a late page costs what the first does, and one that finds nothing stops. */

const DELIVERIES = 30_000;

/** A team with a little of everything. */
async function few() {
  const { t, device } = await startWithDevice();
  await fillRecords(t, device);
  return { t, device, token: await apiToken(t, device.team.id) };
}

/** Copies a delivery many times, without the items, which no test here reads. */
async function many() {
  const { t, token } = await few();
  await t.instance.settle();
  const columns = t
    .rows("PRAGMA table_info(deliveries)")
    .map(({ name }) => name)
    .filter((name) => name !== "id" && name !== "received_at")
    .join(", ");
  // One a second, beginning a minute after the first ones.
  t.instance.core.store.db.exec(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${DELIVERIES})
     INSERT INTO deliveries (id, received_at, ${columns})
     SELECT (SELECT max(id) FROM deliveries) + i, received_at + 60000 + 1000 * i, ${columns} FROM n, deliveries WHERE kind = 'brain' AND id < 100`,
  );
  return { t, token };
}

it("pages through deliveries to the last, each once, and finds an instant without walking there", async () => {
  const { t, token } = await many();
  const seen = new Set<number>();
  let pages = 0;
  for (let path: string | null = "/api/deliveries?limit=200"; path !== null; pages++) {
    const { body } = await t.get(path, { token });
    for (const { id } of body.items) seen.add(id);
    path = body.next === null ? null : `/api/deliveries?limit=200&cursor=${body.next}`;
  }
  expect([seen.size, pages]).toEqual([DELIVERIES + 3, Math.ceil((DELIVERIES + 3) / 200)]);
  // The oldest three lie beyond what one page may look at.
  const to = new Date(t.clock.now() + 1_000).toISOString();
  const answer = await t.get(`/api/deliveries?to=${to}`, { token });
  expect(answer.body.items.map(({ kind }: { kind: string }) => kind)).toEqual(["telemetry", "brain", "traces"]);
});

it("stops a page that finds nothing, says where to go on, and finds what lies at the end", async () => {
  const { t, token } = await many();
  const first = await t.get("/api/deliveries?kind=traces", { token });
  expect([first.body.items, typeof first.body.next]).toEqual([[], "string"]);
  const second = await t.get(`/api/deliveries?kind=traces&cursor=${first.body.next}`, { token });
  expect([second.body.items.length, second.body.next]).toEqual([1, null]);
});

it("shows a session of 10,000 spans in pages of bounded size", async () => {
  const { t, device, token } = await few();
  const id = t.rows("SELECT max(id) AS id FROM trace_sessions")[0].id;
  for (let n = 0; n < 10; n++) {
    const spans = Array.from({ length: 1_000 }, (_, i) => ({ id: `n${n}-${i}`, name: "step" }));
    const json = { repoKey: REPO, sessions: [{ id: "login-1", outcome: "success", spans }] };
    expect((await t.post("/api/agent-traces/ingest", { token: device.token, json })).status).toBe(200);
  }
  const names = new Set<string>();
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { body, text } = await t.get(`/api/sessions/${id}/spans?limit=200${cursor && `&cursor=${cursor}`}`, {
      token,
    });
    expect(text.length).toBeLessThan(100_000);
    for (const { spanId } of body.items) names.add(spanId);
    cursor = body.next;
  }
  expect(names.size).toBe(10_002);
  const one = await t.get(`/api/sessions/${id}`, { token });
  expect([one.body.spanCount, one.text.length < 10_000]).toEqual([10_002, true]);
  const large = Array.from({ length: 3 }, (_, i) => ({ id: `large-${i}`, note: "x ".repeat(1_500_000) }));
  for (const span of large) {
    const json = { repoKey: REPO, sessions: [{ id: "wide", outcome: "ok", spans: [span] }] };
    expect((await t.post("/api/agent-traces/ingest", { token: device.token, json })).status).toBe(200);
  }
  const wide = t.rows("SELECT id FROM trace_sessions WHERE external_id = 'wide'")[0].id;
  const page = await t.get(`/api/sessions/${wide}/spans`, { token });
  expect([page.body.items.length, typeof page.body.next]).toEqual([1, "string"]);
});

it("reads by indexes, and sorts no documents", async () => {
  const { t } = await few();
  const { byFingerprint } = pageRows(t.instance.core.store);
  const { spanIds, span } = browseRows(t.instance.core.store);
  const plan = ({ source }: { source: string }, ...bound: unknown[]) =>
    t.rows(`EXPLAIN QUERY PLAN ${source}`, ...bound).map(({ detail }) => detail as string);
  const range = { teamId: "t", fingerprint: Buffer.alloc(4), id: 0, high: Buffer.alloc(36), count: 1 };
  const source = (statement: unknown) => statement as { source: string };
  expect(plan(source(byFingerprint), range)).toEqual([
    expect.stringMatching(/USING INDEX defects_by_fingerprint \(team_id=\? AND .*fingerprint/),
  ]);
  expect(plan(source(spanIds), 1, 0, 1)[0]).toMatch(
    /USING COVERING INDEX trace_spans_by_arrival \(session_id=\? AND id>\?\)$/,
  );
  expect(plan(source(span), 1)).toEqual([expect.stringMatching(/INTEGER PRIMARY KEY/)]);
});

it("counts thousands of errors, and gives each class once, those seen first most lately first", async () => {
  const { t, device, token } = await few();
  const day = (n: number) => `2026-0${1 + (n % 9)}-${String(10 + (n % 18))}`;
  const entries = Array.from({ length: 2_500 }, (_, n) => `## ${day(n)} Failure ${n % 500}\n\nIt broke.\n`);
  const files = [{ path: ".claude/brain/errors.md", content: entries.join("\n") }];
  const json = { version: 1, repoKey: "long", files };
  expect((await t.post("/api/brain/ingest", { token: device.token, json })).status).toBe(200);
  await t.instance.settle();
  const seen: { id: string; occurrences: number; firstSeen: string; lastSeen: string }[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { body } = await t.get(`/api/errors?limit=200&repo=long${cursor && `&cursor=${cursor}`}`, { token });
    seen.push(...body.items);
    cursor = body.next;
  }
  const stored = t.rows(
    `SELECT lower(hex(substr(fingerprint, 1, 4))) AS id, count(*) AS occurrences, min(date) AS firstSeen, max(date) AS lastSeen
     FROM defects WHERE repo_key = 'long' GROUP BY 1 ORDER BY firstSeen DESC, id DESC`,
  );
  expect(stored.reduce((sum, { occurrences }) => sum + occurrences, 0)).toBe(2_500);
  expect(seen.map(({ id, occurrences, firstSeen, lastSeen }) => ({ id, occurrences, firstSeen, lastSeen }))).toEqual(
    stored,
  );
});

it("lists the devices of somebody with tens of thousands of them", async () => {
  const { t, team } = await startWithTeam();
  const { id: ci } = await makeAccount(t.instance.core, {
    email: "ci@example.com",
    team: { id: team.id, role: "member" },
  });
  const { deviceId } = await t.device(team);
  t.instance.core.store.db
    .prepare(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
       INSERT INTO devices (id, team_id, label, consent_version, created_at, person_id)
       SELECT printf('%s-%06d', id, i), team_id, label, consent_version, created_at + i, iif(i % 2, ?, NULL) FROM n, devices WHERE id = ?`,
    )
    .run(ci, deviceId);
  const token = await apiToken(t, team.id);
  const ids = async (query: string) => {
    const { body } = await t.get(`/api/devices?limit=2&${query}`, { token });
    return body.items.map(({ id }: { id: string }) => id.slice(deviceId.length));
  };
  // Looking at all devices for each of them took minutes, in which nobody else was answered.
  expect(await ids("person=CI@example.com")).toEqual(["-000001", "-000003"]);
  expect(await ids(`person=${ci}&status=revoked`)).toEqual([]);
  expect(await ids("")).toEqual(["", "-000001"]);
});
