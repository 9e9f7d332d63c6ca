import { readdirSync, readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { describe, expect, it, onTestFinished } from "vitest";
import { silentLog } from "../../../src/kit/log.ts";
import { Problem } from "../../../src/kit/problem.ts";
import { type Job, JobLost, NoThreads, Pool, type PoolOptions } from "../../../src/platform/workers/pool.ts";

const start = () =>
  new Worker(new URL("./thread.ts", import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8 },
  });

function pool(options: Partial<PoolOptions> = {}): Pool {
  const made = new Pool({ size: 1, start, jobMs: 60_000, log: silentLog, ...options });
  onTestFinished(() => made.close());
  return made;
}

const ANNA = { team: "a", credential: "anna" };

/** A job that goes on until it is told to end. @param more properties of a large job */
function held(of: Pool, payer = ANNA, more: Pick<Job, "transfer"> = {}) {
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<unknown>();
  const answer = () => {
    begun.resolve();
    return end.promise;
  };
  const done = of.run({ name: "ask", payer, input: "held", answer, ...more });
  return { begun: begun.promise, end: end.resolve, done };
}

describe("a pool of threads", () => {
  it("starts no thread before there is work, and no more than there is work for", async () => {
    const three = pool({ size: 3 });
    expect([three.isOpen, three.threads]).toEqual([true, 0]);
    expect(await three.run({ name: "echo", payer: ANNA, input: { a: [1] } })).toEqual({ a: [1] });
    await three.run({ name: "echo", payer: ANNA, input: 1 });
    expect([three.threads, three.busy, three.waiting]).toEqual([1, 0, 0]);
    const both = [held(three), held(three)];
    await Promise.all(both.map(({ begun }) => begun));
    expect([three.threads, three.busy]).toEqual([2, 2]);
    for (const { end } of both) end("go");
    expect(await Promise.all(both.map(({ done }) => done))).toEqual([
      ["held", "go"],
      ["held", "go"],
    ]);
  });

  it.runIf(process.platform === "linux")("has threads with a lower priority than the one that answers", async () => {
    const niceness = (file: string) =>
      Number(
        readFileSync(file, "utf8")
          .replace(/^.*\) /, "")
          .split(" ")[16],
      );
    const mine = niceness(`/proc/self/task/${process.pid}/stat`);
    const nicer = () =>
      readdirSync("/proc/self/task").filter((id) => niceness(`/proc/self/task/${id}/stat`) === mine + 5).length;
    const before = nicer();
    await pool().run({ name: "echo", payer: ANNA, input: 1 });
    expect([nicer(), niceness(`/proc/self/task/${process.pid}/stat`)]).toEqual([before + 1, mine]);
  });

  it("moves memory instead of copying it, once the work begins", async () => {
    const bytes = new Uint8Array(100_000).fill(7);
    const made = await pool().run({ name: "add", payer: ANNA, input: bytes, transfer: [bytes.buffer] });
    expect(made).toEqual(new Uint8Array(100_000).fill(8));
    expect(bytes.byteLength).toBe(0);
  });

  it("takes turns between teams, then between the credentials of a team", async () => {
    const one = pool();
    const first = held(one);
    await first.begun;
    const order: unknown[] = [];
    const jobs = [
      ["a", "anna", 1],
      ["a", "anna", 2],
      ["a", "anna", 3],
      ["a", "ada", 4],
      ["b", "bob", 5],
    ].map(([team, credential, input]) =>
      one
        .run({ name: "echo", payer: { team: `${team}`, credential: `${credential}` }, input })
        .then((made) => order.push(made)),
    );
    expect(one.waiting).toBe(5);
    first.end("go");
    await Promise.all(jobs);
    expect(order).toEqual([1, 5, 4, 2, 3]);
  });

  it("lets no small job wait behind large ones in all threads, and gives large ones turns among small ones", async () => {
    const two = pool({ size: 2 });
    const large = [held(two, ANNA, { transfer: [] }), held(two, ANNA, { transfer: [] })] as const;
    await large[0].begun;
    expect(await two.run({ name: "echo", payer: ANNA, input: "small" })).toBe("small");
    expect([two.threads, two.busy, two.waiting]).toEqual([2, 1, 1]);
    const small = [held(two), held(two)] as const;
    await small[0].begun;
    large[0].end("go");
    await large[1].begun;
    expect([two.busy, two.waiting]).toEqual([2, 1]);
    small[0].end("go");
    await small[1].begun;
    for (const { end } of [large[1], small[1]]) end("go");
    await Promise.all([...large, ...small].map(({ done }) => done));
  });

  it("passes on what the work throws: a problem as it is, anything else as an error", async () => {
    const one = pool();
    const problem = await one.run({ name: "refuse", payer: ANNA, input: 0 }).catch((error) => error);
    expect(problem).toBeInstanceOf(Problem);
    expect(problem).toMatchObject({
      message: "Too many.",
      status: 413,
      row: { name: "tooLarge", code: "too_large" },
      details: { members: { most: 3 }, retryAfterSeconds: 7 },
    });
    const error = await one.run({ name: "err", payer: ANNA, input: 0 }).catch((error) => error);
    expect(error).not.toBeInstanceOf(Problem);
    expect(error).toMatchObject({ message: "off the rails", stack: expect.stringContaining("thread.ts") });
    await expect(one.run({ name: "unheard of", payer: ANNA, input: 0 })).rejects.toThrow("unheard of");
    await expect(one.run({ name: "function", payer: ANNA, input: 0 })).rejects.toThrow("could not be cloned");
    await expect(one.run({ name: "echo", payer: ANNA, input: () => {} })).rejects.toThrow("could not be cloned");
    expect(one.threads).toBe(1);
  });

  it("refuses a job whose question cannot be answered, and does the next", async () => {
    const one = pool();
    const answer = () => Promise.reject(new Error("no answer"));
    await expect(one.run({ name: "ask", payer: ANNA, input: 0, answer })).rejects.toThrow("no answer");
    expect(await one.run({ name: "echo", payer: ANNA, input: 1 })).toBe(1);
  });

  it.each(["exit", "hoard"])("refuses the job of a thread that ends (%s), and replaces the thread", async (name) => {
    const one = pool();
    const ended = one.run({ name, payer: ANNA, input: 0 });
    const next = one.run({ name: "echo", payer: ANNA, input: 1 });
    await expect(ended).rejects.toBeInstanceOf(JobLost);
    expect(await next).toBe(1);
  });

  it.each(["exit", "spin"])(
    "tries jobs again that were given to a thread together with one that ends it (%s)",
    async (name) => {
      const one = pool({ jobMs: 2_000 });
      const first = held(one);
      await first.begun;
      const jobs = [1, name, 2].map((input) =>
        one.run({ name: typeof input === "string" ? input : "echo", payer: ANNA, input }).catch((error) => error),
      );
      first.end("go");
      expect(await Promise.all(jobs)).toEqual([1, expect.any(JobLost), 2]);
    },
  );

  it("ends a job that takes too long, with its thread", async () => {
    const one = pool({ jobMs: 50 });
    const ended = one.run({ name: "spin", payer: ANNA, input: 0 });
    const next = one.run({ name: "echo", payer: ANNA, input: 1 });
    await expect(ended).rejects.toBeInstanceOf(JobLost);
    expect(await next).toBe(1);
    expect(one.threads).toBe(1);
  });

  it("refuses waiting and running jobs when it closes, and ends its threads", async () => {
    const two = pool({ size: 2 });
    const running = [held(two), held(two)];
    await Promise.all(running.map(({ begun }) => begun));
    const jobs = [...running.map(({ done }) => done), two.run({ name: "echo", payer: ANNA, input: 1 })];
    const refused = Promise.allSettled(jobs);
    await two.close();
    expect((await refused).map((each) => each.status === "rejected" && each.reason)).toEqual(
      jobs.map(() => expect.any(JobLost)),
    );
    expect([two.threads, two.busy, two.waiting, two.isOpen]).toEqual([0, 0, 0, false]);
    await expect(two.run({ name: "echo", payer: ANNA, input: 1 })).rejects.toBeInstanceOf(NoThreads);
  });

  it.each([
    ["does not begin", () => new Worker("throw new Error('not today')", { eval: true })],
    [
      "cannot be made",
      () => {
        throw new Error("not today");
      },
    ],
  ])("returns jobs untouched when a thread %s", async (_, start) => {
    const none = pool({ start });
    const bytes = new Uint8Array(10);
    const job = none.run({ name: "add", payer: ANNA, input: bytes, transfer: [bytes.buffer] });
    await expect(job).rejects.toBeInstanceOf(NoThreads);
    expect(bytes.byteLength).toBe(10);
    expect(none.isOpen).toBe(false);
  });

  it("accepts no jobs when it may have no threads", async () => {
    expect(pool({ size: 0 }).isOpen).toBe(false);
  });
});
