import { describe, expect, it } from "vitest";
import { assignDevice, renameDevice } from "../../src/identity/devices/devices.ts";
import { setBudget } from "../../src/insight/budgets/budgets.ts";
import { type Act, act } from "../../src/insight/triage/triage.ts";
import { MINUTE_MS } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { READ_ENDPOINTS } from "../../src/share/read-api/read-api.ts";
import { apiToken, fillRecords, pathOf, REPO } from "../support/api.ts";
import { startInstance, startWithDevice, type TestInstance } from "../support/instance.ts";
import { turnsOfOthers } from "../support/others.ts";
import { memberOf } from "../support/reads.ts";

const PATHS = READ_ENDPOINTS.map(({ spec }) => spec.path);
const OF_A_TEAM = PATHS.filter((path) => path !== "/api/teams");
const LISTS = [...OF_A_TEAM.filter((path) => !path.includes(":")), "/api/sessions/:id/spans", "/api/errors/:id"];

/** Two teams with records, a token for each, and one for all. */
async function twoTeams() {
  const t = await startInstance();
  const [mine, theirs] = [await t.device(), await t.device()];
  await fillRecords(t, mine);
  await fillRecords(t, theirs, "canary4x8t");
  const { id } = mine.team;
  const month = { period: "month", amountUsd: 10 } as const;
  await setBudget(t.instance.core, id, { ...month, scope: "team", subject: "" }, COMMAND_LINE);
  t.clock.advance(1);
  await setBudget(
    t.instance.core,
    id,
    {
      ...month,
      scope: "repo",
      subject: REPO,
      amountUsd: 0.5,
      thresholds: [50, 90],
    },
    COMMAND_LINE,
  );
  await setBudget(t.instance.core, theirs.team.id, { ...month, scope: "repo", subject: "canary4x8t" }, COMMAND_LINE);
  return {
    t,
    mine,
    theirs,
    token: await apiToken(t, id),
    other: await apiToken(t, theirs.team.id),
    all: await apiToken(t, null),
  };
}

/** All items of a list, page by page. */
async function walk(t: TestInstance, path: string, token: string) {
  const items: Record<string, unknown>[] = [];
  const sizes: number[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { status, body, text } = await t.get(`${path}${cursor === "" ? "" : `&cursor=${cursor}`}`, { token });
    expect([path, status, text]).toEqual([path, 200, expect.anything()]);
    items.push(...body.items);
    sizes.push(body.items.length);
    cursor = body.next;
  }
  return { items, sizes };
}

