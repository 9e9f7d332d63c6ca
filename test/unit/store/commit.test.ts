import Sqlite from "better-sqlite3";
import { expect, it, onTestFinished } from "vitest";
import { StoreUnavailable } from "../../../src/kit/errors.ts";
import { CommitQueue } from "../../../src/platform/store/commit.ts";

function open() {
  const db = new Sqlite(":memory:");
  db.exec("CREATE TABLE numbers (n INTEGER PRIMARY KEY) STRICT");
  onTestFinished(() => void db.close());
  const insert = db.prepare("INSERT INTO numbers VALUES (?)");
  return {
    db,
    queue: new CommitQueue(db),
    insert: (n: number) => insert.run(n),
    all: () => db.prepare("SELECT n FROM numbers ORDER BY n").pluck().all(),
  };
}

it("shares one transaction among changes that arrive together, in their order", async () => {
  const { queue, insert, all } = open();
  const order: number[] = [];
  await Promise.all(
    [3, 1, 2].map((n) =>
      queue.write(() => {
        order.push(n);
        insert(n);
      }),
    ),
  );
  expect([order, all(), queue.stats.transactions, queue.stats.changes]).toEqual([[3, 1, 2], [1, 2, 3], 1, 3]);
});

it("ends a transaction that took long, commits the rest later, and all of it when drained", async () => {
  const { queue, insert, all } = open();
  const long = (n: number) => () => {
    for (const began = performance.now(); performance.now() - began < 20; );
    insert(n);
  };
  const payer = { team: "flood", credential: "flood-1" };
  const write = () => {
    const seen: number[] = [];
    const writes = [
      queue.write(long(1), payer).then(() => seen.push(...(all() as number[]))),
      queue.write(() => insert(2), payer),
      queue.write(() => insert(3), { team: "other", credential: "other-1" }),
    ];
    return Promise.all(writes).then(() => seen);
  };
  expect(await write()).toEqual([1]);
  expect([all(), queue.stats.transactions]).toEqual([[1, 2, 3], 2]);
  void write().catch(() => {});
  queue.drain();
  expect(queue.stats).toMatchObject({ changes: 6, failures: 0 });
});

it("undoes only the change that throws, and gives it its own error", async () => {
  const { queue, insert, all } = open();
  const outcomes = await Promise.allSettled([
    queue.write(() => insert(1)),
    queue.write(() => {
      insert(2);
      throw new Error("mine");
    }),
    queue.write(() => insert(1)),
    queue.write(() => {
      insert(3);
      return "done";
    }),
  ]);
  expect(outcomes.map((one) => one.status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
  expect((outcomes[1] as PromiseRejectedResult).reason.message).toBe("mine");
  expect((outcomes[3] as PromiseFulfilledResult<string>).value).toBe("done");
  expect(all()).toEqual([1, 3]);
});

it("undoes all of a single change that throws, and goes on with the next", async () => {
  const { db, queue, insert, all } = open();
  const alone = queue.write(() => {
    insert(1);
    throw new Error("mine");
  });
  await expect(alone).rejects.toThrow("mine");
  expect([all(), db.inTransaction, queue.lastFailure]).toEqual([[], false, undefined]);
  await queue.write(() => insert(2));
  expect(all()).toEqual([2]);
});

it("keeps a single change although one that it queued throws", async () => {
  const { queue, insert, all } = open();
  const queued: Promise<unknown>[] = [];
  await queue.write(() => {
    queued.push(
      queue.write(() => {
        insert(2);
        throw new Error("mine");
      }),
    );
    insert(1);
  });
  await expect(queued[0]).rejects.toThrow("mine");
  expect(all()).toEqual([1]);
});

it("answers nobody before the commit", async () => {
  const { db, queue, insert } = open();
  const seen: boolean[] = [];
  await queue.write(() => insert(1)).then(() => seen.push(db.inTransaction));
  expect(seen).toEqual([false]);
});

it("refuses the whole group when the store fails, keeps none of it, and works again afterwards", async () => {
  const { db, queue, insert, all } = open();
  db.pragma("query_only = ON");
  const outcomes = await Promise.allSettled([queue.write(() => insert(1)), queue.write(() => insert(2))]);
  expect(outcomes.every((one) => one.status === "rejected" && one.reason instanceof StoreUnavailable)).toBe(true);
  expect([all(), queue.stats.failures]).toEqual([[], 1]);
  db.pragma("query_only = OFF");
  await queue.write(() => insert(3));
  expect([all(), queue.lastFailure]).toEqual([[3], undefined]);
});
