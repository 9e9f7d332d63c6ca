import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { ask } from "../../../src/capture/client.ts";
import { troubleLine } from "../../../src/surfaces/cli/agent-texts.ts";

async function listening(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server that closes the connection instead of answering a body that it gets for the first time. */
async function cutting(): Promise<{ readonly url: string; readonly bodies: string[] }> {
  const bodies: string[] = [];
  const answer: RequestListener = async (request, response) => {
    const body = (await request.setEncoding("utf8").toArray()).join("");
    bodies.push(body);
    if (bodies.indexOf(body) === bodies.length - 1) request.socket.destroy();
    else response.setHeader("service-api-version", "1").end("{}");
  };
  return { url: await listening(answer), bodies };
}

it("repeats a repeatable request once when the connection closed without an answer", async () => {
  const { url, bodies } = await cutting();
  const answer = await ask(url, "/", { method: "POST", body: "entries", isRepeatable: true });
  expect(answer).toMatchObject({ kind: "ok", status: 200 });
  expect(bodies).toEqual(["entries", "entries"]);
});

it("does not repeat a request that may count only once", async () => {
  const { url, bodies } = await cutting();
  expect(await ask(url, "/", { method: "POST", body: "code" })).toMatchObject({ kind: "later" });
  expect(bodies).toEqual(["code"]);
});

it("turns the server's sentences into words within a sentence", async () => {
  const url = await listening((_, response) =>
    response
      .writeHead(429, { "service-api-version": "1", "retry-after": "7" })
      .end('{"error":"Too many requests. Wait."}'),
  );
  expect(
    troubleLine({ recorded: 1, sessionsSent: 0, unreadable: [], rang: false, stopped: reasonOf(await ask(url, "/")) }),
  ).toBe("Not everything was sent: Too many requests. Wait. It waits here.");
});

const reasonOf = (answer: Awaited<ReturnType<typeof ask>>) => (answer.kind === "ok" ? "" : answer.reason);

it("tells what to do where something on the way wants a sign-in that nobody named as a proxy", async () => {
  const url = await listening((_, response) => response.writeHead(407).end());
  expect(await ask(url, "/")).toEqual({ kind: "later", reason: expect.stringContaining("wants a sign-in (407)") });
});