describe("what a token reads", () => {
  it("are also the sessions whose outcome is not known, by themselves", async () => {
    const { t, team, token: device } = await startWithDevice();
    const sessions = ["", "ok"].map((outcome) => ({ id: `of ${outcome}`, outcome, spans: [] }));
    await t.post("/api/agent-traces/ingest", { token: device, json: { sessions } });
    const { status, body } = await t.get("/api/sessions?outcome=", { token: await apiToken(t, team.id) });
    expect([status, body.items?.map(({ outcome }: { outcome: string }) => outcome)]).toEqual([200, [""]]);
  });

  it("are sessions with whether they run, for a quarter of an hour after the last that came of them", async () => {
    const { t, team, token: device } = await startWithDevice();
    const startedAt = "2026-11-21T08:00:00Z";
    const sessions = [
      { id: "ended", outcome: "", startedAt, endedAt: "2026-11-21T08:01:00Z", spans: [] },
      { id: "at it", outcome: "", startedAt, spans: [] },
    ];
    await t.post("/api/agent-traces/ingest", { token: device, json: { sessions } });
    const token = await apiToken(t, team.id);
    const read = async () => {
      const { body } = await t.get("/api/sessions", { token });
      const one = await t.get(`/api/sessions/${body.items[0].id}`, { token });
      return [...body.items, one.body].map(({ sessionId, running }) => [sessionId, running]);
    };
    expect(await read()).toEqual([
      ["at it", true],
      ["ended", false],
      ["at it", true],
    ]);
    t.clock.advance(15 * MINUTE_MS);
    expect(await read()).toEqual([
      ["at it", false],
      ["ended", false],
      ["at it", false],
    ]);
  });

  it("are sessions, without a start that cannot be written as a date-time of the API", async () => {
    const { t, team, token: device } = await startWithDevice();
    for (const startedAt of ["+275760-09-13T00:00:00.000Z", "9999-12-31T23:59:59-12:00", "turn 3"])
      await t.post("/api/agent-traces/ingest", {
        token: device,
        json: { sessions: [{ outcome: "ok", id: startedAt, startedAt, spans: [] }] },
      });
    const { status, body } = await t.get("/api/sessions", { token: await apiToken(t, team.id) });
    expect([status, body.items?.map((one: { startedAt: unknown }) => one.startedAt)]).toEqual([
      200,
      [null, null, null],
    ]);
  });

  it("are the sessions that the team's page shows, and one with its document as it was sent", async () => {
    const { t, mine, token } = await twoTeams();
    const user = await memberOf(t, mine.team);
    await assignDevice(t.instance.core, mine.deviceId, user.email, COMMAND_LINE);
    await renameDevice(t.instance.core, mine.team.id, mine.deviceId, "ada-laptop", COMMAND_LINE);
    const { body } = await t.get("/api/sessions", { token });
    const id = t.rows("SELECT id FROM trace_sessions WHERE team_id = ?", mine.team.id)[0].id;
    const facts = {
      ...{ id, sessionId: "login-1", deviceId: mine.deviceId, deviceLabel: "ada-laptop", repoKey: REPO },
      ...{
        outcome: "success",
        running: false,
        agent: "claude-code",
        model: "claude-opus-4-6",
        branch: "main",
        userEmail: null,
      },
      ...{ startedAt: "2026-11-20T14:00:00.000Z", endedAt: "2026-11-20T15:00:00.000Z" },
      ...{ createdAt: "2026-11-21T08:00:00.000Z", updatedAt: "2026-11-21T08:00:00.000Z" },
    };
    const counts = { spans: 2, labels: 1, prompts: 1, files: 0, commits: 1, firstPrompt: "Mend the login" };
    expect(body).toEqual({ ok: true, items: [{ ...facts, ...counts }], next: null });
    const one = await t.get(`/api/sessions/${id}`, { token });
    expect(one.headers.get("content-type")).toMatch(/^application\/json/);
    expect(one.body).toMatchObject({ ok: true, ...facts, spanCount: 2, labelCount: 1, labels: [{ name: "reviewed" }] });
    // A number that JSON readers would round is shown as it was sent.
    expect(one.text).toContain('"big":12345678901234567890');
    const [strong, weak] = one.body.errors;
    expect(strong).toMatchObject({ heading: "2026-11-20 login loop", session: id, confidence: "strong", counts: true });
    expect(weak).toMatchObject({ heading: "2026-11-19 login again", confidence: "weak", counts: false, commit: null });
    expect(one.body.deliveries).toEqual([expect.any(Number)]);
    const spans = await t.get(`/api/sessions/${id}/spans?limit=1`, { token });
    expect(spans.body.items).toEqual([
      expect.objectContaining({ spanId: "a", name: "Bash", kind: "tool", parentId: null }),
    ]);
    const second = await t.get(`/api/sessions/${id}/spans?limit=1&cursor=${spans.body.next}`, { token });
    expect([second.body.items[0].spanId, second.body.items[0].parentId, second.body.next]).toEqual(["b", "a", null]);
  });

  it("are entries with their payloads: small ones in a list, any whole by itself", async () => {
    const { t, mine, token } = await twoTeams();
    const text = "x".repeat(20_000);
    const json = { repoKey: REPO, entries: [{ seq: 4, payload: { type: "large", n: 1, text } }] };
    await t.post("/api/telemetry/ingest", { token: mine.token, json });
    const { body } = await t.get("/api/entries", { token });
    expect(body.items.map(({ seq, type }: { seq: number; type: string }) => [seq, type])).toEqual([
      [4, "large"],
      [2, "note"],
      [1, "usage"],
    ]);
    expect(body.items[0]).toMatchObject({
      payload: null,
      payloadBytes: 20_032,
      missingBefore: { from: 3, to: 3 },
      flagged: "gap",
    });
    expect(body.items[1]).toMatchObject({ payload: { type: "note", text: "about login" }, conflict: false });
    const whole = await t.get(`/api/entries/${body.items[0].id}`, { token });
    expect(whole.body).toMatchObject({ payload: { text }, previousId: body.items[1].id, nextId: null, conflicts: [] });
  });

  it("are classes of errors with their counts, and of each its entries with the sessions they are put down to", async () => {
    const { t, token } = await twoTeams();
    const { body } = await t.get("/api/errors", { token });
    expect(body.items).toEqual([
      expect.objectContaining({
        occurrences: 2,
        open: 1,
        firstSeen: "2026-11-19",
        lastSeen: "2026-11-20",
        title: "login loop",
      }),
      expect.objectContaining({ occurrences: 1, firstSeen: "2026-11-18", title: "Slow login", rule: null }),
    ]);
    const recurring = await t.get("/api/errors?recurring=true&open=true&kind=error", { token });
    expect(recurring.body.items).toEqual([body.items[0]]);
    expect((await t.get("/api/errors?kind=security", { token })).body.items).toEqual([]);
    const one = await t.get(`/api/errors/${body.items[0].id}?limit=1`, { token });
    expect(one.body).toMatchObject({ ...body.items[0], items: [{ title: "login loop", open: true, line: 1 }] });
    expect(one.body.items[0].links).toEqual([
      expect.objectContaining({
        sessionId: "login-1",
        error: body.items[0].id,
        commit: expect.stringMatching(/^3f2a9c1/),
      }),
    ]);
    const rest = await t.get(`/api/errors/${body.items[0].id}?limit=1&cursor=${one.body.next}`, { token });
    expect([rest.body.items.map(({ title }: { title: string }) => title), rest.body.next]).toEqual([
      ["login again"],
      null,
    ]);
  });

  it("give the state and the owner of each error", async () => {
    const { t, token, mine } = await twoTeams();
    const { core } = t.instance;
    const [recurring, slow] = (await t.get("/api/errors", { token })).body.items;
    expect(recurring).toMatchObject({ state: "again", owner: null, snoozedUntil: null, tracker: null });
    expect(slow.state).toBe("resolved");
    const teamId = mine.team.id;
    const ada = await memberOf(t, mine.team);
    const on = (what: Act) => act(core, { teamId, fingerprint: recurring.id }, what, COMMAND_LINE);
    await on({ kind: "assign", ownerId: ada.id });
    await on({ kind: "link", url: "https://tracker.example.com/SHOP-1" });
    const until = Date.parse("2026-11-22T08:00:00Z");
    await on({ kind: "snooze", until });
    const standing = {
      ...{ state: "snoozed", snoozedUntil: "2026-11-22T08:00:00.000Z", tracker: "https://tracker.example.com/SHOP-1" },
      owner: { id: ada.id, email: ada.email, name: null },
    };
    expect((await t.get("/api/errors", { token })).body.items[0]).toMatchObject(standing);
    const one = await t.get(`/api/errors/${recurring.id}`, { token });
    expect(one.body).toMatchObject({ ...standing, items: [{ state: "snoozed", owner: null }, { state: "snoozed" }] });
  });

  it("are devices with their people and totals, deliveries, and spend", async () => {
    const { t, mine, token } = await twoTeams();
    const user = await memberOf(t, mine.team);
    await assignDevice(t.instance.core, mine.deviceId, user.email, COMMAND_LINE);
    t.clock.advance(1_000);
    const idle = await t.device(mine.team);
    const devices = (await t.get("/api/devices", { token })).body.items;
    expect(devices.map(({ id, entries }: { id: string; entries: number }) => [id, entries])).toEqual([
      [mine.deviceId, 2],
      [idle.deviceId, 0],
    ]);
    expect(devices[0]).toMatchObject({ status: "active", person: { id: user.id, email: user.email }, missing: 0 });
    const theirs = (path: string) => t.get(`${path}person=${encodeURIComponent(user.email.toUpperCase())}`, { token });
    expect((await theirs("/api/devices?")).body.items).toEqual([devices[0]]);
    const deliveries = (await t.get("/api/deliveries", { token })).body.items;
    expect(deliveries.map(({ kind, items }: { kind: string; items: number }) => [kind, items])).toEqual([
      ["telemetry", 2],
      ["brain", 1],
      ["traces", 1],
    ]);
    const spend = await theirs("/api/spend?from=2026-11-01&to=2026-11-30&by=day&");
    expect(spend.body).toMatchObject({ since: "2026-11-01", until: "2026-11-30", total: { usd: 0.55, usages: 1 } });
    expect((await t.get(`/api/spend?device=${idle.deviceId}`, { token })).body.total.usages).toBe(0);
    expect((await t.get("/api/spend?repo=elsewhere", { token })).body.total.usages).toBe(0);
    expect((await t.get("/api/spend", { token: mine.token })).body.total.usages).toBe(1);
    expect(t.rows("SELECT operation, reads FROM api_token_days ORDER BY operation")).toEqual([
      { operation: "getSpend", reads: 3 },
      { operation: "readDeliveries", reads: 1 },
      { operation: "readDevices", reads: 2 },
    ]);
  });

  it("are budgets with what is used of them, page by page", async () => {
    const { t, token } = await twoTeams();
    const { body } = await t.get("/api/budgets", { token });
    expect(body.items).toEqual([
      {
        ...{ id: expect.stringMatching(/^bgt_/), scope: "team", subject: null, period: "month" },
        ...{ from: "2026-11-01", to: "2026-11-30", amountUsd: 10, usedUsd: 0.55, unpricedTokens: 0 },
        ...{
          forecastUsd: expect.closeTo(0.8, 0),
          exceedsOn: null,
          state: "on track",
          thresholds: [80, 100],
          reached: [],
        },
        createdAt: "2026-11-21T08:00:00.000Z",
      },
      expect.objectContaining({
        ...{ scope: "repo", subject: REPO, period: "month" },
        ...{ usedUsd: 0.55, state: "exceeded", exceedsOn: null, thresholds: [50, 90] },
      }),
    ]);
    const { items, sizes } = await walk(t, "/api/budgets?limit=1", token);
    expect([items, sizes]).toEqual([body.items, [1, 1]]);
    expect((await t.get("/api/budgets?state=exceeded", { token })).body.items).toEqual([body.items[1]]);
  });

  it("are budgets as up to date as spend, however long measuring them takes", async () => {
    const { t, core, token: sender, team } = await startWithDevice();
    const token = await apiToken(t, team.id);
    for (const period of ["week", "month"] as const) {
      await setBudget(core, team.id, { scope: "team", subject: "", period, amountUsd: 10 }, COMMAND_LINE);
      await setBudget(core, team.id, { scope: "repo", subject: REPO, period, amountUsd: 10 }, COMMAND_LINE);
    }
    const used = async () => {
      const { body } = await t.get("/api/budgets", { token });
      return body.items.map(({ usedUsd }: { usedUsd: number }) => usedUsd);
    };
    expect(await used()).toEqual([0, 0, 0, 0]);
    const payload = { model: "claude-opus-4-6", usage: { id: "m", input_tokens: 1_000_000, output_tokens: 0 } };
    await t.post("/api/telemetry/ingest", { token: sender, json: { repoKey: REPO, entries: [{ seq: 1, payload }] } });
    const { turns, done } = await turnsOfOthers(core, used);
    expect([done, turns > 2]).toEqual([[5, 5, 5, 5], true]);
  });

  it.each<[string, Record<string, number>]>([
    [
      "/api/sessions",
      {
        "agent=claude-code": 1,
        "agent=codex": 0,
        "model=claude-opus-4-6": 1,
        "branch=main": 1,
        "branch=x": 0,
        "outcome=success": 1,
        "outcome=error": 0,
        "text=MEND%20the": 1,
        "text=nowhere": 0,
        "from=2026-11-20&to=2026-11-20": 1,
        "to=2026-11-20T14:00:00Z": 0,
        "from=2026-11-21": 0,
        "repo=github.com/acme/shop": 1,
        "repo=": 0,
        "person=nobody@example.com": 0,
        "device=dev_x": 0,
      },
    ],
    [
      "/api/entries",
      {
        "type=note": 1,
        "text=ABOUT": 1,
        "text=%27%20OR%201=1--": 0,
        "from=2026-11-21&to=2026-11-21": 2,
        "to=2026-11-20": 0,
        "repo=": 0,
        "person=nobody@example.com": 0,
        "device=dev_x": 0,
        "flagged=conflict": 0,
      },
    ],
    ["/api/errors", { "kind=error": 2, "repo=github.com/acme/shop": 2, "repo=%27": 0 }],
    ["/api/budgets", { "scope=team": 1, "scope=repo": 1, "scope=model": 0, "state=on%20track": 1 }],
    ["/api/devices", { "status=active": 1, "status=revoked": 0, "device=dev_x": 0 }],
    [
      "/api/deliveries",
      {
        "kind=brain": 1,
        "flagged=gap": 0,
        "from=2026-11-21": 3,
        "to=2026-11-20": 0,
        "repo=": 0,
        "person=x": 0,
        "device=dev_x": 0,
      },
    ],
  ])("%s narrows by what it declares", async (path, expected) => {
    const { t, token } = await twoTeams();
    const found: Record<string, number> = {};
    for (const query of Object.keys(expected))
      found[query] = (await t.get(`${path}?${query}`, { token })).body.items?.length;
    expect(found).toEqual(expected);
  });
});

