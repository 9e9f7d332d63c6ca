import { expect, it } from "vitest";
import { startInstance } from "../../support/instance.ts";

/** Tables whose rows stay, or are few. */
const KEPT = [
  "teams",
  "users",
  "devices",
  "deliveries",
  "erasures",
  "delivery_streams",
  "product_requests",
  "sso_issuers",
];

it("removes no row by reading all rows that might refer to it", async () => {
  const t = await startInstance();
  const unindexed = t.rows(
    `SELECT t.name || '.' || f."from" AS reference FROM sqlite_schema t, pragma_foreign_key_list(t.name) f
     WHERE t.type = 'table' AND f."table" NOT IN (${KEPT.map((name) => `'${name}'`)})
       AND NOT EXISTS (SELECT 1 FROM pragma_table_info(t.name) c WHERE c.pk = 1 AND c.name = f."from")
       AND NOT EXISTS (SELECT 1 FROM pragma_index_list(t.name) i, pragma_index_info(i.name) c
         WHERE i.partial = 0 AND c.seqno = 0 AND c.name = f."from")`,
  );
  expect(unindexed).toEqual([]);
});
