import { expect, it } from "vitest";
import { examine, readStatus } from "../../src/capture/capture.ts";
import { notBefore } from "../../src/capture/schedule.ts";
import { readCredentials, writeCredentials } from "../../src/capture/state.ts";
import { DAY_MS } from "../../src/kit/clock.ts";
import { deviceOf, expectAgreement, heldOf, startAgent, startServer } from "../support/capture.ts";

const refusal = (movedTo: unknown) => () =>
  Response.json({ error: "The team moved.", movedTo }, { status: 401, headers: { "service-api-version": "1" } });

const urlOf = (agent: Awaited<ReturnType<typeof startAgent>>) => readCredentials(agent.capture.places)?.url;

/** Expects the machine to refuse this address, and to lose nothing. */
async function expectUnmoved(movedTo: unknown, problem: string | RegExp) {
  const server = await startServer();
  const agent = await startAgent({ server });
  agent.work("s1", 3);
  await agent.pass();
  agent.work("s1", 3, 3);
  server.between = refusal(movedTo);
  const { stopped } = await agent.pass();
  expect(stopped).toMatch(problem);
  expect(urlOf(agent)).toBe(server.url);
  expect(readStatus(agent.capture).move?.problem).toMatch(problem);
  expect((await examine(agent.capture)).find(({ name }) => name === "move")?.state).toBe("warning");
  // The move is taken back, and the machine goes on as before.
  server.between = undefined;
  agent.advance(DAY_MS / 12);
  expect((await agent.pass()).stopped).toBeUndefined();
  expectAgreement(agent);
}

it("follows its team to a server that knows the machine, and sends there what waits", async () => {
  const agent = await startAgent();
  const { server } = agent;
  agent.work("s1", 3);
  await agent.pass();
  agent.work("s1", 4, 3);
  // A second address of the same server plays the other instance, which has the same data.
  const other = await startServer();
  const bodies: string[] = [];
  other.between = async (path, _answer, body) => {
    bodies.push(path);
    const token = readCredentials(agent.capture.places)?.token;
    const method = body === "" && path === "/api/policy" ? "GET" : "POST";
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const open = server.between;
    server.between = undefined;
    const response = await fetch(server.url + path, {
      method,
      headers,
      ...(method === "POST" && body ? { body } : {}),
    });
    server.between = open;
    return response;
  };
  // The old server would not take it for a day; the new one gets it at once.
  notBefore(agent.capture, "telemetry", DAY_MS, "the tier does not include it");
  server.between = refusal(other.url);
  const { stopped } = await agent.pass({ force: false });
  expect([stopped, urlOf(agent)]).toEqual([undefined, other.url]);
  expect(bodies).toContain("/api/telemetry/ingest");
  expect(readStatus(agent.capture)).toMatchObject({
    url: other.url,
    trouble: null,
    move: { from: server.url, to: other.url, problem: null },
  });
  expect((await examine(agent.capture)).find(({ name }) => name === "move")?.message).toContain(other.url);
  expectAgreement(agent);
  expect(heldOf(server, deviceOf(agent)).entries.length).toBeGreaterThan(0);
});

it("does not go to a server that does not know the machine, and keeps what waits", async () => {
  const stranger = await startServer();
  await expectUnmoved(stranger.url, /does not know this machine yet/);
});

it("does not go to an address where nobody answers, or something else does", async () => {
  const off = await startServer();
  await off.unplug();
  await expectUnmoved(off.url, /nothing listens/);
  const page = await startServer();
  page.between = () => new Response("<html>welcome</html>", { headers: { "content-type": "text/html" } });
  await expectUnmoved(page.url, /something other than Reckon/);
});

it("does not go to an address that is less private, of another kind or none", async () => {
  await expectUnmoved("http://other.example", /https/);
  await expectUnmoved("ftp://127.0.0.1/x", /not the address/);
  await expectUnmoved("javascript:alert(1)", /not the address/);
  await expectUnmoved("https://user:secret@other.example", /password/);
});

it("keeps no more of an address than it shows, however long the server makes it", async () => {
  const server = await startServer();
  const off = await startServer();
  await off.unplug();
  const agent = await startAgent({ server });
  server.between = refusal(`${off.url}${"/".repeat(100_000)}\u001b[2Ja`);
  const before = process.threadCpuUsage();
  const { stopped } = await agent.pass();
  const { user, system } = process.threadCpuUsage(before);
  expect(stopped).toMatch(/nothing listens/);
  expect(stopped?.length).toBeLessThan(2_000);
  expect(stopped).not.toContain("\u001b");
  expect(readStatus(agent.capture).move?.to.length).toBeLessThan(1_000);
  expect((user + system) / 1000).toBeLessThan(2_000);
  expect(urlOf(agent)).toBe(server.url);
});

it("does not go from https to http, not even on this machine", async () => {
  const server = await startServer();
  const agent = await startAgent({ server });
  const credentials = readCredentials(agent.capture.places);
  if (!credentials) throw new Error("not connected");
  const { follow } = await import("../../src/capture/moved.ts");
  const { Exchange } = await import("../../src/capture/exchange.ts");
  const exchange = new Exchange(agent.capture, { ...credentials, url: "https://reckon.example" });
  exchange.movedTo = server.url;
  expect(await follow(exchange)).toBe(false);
  expect(exchange.stopped).toContain("unencrypted");
});

it("stays where it was pinned to, and says so", async () => {
  const agent = await startAgent();
  const other = await startServer();
  const credentials = readCredentials(agent.capture.places);
  if (!credentials) throw new Error("not connected");
  writeCredentials(agent.capture.places, { ...credentials, isPinned: true });
  agent.server.between = refusal(other.url);
  expect((await agent.pass()).stopped).toContain("--pin");
  expect([urlOf(agent), other.asked]).toEqual([agent.server.url, []]);
});

it("follows one move a pass, and does not go back and forth", async () => {
  const agent = await startAgent();
  const [second, third] = [await startServer(), await startServer()];
  agent.server.between = refusal(second.url);
  second.between = refusal(agent.server.url);
  expect((await agent.pass()).stopped).toMatch(/sends back/);
  expect(urlOf(agent)).toBe(agent.server.url);
  // Moved twice while the machine was off.
  second.between = refusal(third.url);
  agent.advance(DAY_MS / 12);
  expect((await agent.pass()).stopped).toMatch(/yet another/);
  expect([urlOf(agent), third.asked]).toEqual([second.url, []]);
  third.between = (_path, answer) =>
    third.asked.length > 0
      ? Response.json({ ok: true, captureMode: "full", watchlist: [] }, { headers: { "service-api-version": "1" } })
      : answer();
  agent.advance(DAY_MS / 12);
  await agent.pass();
  expect(urlOf(agent)).toBe(third.url);
});
