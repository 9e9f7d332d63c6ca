import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { bind } from "../../src/capture/bind.ts";
import { disconnectMachine, openCapture } from "../../src/capture/capture.ts";
import { deviceOf, heldOf, startAgent } from "../support/capture.ts";
import { MAIN } from "../support/program.ts";

it("is ended after the pass that is running, which ends well", async () => {
  const a = await startAgent();
  const { server, capture } = a;
  a.work("s1", 2);
  const { machine, clock, log } = capture;
  let gone: ReturnType<typeof disconnectMachine> | undefined;
  server.between = (path, answer) => {
    if (path === "/api/policy") gone ??= disconnectMachine(openCapture({ machine, clock, log }), false);
    return answer();
  };
  const device = deviceOf(a);
  expect(await a.pass()).toMatchObject({ sessionsSent: 1, stopped: undefined });
  expect(await gone).toMatchObject({ problems: [] });
  expect(heldOf(server, device).sessions).toHaveLength(1);
  expect(server.asked.at(-1)).toBe("/api/connect/disconnect");
  expect(existsSync(capture.places.home)).toBe(false);
});

it("leaves nothing to come back when a hook had rung just before it was ended", async () => {
  const a = await startAgent();
  const { home } = a.capture.places;
  await disconnectMachine(a.capture, false);
  const env = { PATH: process.env.PATH, HOME: a.home, RECKON_AGENT_HOME: home };
  execFileSync(process.execPath, [MAIN, "agent", "run", "--background"], { env, stdio: "pipe" });
  expect(existsSync(home)).toBe(false);
  expect(readdirSync(join(a.home, ".local/state"))).toEqual([]);
});

it("with the same team at another address sends nothing twice", async () => {
  const a = await startAgent();
  const { server } = a;
  a.work("s1", 3);
  await a.pass();
  const before = heldOf(server, deviceOf(a)).entries.length;
  expect(before).toBeGreaterThan(0);
  await bind(a.capture, { url: server.url.replace("127.0.0.1", "localhost"), code: await server.code() });
  expect(await a.pass()).toMatchObject({ recorded: 0, stopped: undefined });
  expect(heldOf(server, deviceOf(a)).entries).toEqual([]);
  a.work("s1", 1, 3);
  expect(await a.pass()).toMatchObject({ sessionsSent: 1, stopped: undefined });
  expect(heldOf(server, deviceOf(a)).entries.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  expect(server.verify()).toEqual([]);
});
