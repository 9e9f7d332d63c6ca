import { expect, it } from "vitest";
import { ask, somebody } from "../../support/every-page.ts";
import { startWithDevice } from "../../support/instance.ts";

const SESSIONS = 1_030;
const CALLS = 12;

it("shows a team's spend, whatever figures one of its agents makes up", async () => {
  const { t, token, team } = await startWithDevice();
  const post = async (path: string, json: object) => {
    const { status, text } = await t.post(path, { token, json });
    expect([status, text]).toEqual([200, text]);
  };
  const model = "claude-opus-4-1";
  const usage = { type: "message", model, usage: { output_tokens: 10_000_000_000 }, costUsd: 1_000_000 };
  const ids = Array.from({ length: SESSIONS }, (_, i) => `s${i}`);
  const startedAt = "2026-11-20T08:00:00Z";
  for (let i = 0; i < SESSIONS; i += 200) {
    const sessions = ids.slice(i, i + 200).map((id) => ({ id, outcome: "succeeded", startedAt, spans: [] }));
    await post("/api/agent-traces/ingest", { repoKey: "shop", sessions });
  }
  // Each session costs nearly 2^53 billionths of a dollar.
  const entries = ids.flatMap((sessionId, i) =>
    Array.from({ length: CALLS }, (_, n) => {
      const seq = 1 + i * CALLS + n;
      return { seq, payload: { ...usage, sessionId, messageId: `m${seq}`, requestId: `r${seq}` } };
    }),
  );
  for (let i = 0; i < entries.length; i += 1_000)
    await post("/api/telemetry/ingest", { repoKey: "shop", entries: entries.slice(i, i + 1_000) });
  await t.instance.settle();
  const as = await somebody(t, team);
  for (const path of ["/sessions", "/spend", "/spend?by=session", "/repositories", "/overview"])
    expect([path, (await ask(t, "GET", path, { as })).status]).toEqual([path, 200]);
  const { status, body } = await t.get("/api/spend?since=2026-11-01&by=session&limit=1", { token });
  expect([status, body.total.usd, body.total.outputTokens]).toEqual([
    ...[200, (SESSIONS * CALLS * 75e10) / 1e6],
    SESSIONS * CALLS * 1e10,
  ]);
});
