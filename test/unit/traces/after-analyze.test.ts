import { expect, it } from "vitest";
import { twinRows } from "../../../src/record/traces/twin-rows.ts";
import { startInstance } from "../../support/instance.ts";

it("finds some sessions by their ids, whatever an ANALYZE noted of the table", async () => {
  const t = await startInstance();
  const { store } = t.instance.core;
  const { token } = await t.device();
  const sessions = Array.from({ length: 50 }, (_, i) => ({ id: `s-${i}`, outcome: "ok", spans: [] }));
  expect((await t.post("/api/agent-traces/ingest", { token, json: { sessions } })).status).toBe(200);
  store.db.exec("UPDATE trace_sessions SET exported = 2 WHERE id = 7; ANALYZE");
  const { source } = twinRows(store).unlisted;
  const plan = store.db.prepare<[string], { detail: string }>(`EXPLAIN QUERY PLAN ${source}`).all("[]");
  expect(plan.map(({ detail }) => detail)).toContain("SEARCH s USING INTEGER PRIMARY KEY (rowid=?)");
  expect(twinRows(store).unlisted.all("[6,7,8]")).toEqual([7]);
});
