import { beforeAll, describe, expect, it } from "vitest";
import { CONTRACT } from "../../src/app.ts";
import { authOf, startWithDevice, type TestDevice, type TestInstance } from "../support/instance.ts";

/** The stranger knows the names of another team's things. The things themselves must not show, and must not change. */

const CANARY = "canary4x8t";
const REPO = "github.com/acme/shop";
const SHA = "3f2a9c1e5b7d4a60918273645f5e6d7c8b9a0f1e";
const ERRORS = ".claude/brain/errors.md";
const HEADING = "2026-11-20 Login loop";
const AT = "2026-11-20T14:00:00Z";

/** Everything that a device can send, so that no table of derived rows is empty. */
async function fill(t: TestInstance, { token }: TestDevice): Promise<void> {
  const send = async (path: string, json: object) => {
    const answer = await t.post(path, { token, json });
    expect([path, answer.status, answer.text]).toEqual([path, 200, expect.anything()]);
  };
  const usage = { id: "msg_1", input_tokens: 10, output_tokens: 5 };
  const rule = `**Prevention rule:** ${CANARY} set Path on every cookie.`;
  await send("/api/brain/ingest", {
    ...{ version: 1, repoKey: REPO },
    files: [
      {
        path: ERRORS,
        content: `## ${HEADING}\n\nStatus: open. Introduced in ${SHA}, in \`src/login.ts\`. ${CANARY}\n\n${rule}\n\n## 2026-11-19 Login loop ${CANARY}\n\n${rule}\n`,
      },
      { path: ".claude/brain/decisions/0001.md", content: `# Cookies ${CANARY}\n\nWe keep them.\n` },
    ],
  });
  await send("/api/agent-traces/ingest", {
    repoKey: REPO,
    sessions: [
      {
        ...{ id: "s-1", outcome: CANARY, agent: CANARY, model: `${CANARY}-model`, branch: CANARY, startedAt: AT },
        prompts: [{ at: AT, text: `Set the cookie ${CANARY}` }],
        commits: [{ sha: SHA, at: AT }],
        spans: [{ id: "a", startedAt: AT, usage, edits: [{ path: "src/login.ts", startLine: 1, endLine: 99 }] }],
      },
    ],
    labels: [{ sessionId: "s-1", name: CANARY }],
  });
  const payload = { type: "usage", sessionId: "s-1", model: `${CANARY}-model`, usage: { ...usage, id: "msg_2" } };
  await send("/api/telemetry/ingest", { repoKey: REPO, entries: [{ seq: 1, payload }] });
  await send("/api/brain-pulse/ingest", { repoKey: REPO, at: AT, counts: { [CANARY]: 3 }, fingerprints: ["3fa9c1d2"] });
  await send("/api/causal-link", {
    ...{ repoKey: REPO, file: ERRORS, heading: HEADING, sessionId: "s-1", promptExcerpt: CANARY },
  });
}

/** Values of every parameter that may name something of the other team. */
const NAMES: Record<string, string> = {
  ...{ repoKey: REPO, file: ERRORS, path: "src/login.ts", line: "10", commit: SHA, sessionId: "s-1" },
  ...{ q: "cookie", by: "model", since: "2026-01-01", format: "json" },
};
const BODIES: Record<string, readonly object[]> = {
  causalLinkCreate: [
    { repoKey: REPO, file: ERRORS, heading: HEADING, sessionId: "s-1" },
    { repoKey: REPO, file: ERRORS, heading: HEADING, commit: SHA },
  ],
  causalLinkCorrelate: [{}, { repoKey: REPO }],
  agentTracesIngest: [{ repoKey: REPO, sessions: [{ id: "s-1", outcome: "taken over", spans: [{ id: "a" }] }] }],
  brainIngest: [{ version: 9, repoKey: REPO, files: [] }],
  telemetryIngest: [{ repoKey: REPO, entries: [{ seq: 1, payload: { taken: "over" } }] }],
  brainPulseIngest: [{ repoKey: REPO, at: "2026-11-20T15:00:00Z", counts: {}, fingerprints: [] }],
};

/** All rows that belong to a team, by themselves or through another row. */
function rowsOf(t: TestInstance): Map<string, string[]> {
  const tables = t.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
  return new Map(
    tables
      .filter(({ name }) => name !== "projections")
      .map(({ name }) => [name, t.rows(`SELECT * FROM ${name}`).map((row) => JSON.stringify(row))]),
  );
}

const device = CONTRACT.filter((endpoint) => authOf(endpoint).startsWith("device")).map(
  ({ spec }) => [`${spec.method} ${spec.path}`, spec] as const,
);

describe("another team's device", () => {
  let asked = 0;
  beforeAll(() => expect(device.length).toBeGreaterThan(12));

  it.each(device)("%s tells and changes nothing of a team, whatever it names", async (_, spec) => {
    const { t, device: theirs } = await startWithDevice();
    await fill(t, theirs);
    await t.instance.settle();
    // The owner sees the canary; otherwise its absence below would prove nothing.
    const own = await t.get("/api/causal-link", { token: theirs.token });
    expect(own.text).toContain(CANARY);
    const stranger = await t.device();
    const before = rowsOf(t);

    const known = spec.query ? Object.keys((spec.query as unknown as { entries: object }).entries) : [];
    const query = new URLSearchParams(known.filter((name) => NAMES[name]).map((name) => [name, NAMES[name] as string]));
    for (const body of BODIES[spec.id] ?? [spec.example?.body ?? {}]) {
      const ask = spec.body ? { json: body } : {};
      const answer = await t.call(spec.method, `${spec.path}?${query}`, { token: stranger.token, ...ask });
      expect([spec.id, answer.status < 500]).toEqual([spec.id, true]);
      expect(answer.text).not.toContain(CANARY);
      expect([...answer.headers].join("\n")).not.toContain(CANARY);
      asked++;
    }
    await t.instance.settle();
    const after = rowsOf(t);
    for (const [table, rows] of before) {
      const lost = rows.filter((row) => !row.includes(stranger.deviceId) && !after.get(table)?.includes(row));
      // The stranger's requests may change only the tokens and days of its own team.
      expect([table, lost.filter((row) => !row.includes(stranger.team.id))]).toEqual([table, []]);
    }
    expect(asked).toBeGreaterThan(0);
  });
});