describe("a token of one team", () => {
  it.each(OF_A_TEAM)("gets nothing of another from %s", async (path) => {
    const { t, mine, theirs, token, other, all } = await twoTeams();
    const foreign = await pathOf(t, path, other);
    if (path.includes(":id")) {
      const answer = await t.get(foreign, { token });
      // A class of errors is identified by its rule, and both teams wrote this one.
      if (path !== "/api/errors/:id") expect([foreign, answer.status]).toEqual([foreign, 404]);
      expect(answer.text).not.toContain("canary");
      for (const id of ["0", "-1", "1e3", "99999999999999999999", "%27%20OR%201", "a%00b", "x".repeat(3_000)])
        expect([id, (await t.get(path.replace(":id", id), { token })).status]).toEqual([id, 404]);
    }
    const ownPath = await pathOf(t, path, token);
    const own = await t.get(ownPath, { token });
    for (const team of [mine.team.id, mine.team.name])
      expect((await t.get(`${ownPath}?team=${encodeURIComponent(team)}`, { token })).text).toBe(own.text);
    const theirOwn = ["login", mine.deviceId, "bgt_"].some((text) => own.text.includes(text));
    expect([own.status, theirOwn]).toEqual([200, true]);
    expect(own.text).not.toContain("canary");
    for (const team of [theirs.team.id, theirs.team.name, "team_x", "' OR 1=1 --"])
      expect((await t.get(`${foreign}?team=${encodeURIComponent(team)}`, { token })).status).toBe(404);
    // A token of all teams must say which team it means.
    expect((await t.get(foreign, { token: all })).status).toBe(400);
    expect((await t.get(`${foreign}?team=${theirs.team.id}`, { token: all })).text).toMatch(/canary|dev_/);
    expect((await t.get(`${foreign}?team=`, { token })).status).toBe(400);
  });

  it("lists only that team, and a token of all teams lists all", async () => {
    const { t, mine, theirs, token, all } = await twoTeams();
    const ids = async (secret: string) =>
      (await t.get("/api/teams", { token: secret })).body.items.map(({ id }: { id: string }) => id);
    expect(await ids(token)).toEqual([mine.team.id]);
    expect((await ids(all)).sort()).toEqual([mine.team.id, theirs.team.id].sort());
    // A program that reads page by page reads this list, too.
    expect((await walk(t, "/api/teams?limit=200", all)).sizes).toEqual([2]);
    expect((await t.get(`/api/spend?team=${theirs.team.id}`, { token })).status).toBe(404);
    expect((await t.get("/api/spend", { token: all })).status).toBe(400);
    expect((await t.get(`/api/spend?team=${theirs.team.id}`, { token: all })).body.total.usages).toBe(1);
  });
});

