import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";

it("hands over a result larger than a pipe holds, to a reader that comes late", async () => {
  const child = spawn(process.execPath, ["src/main.ts", "openapi"], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  // The pipe is full before anybody reads.
  await once(child.stdout, "readable");
  const printed = await text(child.stdout);
  expect(printed.length).toBeGreaterThan(70_000);
  expect(JSON.parse(printed).openapi).toBe("3.1.0");
  expect(await exited).toEqual([0, null]);
});

it("ends when the reader goes away", async () => {
  const child = spawn(process.execPath, ["src/main.ts", "openapi"], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  await once(child.stdout, "readable");
  child.stdout.destroy();
  expect(await exited).toEqual([0, null]);
});
