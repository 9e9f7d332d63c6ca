import { describe, expect, it } from "vitest";
import { sessionFacets } from "../../../src/insight/sessions/sessions.ts";
import type { SessionFilter } from "../../../src/record/traces/browse.ts";
import { findSessionId, getSession, listSessions } from "../../../src/record/traces/traces.ts";
import { startInstance, startWithDevice, type TestDevice, type TestInstance } from "../../support/instance.ts";
import { processorMs } from "../../support/time.ts";

const send = async (t: TestInstance, { token }: TestDevice, sessions: object[], more: object = {}) => {
  const json = {
    repoKey: "shop",
    sessions: sessions.map((one) => ({ outcome: "success", spans: [], ...one })),
    ...more,
  };
  expect((await t.post("/api/agent-traces/ingest", { token, json })).status).toBe(200);
};
const at = (hour: number) => new Date(Date.UTC(2026, 10, 20, hour)).toISOString();

/** Twelve sessions; every third has no start, two start at the same instant. */
async function filled(t: TestInstance) {
  const device = await t.device();
  const other = await t.device();
  for (const one of [device, other])
    for (let i = 0; i < 12; i++)
      await send(
        t,
        one,
        [
          {
            id: `s-${i}`,
            outcome: i % 2 ? "failure" : "success",
            agent: i % 2 ? "codex" : "claude-code",
            model: "m",
            branch: i === 4 ? "feature" : "main",
            ...(i % 3 === 0 ? {} : { startedAt: at(i === 2 ? 1 : i) }),
            prompts: [{ text: `Fix "it" ${i}` }],
          },
        ],
        { repoKey: i < 6 ? "shop" : "api" },
      );
  return { device, other, team: device.team.id };
}
const ORDER = ["s-11", "s-10", "s-8", "s-7", "s-5", "s-4", "s-2", "s-1", "s-9", "s-6", "s-3", "s-0"];
const idsOf = (page: { rows: readonly { externalId: string }[] }) => page.rows.map((row) => row.externalId);

async function everything(t: TestInstance, team: string, filter: SessionFilter & { limit?: number } = {}) {
  const pages = [await listSessions(t.instance.core, team, filter)];
  for (let cursor = pages.at(-1)?.older; cursor; cursor = pages.at(-1)?.older)
    pages.push(await listSessions(t.instance.core, team, { ...filter, cursor }));
  return pages;
}

describe("listSessions", () => {
  it("shows the last started session first, those without a start at the end, on whatever pages", async () => {
    const t = await startInstance();
    const { team } = await filled(t);
    for (const limit of [1, 2, 5, 11, 12, 200]) {
      const pages = await everything(t, team, { limit });
      expect(pages.flatMap(idsOf), `limit ${limit}`).toEqual(ORDER);
      for (const [i, page] of pages.entries()) {
        if (i < 2) continue;
        const back = await listSessions(t.instance.core, team, { limit, cursor: page.newer });
        expect(idsOf(back), `limit ${limit} page ${i}`).toEqual(idsOf(pages[i - 1] as typeof page));
      }
      expect(pages[0]?.newer).toBeUndefined();
    }
    expect(await listSessions(t.instance.core, team, { cursor: "garbage" })).toEqual(
      await listSessions(t.instance.core, team),
    );
  });

  it("narrows by every member, by time and by text", async () => {
    const t = await startInstance();
    const { team, device, other } = await filled(t);
    const ids = async (filter: SessionFilter) => (await everything(t, team, { limit: 2, ...filter })).flatMap(idsOf);
    expect(await ids({ repoKey: "api" })).toEqual(["s-11", "s-10", "s-8", "s-7", "s-9", "s-6"]);
    expect(await ids({ outcome: "failure" })).toEqual(["s-11", "s-7", "s-5", "s-1", "s-9", "s-3"]);
    expect(await ids({ agent: "codex", repoKey: "api" })).toEqual(["s-11", "s-7", "s-9"]);
    expect(await ids({ branch: "feature" })).toEqual(["s-4"]);
    expect(await ids({ model: "none" })).toEqual([]);
    expect(await ids({ deviceId: device.deviceId })).toEqual(ORDER);
    expect(await ids({ deviceId: other.deviceId })).toEqual([]);
    expect(await ids({ text: 'FIX "IT" 1' })).toEqual(["s-11", "s-10", "s-1"]);
    const span = { from: Date.parse(at(4)), to: Date.parse(at(8)) };
    expect(await ids(span)).toEqual(["s-7", "s-5", "s-4"]);
    expect(await ids({ ...span, agent: "codex" })).toEqual(["s-7", "s-5"]);
  });

  it("counts what a session holds", async () => {
    const { t, device } = await startWithDevice();
    await send(
      t,
      device,
      [
        {
          id: "s-1",
          spans: [{ id: "a" }, { id: "b" }],
          prompts: [{ text: "x" }, { text: 7 }],
          files: ["a.ts", "b.ts", "c.ts"],
          commits: ["abc", { sha: "def" }],
        },
      ],
      { labels: [{ sessionId: "s-1", name: "review" }] },
    );
    await send(t, device, [{ id: "s-2", prompts: "none" }]);
    const { rows } = await listSessions(t.instance.core, device.team.id);
    expect(rows).toMatchObject([
      { externalId: "s-2", spans: 0, labels: 0, prompts: 0, files: 0, commits: 0 },
      { externalId: "s-1", spans: 2, labels: 1, prompts: 1, files: 3, commits: 2 },
    ]);
  });

  it("uses the indexes on starts, so that no page sorts", async () => {
    const t = await startInstance();
    for (const where of ["team_id = 'x'", "team_id = 'x' AND repo_key = 'y'"]) {
      const plan = t.rows(
        `EXPLAIN QUERY PLAN SELECT id FROM trace_sessions WHERE ${where} AND (started_at, id) < (1, 2) ORDER BY started_at DESC, id DESC LIMIT 5`,
      );
      expect(plan.map((row) => row.detail).join()).toMatch(/USING (?:COVERING )?INDEX trace_sessions_/);
      expect(plan.map((row) => row.detail).join()).not.toContain("TEMP B-TREE");
    }
  });
});