describe("paging", () => {
  it("gives each session once while others come, and null at the end", async () => {
    const { t, mine, token } = await twoTeams();
    const send = (from: number, to: number, day: string) =>
      t.post("/api/agent-traces/ingest", {
        token: mine.token,
        json: {
          sessions: Array.from({ length: to - from }, (_, i) => ({
            id: `s${from + i}`,
            outcome: "ok",
            startedAt: `${day}T00:${String(i % 60).padStart(2, "0")}:00Z`,
            prompts: [],
            spans: [],
          })),
        },
      });
    await send(0, 50, "2026-11-19");
    const first = await t.get("/api/sessions?limit=20", { token });
    await send(50, 90, "2026-11-21");
    const rest = await walk(t, `/api/sessions?limit=20&cursor=${first.body.next}`.replace(/&cursor=.*/, ""), token);
    expect(rest.items).toHaveLength(91);
    const { items } = await follow(t, "/api/sessions?limit=20", first.body.next, token);
    const names = [...first.body.items, ...items].map(({ sessionId }) => sessionId);
    expect([names.length, new Set(names).size]).toEqual([51, 51]);
  });

  it.each(LISTS)("%s takes cursors of its own query alone, and limits from 1 to 200", async (path) => {
    const { t, mine, theirs, token, other, all } = await twoTeams();
    for (const { team, token: device } of [mine, theirs])
      for (const n of [1, 2]) {
        const extra = await t.device(team);
        await fillRecords(t, n === 1 ? extra : { ...extra, token: device }, "login");
      }
    const at = await pathOf(t, path, token);
    const { next } = (await t.get(`${at}?limit=1`, { token })).body;
    expect([at, typeof next]).toEqual([at, "string"]);
    expect((await t.get(`${at}?limit=200&cursor=${next}`, { token })).status).toBe(200);
    const refused = [
      `${at}?limit=1&cursor=${next}&repo=${encodeURIComponent(REPO)}&device=x&text=y&status=active&scope=team`,
      `${at}?cursor=${next.slice(0, -4)}`,
      `${at}?cursor=${Buffer.from("[0,1,1]").toString("base64url")}`,
      `${at}?cursor=${encodeURIComponent("' OR 1=1")}`,
      `${at}?cursor=`,
      `${at}?cursor=${"A".repeat(5_000)}`,
      ...["0", "201", "-1", "1e2", "x", ""].map((limit) => `${at}?limit=${limit}`),
    ].filter((one) => !(one.includes("&repo=") && path.endsWith("spans")));
    for (const one of refused) {
      const answer = await t.get(one, { token });
      expect([one, answer.status, answer.body.code]).toEqual([one, 400, "bad_request"]);
    }
    const elsewhere = LISTS.filter((list) => list !== path);
    for (const list of elsewhere)
      expect((await t.get(`${await pathOf(t, list, token)}?cursor=${next}`, { token })).status).toBe(400);
    expect((await t.get(`${await pathOf(t, path, other)}?cursor=${next}`, { token: other })).status).toBe(400);
    expect((await t.get(`${at}?cursor=${next}&team=${mine.team.id}`, { token: all })).status).toBe(200);
  });
});

