import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";
import { expect, it, onTestFinished } from "vitest";
import { databasePath, openStore } from "../../../src/platform/store/store.ts";

function open() {
  const directory = mkdtempSync(join(tmpdir(), "reckon-checkpoints-"));
  const store = openStore(directory, { now: Date.now });
  onTestFinished(() => {
    store.close();
    rmSync(directory, { recursive: true });
  });
  store.db.exec("CREATE TABLE texts (id INTEGER PRIMARY KEY, text BLOB)");
  store.db.pragma("wal_checkpoint(TRUNCATE)");
  const insert = store.db.prepare("INSERT INTO texts (text) VALUES (?)");
  return { store, write: (bytes: number) => store.write(() => insert.run(Buffer.alloc(bytes, 7))) };
}

interface Log {
  readonly log: number;
  readonly checkpointed: number;
}

const look = (db: Database) => db.prepare<[], Log>("PRAGMA wal_checkpoint(NOOP)").get() as Log;

it("moves the log into the database during large writes, so that it stays short", async () => {
  const { store, write } = open();
  await write(4_096 * 300);
  expect(look(store.db)).toMatchObject({ log: expect.any(Number), checkpointed: 0 });
  let longest = 0;
  for (let i = 0; i < 300; i++) {
    await write(4_096 * 100);
    longest = Math.max(longest, look(store.db).log);
  }
  // The moved part is overwritten; otherwise the log would hold all of it.
  expect(longest).toBeLessThan(15_000);
  expect(store.db.prepare("SELECT sum(length(text)) FROM texts").pluck().get()).toBe(4_096 * 30_300);
});

it("does not move what another reader has yet to read, until that is done", async () => {
  const { store, write } = open();
  const reader = new Sqlite(databasePath(store.directory), { readonly: true });
  onTestFinished(() => void reader.close());
  await write(100);
  reader.exec("BEGIN");
  expect(reader.prepare("SELECT count(*) FROM texts").pluck().get()).toBe(1);
  const before = look(store.db).log;
  for (let i = 0; i < 10; i++) await write(4_096 * 300);
  store.checkpoint();
  expect(look(store.db).checkpointed).toBe(before);
  expect(reader.prepare("SELECT count(*) FROM texts").pluck().get()).toBe(1);
  reader.exec("COMMIT");
  store.checkpoint();
  await write(1);
  store.checkpoint();
  expect(look(store.db)).toMatchObject({ log: look(store.db).checkpointed });
});

it("continues after a reader held all of it in the log for a while", async () => {
  const { store, write } = open();
  const reader = new Sqlite(databasePath(store.directory), { readonly: true });
  onTestFinished(() => void reader.close());
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM texts").get();
  for (let i = 0; i < 20; i++) await write(4_096 * 100);
  expect(look(store.db).checkpointed).toBe(0);
  reader.exec("COMMIT");
  let longest = 0;
  for (let i = 0; i < 200; i++) {
    await write(4_096 * 100);
    longest = Math.max(longest, look(store.db).log);
  }
  // As a command does, which has no interval for checkpoints.
  expect(longest).toBeLessThan(15_000);
});

it("moves also what another process wrote: a command beside the server ends before all of it is moved", async () => {
  const { store, write } = open();
  await write(4_096 * 100);
  const server = openStore(store.directory, { now: Date.now });
  onTestFinished(() => server.close());
  expect(look(server.db).checkpointed).toBe(0);
  server.checkpoint();
  const { log, checkpointed } = look(server.db);
  expect(log).toBeGreaterThan(100);
  expect(checkpointed).toBe(log);
});

it("moves a command's large write before the command ends, and leaves a small one to the server", async () => {
  const { store: server, write } = open();
  await write(1);
  server.checkpoint();
  const command = openStore(server.directory, { now: Date.now });
  const insert = (bytes: number) =>
    command.write(() => command.db.prepare("INSERT INTO texts (text) VALUES (?)").run(Buffer.alloc(bytes, 7)));
  await insert(4_096 * 5_000);
  command.close();
  const { log, checkpointed } = look(server.db);
  expect(log).toBeGreaterThan(5_000);
  expect(checkpointed).toBe(log);
  const next = openStore(server.directory, { now: Date.now });
  await next.write(() => next.db.prepare("INSERT INTO texts (text) VALUES ('x')").run());
  next.close();
  expect(look(server.db).checkpointed).toBe(0);
  expect(server.db.prepare("SELECT count(*) FROM texts").pluck().get()).toBe(3);
});
