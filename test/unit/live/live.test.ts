import { expect, it, onTestFinished, vi } from "vitest";
import { follow } from "../../../src/platform/live/live.ts";
import { startInstance } from "../../support/instance.ts";

/** Streams whose half-second ticks the test controls. */
async function begin() {
  const t = await startInstance();
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const { core } = t.instance;
  const open = (state: () => string | undefined, person = "ada", since?: string) => {
    const { body } = follow(core, { person, since, state });
    return (body as AsyncIterable<string> | undefined)?.[Symbol.asyncIterator]();
  };
  return { t, core, open };
}

it("sends a sign of life every fifteen seconds, and ends after an hour", async () => {
  const { open } = await begin();
  const stream = open(() => "1.0");
  expect(await stream?.next()).toEqual({ done: false, value: "retry: 3000\nid: 1.0\n\n" });
  for (const _ of [1, 2]) {
    const beat = stream?.next();
    await vi.advanceTimersByTimeAsync(15_000);
    expect(await beat).toEqual({ done: false, value: ":\n\n" });
  }
  await vi.advanceTimersByTimeAsync(3_600_000);
  // Events that were not read yet come before the end.
  expect((await stream?.next())?.value).toBe(":\n\n");
  expect((await stream?.next())?.done).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

it("sends a slow reader only the last change, and ends with what it follows", async () => {
  const { open } = await begin();
  let state: string | undefined = "1";
  const stream = open(() => state);
  await stream?.next();
  for (const next of ["2", "3", "4"]) {
    state = next;
    await vi.advanceTimersByTimeAsync(2_000);
  }
  expect((await stream?.next())?.value).toBe("id: 4\nevent: changed\ndata: 4\n\n");
  state = undefined;
  await vi.advanceTimersByTimeAsync(2_000);
  expect((await stream?.next())?.done).toBe(true);
});

it("ends when the state cannot be read, and frees its place", async () => {
  const { open } = await begin();
  const failing = open(() => {
    throw new Error("no store");
  });
  await failing?.next();
  expect((await failing?.next())?.done).toBe(true);
  expect([1, 2, 3, 4, 5].map(() => open(() => "1") !== undefined)).toEqual([true, true, true, true, false]);
});

it("has a limited number of places, and none once the instance stops", async () => {
  const { t, open } = await begin();
  const all = Array.from({ length: 201 }, (_, i) => open(() => "1", `person ${Math.floor(i / 4)}`));
  expect(all.filter((stream) => stream !== undefined).length).toBe(200);
  await all[0]?.return?.();
  expect(open(() => "1", "another")).toBeDefined();
  vi.useRealTimers();
  await t.close();
  expect((await all[1]?.next())?.done).toBe(false);
  expect((await all[1]?.next())?.done).toBe(true);
});
