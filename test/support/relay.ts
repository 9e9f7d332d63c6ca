import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** What a relay answers itself. */
export interface Refusal {
  readonly status: number;
  readonly body: object;
}

/**
 * A server in front of another that hands everything on.
 * @param judge sees each request first; what it returns is answered instead
 * @param hidden headers of replies that are left out
 * @returns its address
 */
export async function relay(
  url: string,
  judge: (path: string, body: Buffer) => Refusal | undefined | Promise<undefined>,
  hidden: readonly string[] = [],
): Promise<string> {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const refusal = await judge(request.url as string, body);
    if (refusal) {
      response.writeHead(refusal.status, { "content-type": "application/json", "service-api-version": "1" });
      response.end(JSON.stringify(refusal.body));
      return;
    }
    const { host: _, connection: __, "content-length": ___, ...headers } = request.headers;
    const answer = await fetch(url + request.url, {
      method: request.method as string,
      headers: headers as Record<string, string>,
      ...(request.method === "POST" && body.length > 0 ? { body } : {}),
    });
    const { "content-encoding": ____, ...replied } = Object.fromEntries(answer.headers);
    for (const name of hidden) delete replied[name];
    response.writeHead(answer.status, replied);
    response.end(Buffer.from(await answer.arrayBuffer()));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
