import { renameSync, rmSync } from "node:fs";
import { expect, it } from "vitest";
import { openBridge } from "../../src/capture/capture.ts";
import { DAY_MS } from "../../src/kit/clock.ts";
import { startAgent } from "../support/capture.ts";

const PING = JSON.stringify({
  ...{ jsonrpc: "2.0", id: 7, method: "tools/call" },
  params: { name: "brain_search", arguments: { query: "login" } },
});
const FOUND = { jsonrpc: "2.0", id: 7, result: { content: [{ type: "text" }] } };

it("a message is passed on with the machine's present token, to the server that it is connected to", async () => {
  const a = await startAgent();
  const ask = openBridge(a.capture, {});
  const pinned = openBridge(a.capture, { url: a.server.url });
  const answer = async (bridge = ask) => JSON.parse((await bridge(PING)) ?? "null");
  expect(await answer()).toMatchObject(FOUND);
  a.advance(61 * DAY_MS);
  await a.pass();
  expect(a.server.asked).toContain("/api/connect/rotate");
  expect(await answer()).toMatchObject(FOUND);
  expect(await answer(pinned)).toMatchObject(FOUND);

  const b = await startAgent();
  renameSync(b.capture.places.credentials, a.capture.places.credentials);
  expect(await answer()).toMatchObject(FOUND);
  const before = a.server.asked.length;
  expect(await answer(pinned)).toMatchObject({ id: 7, error: { message: expect.stringContaining("is connected to") } });
  expect(a.server.asked).toHaveLength(before);
});

it("a message is answered with what to do where the machine was disconnected meanwhile", async () => {
  const a = await startAgent();
  const ask = openBridge(a.capture, {});
  rmSync(a.capture.places.credentials);
  expect(JSON.parse((await ask(PING)) ?? "null")).toMatchObject({
    ...{ id: 7, error: { code: -32000, message: expect.stringContaining("not connected") } },
  });
});
