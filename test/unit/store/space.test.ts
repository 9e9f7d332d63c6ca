import { statSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { databasePath, openStore } from "../../../src/platform/store/store.ts";
import { newFolder } from "../../support/folder.ts";

const MIB = 1024 * 1024;

it("returns free space where there is much, some of it at a time, and keeps some for new data", async () => {
  const directory = newFolder();
  const store = openStore(directory, { now: Date.now });
  onTestFinished(() => store.close());
  store.db.exec("CREATE TABLE texts (id INTEGER PRIMARY KEY, text BLOB)");
  const insert = store.db.prepare("INSERT INTO texts (id, text) VALUES (?, zeroblob(?))");
  await store.write(() => {
    for (let i = 0; i < 160; i++) insert.run(i, MIB);
  });
  const size = () => {
    store.db.pragma("wal_checkpoint(TRUNCATE)");
    return statSync(databasePath(directory)).size / MIB;
  };
  const before = size();
  // A third is free, which is less than it keeps.
  await store.write(() => store.db.exec("DELETE FROM texts WHERE id % 3 = 0"));
  await store.giveBack(1_000);
  expect([before > 160, Math.round(before - size())]).toEqual([true, 0]);
  await store.write(() => store.db.exec("DELETE FROM texts WHERE id > 1"));
  await store.giveBack(1);
  expect(Math.round(before - size())).toBe(2);
  for (let last = 0; last !== size(); ) {
    last = size();
    await store.giveBack(10);
  }
  expect([size() > 62, size() < 70]).toEqual([true, true]);
  expect(store.db.pragma("integrity_check", { simple: true })).toBe("ok");
  expect(store.db.prepare("SELECT length(text) AS n FROM texts").all()).toEqual([{ n: MIB }]);
});
