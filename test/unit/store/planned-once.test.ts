import Sqlite from "better-sqlite3";
import { expect, it } from "vitest";
import { plannedOnce } from "../../../src/platform/store/planned-once.ts";

it("finds, orders, bounds and changes the same rows as an ordinary statement, of whatever type", () => {
  const db = new Sqlite(":memory:");
  db.exec(
    "CREATE TABLE rows (id INTEGER PRIMARY KEY, name TEXT, bytes BLOB, size REAL) STRICT; CREATE INDEX by_name ON rows (name, id)",
  );
  const once = plannedOnce(db);
  const insert = once.prepare("INSERT INTO rows (name, bytes, size) VALUES (?, ?, ?)");
  for (let i = 0; i < 20; i++) insert.run(`n${i % 2}`, Buffer.of(i), i / 2);
  const ids = (sql: string, ...bound: unknown[]) =>
    once
      .prepare(sql)
      .pluck()
      .all(...bound);
  expect(ids("SELECT id FROM rows WHERE name = ? AND id > ? ORDER BY id DESC LIMIT ?", "n1", 4, 2)).toEqual([20, 18]);
  expect(ids("SELECT id FROM rows WHERE bytes = @bytes AND size = @size", { bytes: Buffer.of(3), size: 1.5 })).toEqual([
    4,
  ]);
  expect(ids("SELECT id FROM rows WHERE bytes = ? OR id <= ? ORDER BY id LIMIT ?", Buffer.of(9), 1, 5)).toEqual([
    1, 10,
  ]);
  expect(ids("SELECT max(id) FROM rows WHERE name = ?", null)).toEqual([null]);
  once.prepare("UPDATE rows SET name = ?, size = @size WHERE id = @id").run("other", { id: 1, size: 9 });
  expect(once.prepare("SELECT name, size FROM rows WHERE id = ?").get(1)).toEqual({ name: "other", size: 9 });
});

it("uses the same index", () => {
  const db = new Sqlite(":memory:");
  db.exec("CREATE TABLE rows (id INTEGER PRIMARY KEY, name TEXT); CREATE INDEX by_name ON rows (name, id)");
  const plan = (preparer: Pick<typeof db, "prepare">) =>
    preparer.prepare("EXPLAIN QUERY PLAN SELECT id FROM rows WHERE name = ? ORDER BY id LIMIT ?").all("n", 5);
  expect(plan(plannedOnce(db))).toEqual(plan(db));
  expect(JSON.stringify(plan(db))).toContain("by_name (name=?)");
});