describe("getSession", () => {
  it("shows what it understands of the free-form parts, and keeps the text", async () => {
    const { t, device } = await startWithDevice();
    await send(
      t,
      device,
      [
        {
          id: "s-1",
          startedAt: at(1),
          prompts: [{ at: at(2), text: "Fix it" }, { text: "" }, "no object"],
          files: ["a.ts", 7],
          commits: ["abc", { sha: "def", at: at(3) }, {}],
          usage: { id: "msg", input_tokens: 10, output_tokens: -1, cache_read_input_tokens: "7" },
          costUsd: 0.25,
          spans: [
            { id: "late", startedAt: at(3) },
            { id: "undated" },
            {
              id: "early",
              parentId: "root",
              name: "edit",
              kind: "tool",
              startedAt: at(2),
              usage: { output_tokens: 3 },
              edits: [{ path: "a.ts", startLine: 1, endLine: 2, commit: "abc" }, { path: 7 }],
              attributes: { "gen_ai.request.model": "m" },
            },
          ],
        },
      ],
      { labels: [{ sessionId: "s-1", spanId: "late", name: "review", value: "good", comment: "yes" }] },
    );
    const id = findSessionId(t.instance.core, device.team.id, device.deviceId, "s-1") as number;
    const session = await getSession(t.instance.core, device.team.id, id);
    expect(session).toMatchObject({
      externalId: "s-1",
      prompts: [{ at: Date.parse(at(2)), text: "Fix it" }],
      files: ["a.ts"],
      commits: [
        { sha: "abc", at: null },
        { sha: "def", at: Date.parse(at(3)) },
      ],
      usage: { id: "msg", input: 10, output: null, cacheRead: null },
      costUsd: 0.25,
      spanCount: 3,
      labels: [{ spanId: "late", name: "review", value: "good", comment: "yes" }],
      labelCount: 1,
      deliveries: [{ id: expect.any(Number), receivedAt: t.clock.now() }],
    });
    expect(session?.spans.map((span) => span.externalId)).toEqual(["early", "late", "undated"]);
    expect(session?.spans[0]).toMatchObject({
      parentId: "root",
      name: "edit",
      kind: "tool",
      usage: { output: 3, input: null },
      edits: [{ path: "a.ts", startLine: 1, endLine: 2, commit: "abc" }],
      attributes: { "gen_ai.request.model": "m" },
    });
    expect(JSON.parse(session?.document ?? "")).toMatchObject({ files: ["a.ts", 7] });
  });

  it("shows the first ten thousand spans and says how many there are", async () => {
    const { t, device } = await startWithDevice();
    for (const from of [0, 5_000, 10_000])
      await send(t, device, [{ id: "s-1", spans: Array.from({ length: 3_500 }, (_, i) => ({ id: from + i + 1 })) }]);
    const session = await getSession(t.instance.core, device.team.id, 1);
    expect(session).toMatchObject({ spanCount: 10_500 });
    expect(session?.spans).toHaveLength(10_000);
  });
});

it("offers the filter values of a team's sessions", async () => {
  const t = await startInstance();
  const { team, device } = await filled(t);
  await t.instance.settle();
  expect(sessionFacets(t.instance.core, team)).toEqual({
    repoKeys: ["api", "shop"],
    devices: [{ id: device.deviceId, label: null }],
    userEmails: [],
    outcomes: ["failure", "success"],
    agents: ["claude-code", "codex"],
    models: ["m"],
    branches: ["feature", "main"],
    partial: false,
  });
});

it("finds a long text in any case, in a time that does not depend on what it is searched in", async () => {
  const { t, device } = await startWithDevice();
  const long = "a".repeat(2_000);
  await send(t, device, [
    { id: "alike", prompts: [{ text: "a".repeat(2 * 1024 * 1024) }] },
    { id: "has", prompts: [{ text: `Then ${long.toUpperCase()}"b_%` }] },
  ]);
  const find = async (text: string, ids: readonly string[]) =>
    expect(idsOf(await listSessions(t.instance.core, device.team.id, { text })).sort()).toEqual(ids);
  const ofShort = await processorMs(() => find("aaaaaa", ["alike", "has"]));
  // With a LIKE pattern alone each took ten seconds and more, without a pause.
  for (const [text, ids] of [
    [`${long}b`, []],
    [`${long}"b_%`, ["has"]],
    [`${long}"b%`, []],
  ] as const)
    expect(await processorMs(() => find(text, ids))).toBeLessThan(40 * ofShort);
});
