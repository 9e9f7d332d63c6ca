import { expect, it } from "vitest";
import { evidenceProjection } from "../../src/insight/causes/causes.ts";
import { linksProjection } from "../../src/insight/causes/follow-deliveries.ts";
import { entriesProjection } from "../../src/insight/defects/defects.ts";
import { catchUp } from "../../src/platform/projections/projections.ts";
import { startWithDevice } from "../support/instance.ts";

/** Replies that need all deliveries to be read, while they are still being read. */

const ROUTES = ["/api/brain/metrics", "/api/causal-link", "/api/prompt-for-line?path=src/login.ts&line=1"] as const;

async function start() {
  const { t, token } = await startWithDevice();
  const files = [{ path: ".claude/brain/errors.md", content: "## 2026-11-20 Login loop\n\nIt looped.\n" }];
  const deliver = async (version: number) => {
    const { status } = await t.post("/api/brain/ingest", { token, json: { repoKey: "shop", version, files } });
    expect(status).toBe(200);
  };
  const ask = async (path: string) => {
    const { status, body, headers } = await t.get(path, { token });
    return { status, error: body?.error, retryAfter: headers.get("retry-after"), body };
  };
  await deliver(1);
  return { t, deliver, ask };
}

it("says when to ask again while much is to be read, and shows a briefing as it stands", async () => {
  const { t, ask } = await start();
  const { core } = t.instance;
  const held = Promise.withResolvers<undefined>();
  // Work of the same name goes first, and this piece takes as long as the test wants.
  const others = [entriesProjection, evidenceProjection, linksProjection].map(({ name }) =>
    catchUp(core, { name, next: () => held.promise }),
  );
  const [briefing, ...refused] = await Promise.all(["/api/brain/briefing?format=json", ...ROUTES].map(ask));
  for (const one of refused)
    expect(one).toMatchObject({
      status: 503,
      error: expect.stringContaining("still being read"),
      retryAfter: "10",
    });
  expect(briefing).toMatchObject({ status: 200, body: { items: [] } });
  held.resolve(undefined);
  await Promise.all(others);
  for (const path of ROUTES) expect((await ask(path)).status).toBe(200);
  expect((await ask("/api/brain/metrics")).body.total).toBe(1);
});

it("answers with what it has while nothing can be stored, and says where something is missing", async () => {
  const { t, deliver, ask } = await start();
  await t.instance.settle();
  const { db } = t.instance.core.store;
  const all = [...ROUTES, "/api/spend"];
  const behind = async (path: string) => {
    const { status, body } = await ask(path);
    return [path, status, body.behind];
  };
  db.pragma("query_only = 1");
  for (const path of all) expect(await behind(path)).toEqual([path, 200, undefined]);
  db.pragma("query_only = 0");
  await deliver(2);
  const telemetry = { entries: [{ seq: 1, payload: { model: "claude-opus-4-6", usage: { output_tokens: 1 } } }] };
  const { token } = await t.device();
  await t.post("/api/telemetry/ingest", { token, json: telemetry });
  const sessions = [{ id: "s-1", outcome: "ok", prompts: [], spans: [] }];
  const { status, text } = await t.post("/api/agent-traces/ingest", { token, json: { sessions } });
  expect([status, text]).toEqual([200, text]);
  db.exec("DELETE FROM projections");
  db.pragma("query_only = 1");
  for (const path of all) expect(await behind(path)).toEqual([path, 200, true]);
  expect((await ask("/api/brain/briefing")).status).toBe(200);
  db.pragma("query_only = 0");
  for (const path of all) expect(await behind(path)).toEqual([path, 200, undefined]);
});