/** The rest of a list from a cursor on. */
async function follow(t: TestInstance, path: string, cursor: string, token: string) {
  const items: Record<string, unknown>[] = [];
  for (let next: string | null = cursor; next !== null; ) {
    const { body } = await t.get(`${path}&cursor=${next}`, { token });
    items.push(...body.items);
    next = body.next;
  }
  return { items };
}

it("refuses unknown parameters of a list, which would otherwise narrow nothing", async () => {
  const { t, mine, token } = await twoTeams();
  const unknown = [
    ["/api/sessions?agnet=claude-code", "agnet"],
    ["/api/errors?from=2026-11-01", "from"],
    ["/api/entries?limit=1&Text=login", "Text"],
    ...LISTS.filter((path) => path !== "/api/spend").map((path) => [`${path.replace(":id", "1")}?x=1&`, "x"]),
  ];
  for (const [path = "", name] of unknown) {
    const { status, body } = await t.get(path, { token });
    const error = `In the query, "${name}" is not known.`;
    expect([path, status, body]).toEqual([path, 400, { ok: false, code: "bad_request", error }]);
  }
  for (const secret of [token, mine.token]) {
    const { status, body } = await t.get("/api/spend?by=day&model=x", { token: secret });
    expect([status, body]).toEqual([400, { error: 'In the query, "model" is not known.' }]);
  }
  expect((await t.get("/api/devices?", { token })).body.items).toHaveLength(1);
});

