import { expect, it } from "vitest";
import { examine } from "../../../src/share/maintenance/maintenance.ts";
import { startInstance, type TestInstance } from "../../support/instance.ts";
import { firstSchemaDirectory } from "../../support/older.ts";

const schemaFound = async ({ instance }: TestInstance) =>
  (await examine(instance.core)).find(({ check }) => check === "schema");

it("finds nothing in a new database, in one upgraded from an older schema, or in additions that do nothing by themselves", async () => {
  for (const directory of [undefined, await firstSchemaDirectory()]) {
    const t = await startInstance(directory === undefined ? {} : { directory });
    expect(await schemaFound(t)).toMatchObject({ status: "ok" });
    t.instance.core.store.db.exec(
      "CREATE TABLE notes (text TEXT); CREATE VIEW names AS SELECT name FROM teams; CREATE INDEX by_name ON teams (name)",
    );
    expect(await schemaFound(t)).toMatchObject({ status: "ok" });
  }
});

it.each([
  ["CREATE TRIGGER helper AFTER INSERT ON audit_events BEGIN UPDATE users SET operator = 1; END", 'trigger "helper"'],
  ["DROP TRIGGER trace_spans_replaced", 'trigger "trace_spans_replaced"'],
  [
    "DROP TRIGGER trace_spans_replaced; CREATE TRIGGER trace_spans_replaced AFTER DELETE ON holds BEGIN SELECT 1; END",
    'trigger "trace_spans_replaced"',
  ],
  ["ALTER TABLE releases RENAME TO hidden; CREATE VIEW releases AS SELECT * FROM hidden", 'table "releases"'],
])("names what somebody altered: %s", async (sql, what) => {
  const t = await startInstance();
  t.instance.core.store.db.exec(sql);
  expect(await schemaFound(t)).toEqual({
    check: "schema",
    status: "failed",
    detail: expect.stringMatching(`somebody altered schema \\d+: ${what}`),
  });
});
