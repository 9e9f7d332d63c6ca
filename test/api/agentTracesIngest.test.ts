import { describe, expect, it } from "vitest";
import { startInstance, startWithDevice } from "../support/instance.ts";
import { ledgerFaults } from "../support/ledger-faults.ts";

const PATH = "/api/agent-traces/ingest";
const session = (more: object = {}, spans: object[] = []) => ({ id: "s1", outcome: "success", spans, ...more });

describe("agentTracesIngest", () => {
  it("understands ids and times of spans as OpenTelemetry's exporters write them", async () => {
    const { t, token } = await startWithDevice();
    const spans = [
      {
        spanId: "a",
        parentSpanId: "",
        startTimeUnixNano: "1795248000000000000",
        endTimeUnixNano: "1795248001500000000",
      },
      { id: "b", parent_id: "a", startTime: "2026-11-21T08:00:01Z", endTime: [1795248001, 250_000_000] },
    ];
    const json = { sessions: [session({ start_time: 1795248000 }, spans)] };
    expect((await t.post(PATH, { token, json })).body).toMatchObject({ sessions: 1, spans: 2 });
    expect(t.rows("SELECT external_id AS id, parent_id AS parent, started_at, ended_at FROM trace_spans")).toEqual([
      { id: "a", parent: null, started_at: 1795248000000, ended_at: 1795248001500 },
      { id: "b", parent: "a", started_at: Date.UTC(2026, 10, 21, 8, 0, 1), ended_at: 1795248001250 },
    ]);
    expect(t.rows("SELECT started_at FROM trace_sessions")).toEqual([{ started_at: 1795248000000 }]);
    // The same request once more.
    await t.post(PATH, { token, json });
    expect([t.count("trace_spans"), t.count("deliveries")]).toEqual([2, 1]);
  });

  it("stores sessions, spans and labels with what is understood of them, and everything else as sent", async () => {
    const { t, token, team } = await startWithDevice();
    const json = {
      repoKey: "acme/shop",
      clientTimestamp: "2026-11-21T08:00:00Z",
      sessions: [
        session(
          {
            agent: "claude-code",
            model: "m-1",
            branch: "main",
            startedAt: "2026-11-21T07:00:00Z",
            endedAt: 1795249800,
            own: { x: [1] },
          },
          [
            { id: "a", name: "edit", kind: "tool", startedAt: "1795248000000000000" },
            { id: "b", parentId: "a", own: true },
          ],
        ),
      ],
      labels: [{ sessionId: "s1", spanId: "a", name: "review", value: 1, comment: "fine" }],
    };
    const answer = await t.post(PATH, { token, json });
    expect([answer.status, answer.body]).toEqual([
      200,
      { ok: true, sessions: 1, spans: 2, labels: 1, serverRedacted: 0 },
    ]);
    const [row] = t.rows("SELECT * FROM trace_sessions");
    expect(row).toMatchObject({
      team_id: team.id,
      repo_key: "acme/shop",
      external_id: "s1",
      outcome: "success",
      agent: "claude-code",
      model: "m-1",
      branch: "main",
      started_at: Date.UTC(2026, 10, 21, 7),
      ended_at: 1795249800000,
    });
    expect(JSON.parse(row.document)).toEqual({
      id: "s1",
      outcome: "success",
      agent: "claude-code",
      model: "m-1",
      branch: "main",
      startedAt: "2026-11-21T07:00:00Z",
      endedAt: 1795249800,
      own: { x: [1] },
    });
    expect(t.rows("SELECT external_id, parent_id, name, kind, started_at, document FROM trace_spans")).toEqual([
      {
        external_id: "a",
        parent_id: null,
        name: "edit",
        kind: "tool",
        started_at: 1795248000000,
        document: '{"id":"a","name":"edit","kind":"tool","startedAt":"1795248000000000000"}',
      },
      {
        external_id: "b",
        parent_id: "a",
        name: null,
        kind: null,
        started_at: null,
        document: '{"id":"b","parentId":"a","own":true}',
      },
    ]);
    expect(t.rows("SELECT session_id, span_id, name FROM trace_labels")).toEqual([
      { session_id: "s1", span_id: "a", name: "review" },
    ]);
  });

  it.each(["sessionId", "session_id"])(
    "knows a session by its %s where it has no id, as it is called elsewhere",
    async (name) => {
      const { t, token } = await startWithDevice();
      const send = (id: object, span: string) =>
        t.post(PATH, { token, json: { sessions: [{ ...id, outcome: "running", spans: [{ id: span }] }] } });
      await send({ [name]: "s1" }, "a");
      await send({ [name]: "s1" }, "b");
      await send({ id: "s2", [name]: "s1" }, "c");
      const spans = "SELECT s.external_id AS id, p.external_id AS span FROM trace_spans p JOIN trace_sessions s";
      expect(t.rows(`${spans} ON s.id = p.session_id ORDER BY span`)).toEqual([
        { id: "s1", span: "a" },
        { id: "s1", span: "b" },
        { id: "s2", span: "c" },
      ]);
    },
  );

  it("keeps members as spelled: long numbers, spacing and escapes", async () => {
    const { t, token } = await startWithDevice();
    const body =
      '{"sessions":[{"outcome":"x","id":"s","big": 12345678901234567890 , "spans":[ {"id":"a", "t":1.0} ]}]}';
    await t.post(PATH, { token, body, headers: { "content-type": "application/json" } });
    expect(t.rows("SELECT document FROM trace_sessions")).toEqual([
      { document: '{"outcome":"x","id":"s","big":12345678901234567890}' },
    ]);
    expect(t.rows("SELECT document FROM trace_spans")).toEqual([{ document: '{"id":"a", "t":1.0}' }]);
  });

  it("merges a session that comes again: members laid over, spans added or replaced, nothing doubled", async () => {
    const { t, token } = await startWithDevice();
    await t.post(PATH, {
      token,
      json: {
        repoKey: "r",
        sessions: [session({ outcome: "running", branch: "main" }, [{ id: "a", v: 1 }, { id: "b" }])],
      },
    });
    await t.post(PATH, {
      token,
      json: { sessions: [session({ outcome: "failed", model: "m" }, [{ id: "a", v: 2 }, { id: "c" }])] },
    });
    const [row] = t.rows("SELECT outcome, branch, model, repo_key, document FROM trace_sessions");
    expect(row).toMatchObject({ outcome: "failed", branch: "main", model: "m", repo_key: "r" });
    expect(JSON.parse(row.document)).toEqual({ id: "s1", outcome: "failed", branch: "main", model: "m" });
    expect(
      t.rows("SELECT external_id, document FROM trace_spans ORDER BY external_id").map((span) => span.document),
    ).toEqual(['{"id":"a","v":2}', '{"id":"b"}', '{"id":"c"}']);
  });

  it("takes a retry as harmless, whether spans have ids or not", async () => {
    const { t, token } = await startWithDevice();
    const json = {
      sessions: [session({}, [{ id: "a" }, { name: "without an id" }]), { outcome: "no id", spans: [{ x: 1 }] }],
      labels: [{ sessionId: "s1", name: "n" }],
    };
    const first = await t.post(PATH, { token, json });
    const again = await t.post(PATH, { token, json });
    expect(again.body).toEqual(first.body);
    expect(["trace_sessions", "trace_spans", "trace_labels", "deliveries"].map((table) => t.count(table))).toEqual([
      2, 3, 1, 1,
    ]);
  });

  it("rewrites large stored sessions in several deliveries, complete and without duplicates, or changes nothing where they would exceed the limit", async () => {
    const { t, token } = await startWithDevice({ settings: { maxTraceBytes: "2000000" } });
    const post = (sessions: object[]) => t.post(PATH, { token, json: { sessions } });
    const note = "n".repeat(600_000);
    const ids = ["a", "b", "c", "d"];
    for (const id of ids)
      await post([
        session({ id, note }, [
          { id: "x", note },
          { id: "y", note },
        ]),
      ]);
    const [{ before }] = t.rows("SELECT max(id) AS before FROM deliveries");
    const grown = ids.map((id) => session({ id, agent: "codex" }, [{ id: "x" }, { id: "z" }, { id: "y" }]));
    const e = session({ id: "e", note: "password=hunter2hunter2" });
    expect((await post([...grown, e])).body).toMatchObject({ sessions: 5, spans: 12, serverRedacted: 1 });
    const steps = t.rows(`SELECT items, redacted FROM deliveries WHERE id > ${before} ORDER BY id`);
    // Three steps for each session: itself and its two stored spans. New rows go along: session "e" counts in the last step.
    expect(steps.map(({ items }) => items)).toEqual([1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 1]);
    expect(steps.map(({ redacted }) => redacted)).toEqual([1, ...Array(11).fill(0)]);
    expect(t.rows("SELECT count(*) AS n, sum(octet_length(document) > 600000) AS whole FROM trace_sessions")).toEqual([
      { n: 5, whole: 4 },
    ]);
    expect(t.rows("SELECT external_id AS id, count(*) AS n FROM trace_spans GROUP BY 1 ORDER BY 1")).toEqual([
      { id: "x", n: 4 },
      { id: "y", n: 4 },
      { id: "z", n: 4 },
    ]);
    const after = t.count("deliveries");
    expect((await post([...grown, e])).status).toBe(200);
    expect(t.count("deliveries")).toBe(after);
    const large = "m".repeat(1_450_000);
    const refused = await post([
      ...ids.slice(0, 3).map((id) => session({ id, agent: "x" })),
      session({ id: "d", large }),
    ]);
    expect(refused.status).toBe(413);
    expect(t.rows("SELECT DISTINCT agent FROM trace_sessions WHERE external_id <> 'e'")).toEqual([{ agent: "codex" }]);
    expect(ledgerFaults(t.instance.core)).toEqual([]);
  });

  it("stores a large batch in several deliveries, between which others get their turn, complete and without duplicates", async () => {
    const { t, token } = await startWithDevice();
    const spans = (name: string, count: number) =>
      Array.from({ length: count }, (_, i) => ({ id: `${name}${i}`, n: i }));
    const json = {
      repoKey: "r",
      sessions: [
        session({ id: "long" }, spans("a", 1_125)),
        session({ id: "short" }, spans("b", 3)),
        session({ id: "none" }),
      ],
      labels: Array.from({ length: 625 }, (_, i) => ({ sessionId: "long", name: "n", value: i })),
    };
    const counts = { ok: true, sessions: 3, spans: 1_128, labels: 625, serverRedacted: 0 };
    expect((await t.post(PATH, { token, json })).body).toEqual(counts);
    const stored = () => ["trace_sessions", "trace_spans", "trace_labels", "deliveries"].map((table) => t.count(table));
    expect(stored()).toEqual([3, 1_128, 625, 4]);
    expect(t.rows("SELECT sum(items) AS sessions FROM deliveries")).toEqual([{ sessions: 3 }]);
    const [, , third] = t.rows("SELECT id FROM deliveries ORDER BY id").map(({ id }) => id);
    // Each session names the last delivery that holds a part of it, so that projections read it again after that one.
    expect(
      t.rows(
        "SELECT external_id, max(d.id) AS last FROM trace_sessions s JOIN deliveries d ON d.id = s.delivery_id GROUP BY 1",
      ),
    ).toEqual([
      { external_id: "long", last: third },
      { external_id: "none", last: third },
      { external_id: "short", last: third },
    ]);
    expect(ledgerFaults(t.instance.core)).toEqual([]);
    expect((await t.post(PATH, { token, json })).body).toEqual(counts);
    expect(stored()).toEqual([3, 1_128, 625, 4]);
  });

  it("stores nothing of a large batch when one of its sessions would exceed its size limit", async () => {
    const { t, token } = await startWithDevice({ settings: { maxTraceBytes: "400000" } });
    const grow = (member: string, more: object[] = []) => ({
      sessions: [...more, session({ id: "s", [member]: "x".repeat(150_000) })],
    });
    for (const member of ["one", "two"]) expect((await t.post(PATH, { token, json: grow(member) })).status).toBe(200);
    const first = session(
      { id: "first" },
      Array.from({ length: 3_000 }, (_, i) => ({ id: `${i}` })),
    );
    expect((await t.post(PATH, { token, json: grow("three", [first]) })).status).toBe(413);
    expect(t.rows("SELECT external_id FROM trace_sessions")).toEqual([{ external_id: "s" }]);
    expect([t.count("trace_spans"), t.count("deliveries")]).toEqual([0, 2]);
  });

  it("keeps sessions of the same id apart by device", async () => {
    const { t, device: one } = await startWithDevice();
    const two = await t.device(one.team);
    for (const { token } of [one, two]) await t.post(PATH, { token, json: { sessions: [session()] } });
    expect(t.count("trace_sessions")).toBe(2);
  });

  it("accepts members of a wrong type where it only interprets them", async () => {
    const { t, token } = await startWithDevice();
    const json = {
      sessions: [
        session({ id: { odd: 1 }, agent: 7, startedAt: "soon", branch: null, commits: "x" }, [
          { id: ["x"], startedAt: -5, name: {} },
        ]),
      ],
      labels: [{ sessionId: 7, name: false }],
    };
    expect((await t.post(PATH, { token, json })).status).toBe(200);
    expect(t.rows("SELECT agent, started_at, branch FROM trace_sessions")).toEqual([
      { agent: null, started_at: null, branch: null },
    ]);
  });

  it("replaces secrets wherever they stand and counts what held one", async () => {
    const { t, token } = await startWithDevice();
    const secret = `ghp_${"a1B2c3D4e5F6g7H8i9J0".repeat(2).slice(0, 36)}`;
    const json = {
      sessions: [
        session({ id: secret, outcome: `done ${secret}` }, [
          { id: "a", attributes: { [secret]: secret } },
          { id: "b" },
        ]),
      ],
      labels: [{ comment: secret }],
    };
    const answer = await t.post(PATH, { token, json });
    expect(answer.body.serverRedacted).toBe(3);
    expect(
      JSON.stringify([
        t.rows("SELECT * FROM trace_sessions"),
        t.rows("SELECT * FROM trace_spans"),
        t.rows("SELECT * FROM trace_labels"),
        t.log,
      ]),
    ).not.toContain(secret);
    expect(t.rows("SELECT outcome FROM trace_sessions")[0].outcome).toMatch(/^done \[REDACTED:/);
  });

  it.each([
    ["no sessions", {}],
    ["a session without outcome", { sessions: [{ spans: [] }] }],
    ["a session without spans", { sessions: [{ outcome: "x" }] }],
    ["an outcome of another type", { sessions: [{ outcome: 1, spans: [] }] }],
    ["a span that is no object", { sessions: [session({}, [[]])] }],
    ["labels that are no array", { sessions: [], labels: {} }],
    ["a label that is no object", { sessions: [], labels: ["x"] }],
    ["a bad client timestamp", { sessions: [], clientTimestamp: "now" }],
  ])("refuses %s and stores nothing", async (_, json) => {
    const { t, token } = await startWithDevice();
    expect((await t.post(PATH, { token, json })).status).toBe(400);
    expect([t.count("trace_sessions"), t.count("deliveries")]).toEqual([0, 0]);
  });

  it.each(['{"sessions":[],"sessions":[]}', '{"sessions":[{"outcome":"x","outcome":"y","spans":[]}]}'])(
    "refuses duplicate members: %s",
    async (body) => {
      const { t, token } = await startWithDevice();
      expect((await t.post(PATH, { token, body, headers: { "content-type": "application/json" } })).status).toBe(400);
    },
  );

  it.each([
    ["201 sessions", { sessions: Array.from({ length: 201 }, (_, i) => session({ id: `s${i}` })) }],
    [
      "20,001 spans",
      {
        sessions: [
          session(
            {},
            Array.from({ length: 20_001 }, (_, i) => ({ id: i })),
          ),
        ],
      },
    ],
  ])("answers 413 to %s and stores nothing", async (_, json) => {
    const { t, token } = await startWithDevice();
    expect((await t.post(PATH, { token, json })).status).toBe(413);
    expect(t.count("trace_sessions")).toBe(0);
  });

  it("answers a starter team with the tiers that would include it", async () => {
    const t = await startInstance();
    const { token } = await t.device(await t.team({ tier: "starter" }));
    const answer = await t.post(PATH, { token, json: { sessions: [session()] } });
    expect([answer.status, answer.body.entitled]).toEqual([402, ["team", "enterprise"]]);
  });

  it("takes an empty batch", async () => {
    const { t, token } = await startWithDevice();
    expect((await t.post(PATH, { token, json: { sessions: [] } })).body).toEqual({
      ok: true,
      sessions: 0,
      spans: 0,
      labels: 0,
      serverRedacted: 0,
    });
    expect(t.count("deliveries")).toBe(0);
  });
});