it("refuses in the canonical shape, and answers no read that it cannot count", async () => {
  const { t, token } = await twoTeams();
  const missing = await t.get("/api/sessions/999", { token });
  expect([missing.status, missing.body]).toEqual([
    404,
    { ok: false, code: "not_found", error: "There is no such session." },
  ]);
  t.instance.core.store.db.pragma("query_only = ON");
  const answer = await t.get("/api/entries", { token });
  t.instance.core.store.db.pragma("query_only = OFF");
  expect([answer.status, answer.text.includes("login")]).toEqual([503, false]);
  expect((await t.get("/api/entries", { token })).status).toBe(200);
});

it("finds a text in any case, however the JSON escapes it", async () => {
  const { t, token: device, team } = await startWithDevice();
  const token = await apiToken(t, team.id);
  // As programs escape JSON: all beyond ASCII, and some signs of HTML. The last backslash is itself escaped.
  const said = String.raw`"\u00dcber Stra\u00dfe \u003cb\u003e \ud83d\ude00 C:\\u00e9"`;
  const entry = `{"repoKey":"shop","entries":[{"seq":1,"payload":{"type":"prompt","text":${said}}}]}`;
  const session = `{"sessions":[{"id":"s-1","agent":"a","outcome":"success","prompts":[{"text":${said}}],"spans":[]}]}`;
  for (const [path, body] of [
    ["/api/telemetry/ingest", entry],
    ["/api/agent-traces/ingest", session],
  ] as const) {
    const headers = { "content-type": "application/json" };
    expect((await t.post(path, { token: device, body, headers })).status).toBe(200);
  }
  for (const path of ["/api/entries", "/api/sessions"]) {
    const count = async (text: string) =>
      (await t.get(`${path}?text=${encodeURIComponent(text)}`, { token })).body.items.length;
    for (const text of ["über", "ÜBER STRAß", "<B>", "\u{1f600}", "c:\\u00e9", "u00e9"])
      expect([path, text, await count(text)]).toEqual([path, text, 1]);
    for (const text of ["é", "ö", "<i>"]) expect([path, text, await count(text)]).toEqual([path, text, 0]);
  }
});

