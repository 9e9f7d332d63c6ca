import { expect, it } from "vitest";
import { startWithDevice } from "../support/instance.ts";

const session = (id: string, files: readonly string[]) => ({
  ...{ id, outcome: "success", spans: [], files },
  ...{ startedAt: "2026-11-18T12:00:00Z", endedAt: "2026-11-18T13:00:00Z" },
});
const errors = `# Errors

## 2026-11-20 Login loop

The cookie lacked its path in src/login.ts.

## 2026-11-19 Slow build

In src/build.ts.

## 2026-09-01 Long ago

In src/login.ts.
`;

it("compares every entry with the sessions before it and says what became of it", async () => {
  const { t, token } = await startWithDevice();
  const sessions = [session("a", ["src/login.ts", "src/build.ts"]), session("b", ["src/build.ts"])];
  await t.post("/api/agent-traces/ingest", { token, json: { repoKey: "shop", sessions } });
  const files = [
    { path: ".claude/brain/errors.md", content: errors },
    { path: ".claude/brain/security.md", content: "## 2026-11-20 Token in a log\n\nIn src/login.ts.\n" },
    { path: ".claude/brain/notes.md", content: "## 2026-11-20 No defect\n\nIn src/login.ts.\n" },
  ];
  await t.post("/api/brain/ingest", { token, json: { version: 1, repoKey: "shop", files } });
  const counted = { ok: true, considered: 4, linked: 2, possible: 1, unlinked: 1 };
  for (const ask of [{}, { json: {} }, { json: { repoKey: "shop" } }]) {
    const answer = await t.post("/api/causal-link/correlate", { token, ...ask });
    expect([answer.status, answer.body]).toEqual([200, counted]);
  }
  expect(t.rows("SELECT band, count(*) AS n FROM causal_links GROUP BY band ORDER BY band")).toEqual([
    { band: "probable", n: 2 },
    { band: "weak", n: 2 },
  ]);
  const before = t.rows("SELECT * FROM causal_links ORDER BY id");
  t.clock.advance(60_000);
  await t.post("/api/causal-link/correlate", { token });
  expect(t.rows("SELECT * FROM causal_links ORDER BY id")).toEqual(before);
  const nothing = { ok: true, considered: 0, linked: 0, possible: 0, unlinked: 0 };
  expect((await t.post("/api/causal-link/correlate", { token, json: { repoKey: "api" } })).body).toEqual(nothing);
  const other = await t.device();
  expect((await t.post("/api/causal-link/correlate", { token: other.token })).body).toEqual(nothing);
});

it("refuses an invalid repository, and a tier without traces", async () => {
  const { t, token } = await startWithDevice();
  expect((await t.post("/api/causal-link/correlate", { token, json: { repoKey: 3 } })).status).toBe(400);
  const starter = await t.device(await t.team({ tier: "starter" }));
  const answer = await t.post("/api/causal-link/correlate", { token: starter.token });
  expect([answer.status, answer.body.entitled]).toEqual([402, ["team", "enterprise"]]);
});
