import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { startServer } from "../support/capture.ts";
import { newMachine } from "../support/machine.ts";

/** A proxy that leads every request to one port of this machine, whatever name is asked for. */
async function startProxy(port: number) {
  const asked: string[] = [];
  const proxy = createServer((request: IncomingMessage, response) => {
    asked.push(request.url ?? "");
    response.writeHead(502).end();
  });
  proxy.on("connect", (request: IncomingMessage, socket: Socket) => {
    asked.push(request.url ?? "");
    const through = connect(port, "127.0.0.1", () => socket.write("HTTP/1.1 200 Connection established\r\n\r\n"));
    through.pipe(socket).pipe(through);
    for (const end of [through, socket]) end.on("error", () => socket.destroy());
  });
  await new Promise<void>((done) => proxy.listen(0, "127.0.0.1", done));
  onTestFinished(() => void proxy.close());
  return { asked, url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
}

it("uses the proxy that the environment names, except to this machine itself", async () => {
  const server = await startServer();
  const proxy = await startProxy(Number(new URL(server.url).port));
  const machine = newMachine();
  const devices = server.rows("SELECT id FROM devices").length;
  const variables = `HTTPS_PROXY=${proxy.url} HTTP_PROXY=${proxy.url}`;
  const outcome = await machine.run(
    `${variables} reckon agent connect https://reckon.example.com ${await server.code()} --yes 2>&1 || true`,
  );
  // The server behind the proxy speaks no TLS. All that matters is that it was asked there.
  expect(outcome).toContain("did not connect this machine");
  expect(proxy.asked).toEqual(["reckon.example.com:443"]);
  await machine.run(`${variables} reckon agent connect ${server.url} ${await server.code()} --yes`);
  expect(proxy.asked).toHaveLength(1);
  expect(server.rows("SELECT id FROM devices")).toHaveLength(devices + 1);
});

it.each([
  [407, "a proxy on the way wants a sign-in (407)"],
  [403, "the proxy that HTTPS_PROXY names does not lead there (403)"],
])("says what a proxy that answers %s keeps from it", async (status, said) => {
  const proxy = createServer();
  proxy.on("connect", (_: IncomingMessage, socket: Socket) => socket.end(`HTTP/1.1 ${status} No\r\n\r\n`));
  await new Promise<void>((done) => proxy.listen(0, "127.0.0.1", done));
  onTestFinished(() => void proxy.close());
  const { port } = proxy.address() as AddressInfo;
  const outcome = await newMachine().run(
    `HTTPS_PROXY=http://127.0.0.1:${port} reckon agent connect https://reckon.example.com CODE --yes 2>&1 || true`,
  );
  expect(outcome).toContain(`https://reckon.example.com did not connect this machine: ${said}`);
});