it("reads lone surrogates as U+FFFD, for which readers of JSON would refuse a whole page, and changes nothing else", async () => {
  const { t, token: device, team } = await startWithDevice();
  const token = await apiToken(t, team.id);
  const said = (high: string, low: string) =>
    String.raw`"text":"cut ${high} here","${low}":"\\ud83d \ud83d\ude00 \u00e9 \\\ud83d\ud83d\uDE00"`;
  const payload = (high: string, low: string) => `{"type":"prompt",${said(high, low)},"n":1.50}`;
  const [sent, read] = [payload("\\ud83d", "\\uDE00"), payload("\\ufffd", "\\ufffd")];
  const headers = { "content-type": "application/json" };
  const entry = `{"repoKey":"shop","entries":[{"seq":1,"payload":${sent}}]}`;
  const session = `{"sessions":[{"id":"s-1","outcome":"ok","own":${sent},"spans":[{"id":"1","own":${sent}}]}]}`;
  expect((await t.post("/api/telemetry/ingest", { token: device, body: entry, headers })).status).toBe(200);
  expect((await t.post("/api/agent-traces/ingest", { token: device, body: session, headers })).status).toBe(200);
  const expected = read.replace(String.raw`\\\ud83d\ud83d`, String.raw`\\\ufffd\ud83d`);
  for (const path of ["/api/entries", "/api/entries/1", "/api/sessions/1", "/api/sessions/1/spans"])
    expect((await t.get(path, { token })).text).toContain(expected);
  expect(t.rows("SELECT document FROM trace_spans")[0]?.document).toContain(sent);
});
