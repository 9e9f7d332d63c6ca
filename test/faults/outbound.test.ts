import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { type OutboundFailed, OutboundRefused, outboundFetch, post } from "../../src/platform/outbound/outbound.ts";
import { makeCertificate } from "../support/certificates.ts";
import { startInstance } from "../support/instance.ts";
import { startReceiver } from "../support/receiver.ts";

const LETTER = { headers: { "content-type": "application/json" }, body: "{}" };

/** The outcome of a post to an address, from an instance that may call what is listed. */
async function posted(outbound: string | undefined, url: string) {
  const { instance } = await startInstance(outbound === undefined ? {} : { settings: { outbound } });
  return post(instance.core, url, LETTER).then(
    (answer) => `${answer.status}`,
    (error: Error) => error.name,
  );
}

describe("the way out", () => {
  it("leads nowhere by default", async () => {
    const receiver = await startReceiver();
    expect(await posted(undefined, receiver.url)).toBe("OutboundRefused");
    expect(receiver.connections).toBe(0);
  });

  it("leads to listed hosts", async () => {
    const receiver = await startReceiver();
    expect(await posted(`${receiver.host},+private`, receiver.url)).toBe("204");
    expect(receiver.connections).toBe(1);
  });

  it.each([
    ["a host that is not listed", "hooks.example.com", (port: number) => `http://127.0.0.1:${port}/`],
    ["another port", "127.0.0.1:1,+private", (port: number) => `http://127.0.0.1:${port}/`],
    [
      "the port of the protocol, where another is listed",
      "127.0.0.1,+private",
      (port: number) => `http://127.0.0.1:${port}/`,
    ],
    ["a private address without permission", "127.0.0.1:PORT", (port: number) => `https://127.0.0.1:${port}/`],
    ["a decimal address", "2130706433:PORT", (port: number) => `https://2130706433:${port}/`],
    ["a hexadecimal address", "0x7f.1:PORT", (port: number) => `https://0x7f.1:${port}/`],
    ["IPv6 loopback", "[::1]:PORT", (port: number) => `https://[::1]:${port}/`],
    [
      "an IPv4-mapped address",
      "[::ffff:127.0.0.1]:PORT,+private",
      (port: number) => `http://[::ffff:127.0.0.1]:${port}/`,
    ],
    ["an IPv4-compatible address", "[::127.0.0.1]:PORT,+private", (port: number) => `http://[::127.0.0.1]:${port}/`],
    ["this host as 0.0.0.0", "0.0.0.0:PORT,+private", (port: number) => `http://0.0.0.0:${port}/`],
    ["this host as ::", "[::]:PORT,+private", (port: number) => `http://[::]:${port}/`],
    ["a NAT64 address", "[64:ff9b::7f00:1]:PORT,+private", (port: number) => `http://[64:ff9b::7f00:1]:${port}/`],
    ["a name that resolves to a private address", "localhost:PORT", (port: number) => `https://localhost:${port}/`],
    ["the same with a dot at its end", "localhost:PORT", (port: number) => `https://LocalHost.:${port}/`],
    ["a cloud's metadata", "169.254.169.254,+private", () => "http://169.254.169.254/latest/meta-data/"],
    ["link-local IPv6", "[fe80::1],+private", () => "http://[fe80::1]/"],
    ["a user name", "127.0.0.1:PORT,+private", (port: number) => `http://me@127.0.0.1:${port}/`],
    ["plain HTTP without private addresses", "127.0.0.1:PORT", (port: number) => `http://127.0.0.1:${port}/`],
    ["another protocol", "127.0.0.1:PORT,+private", (port: number) => `ftp://127.0.0.1:${port}/`],
    ["no URL", "127.0.0.1:PORT,+private", () => "127.0.0.1"],
  ])("refuses %s", async (_, outbound, url) => {
    const receiver = await startReceiver();
    const listed = outbound.replaceAll("PORT", String(receiver.port));
    expect(await posted(listed, url(receiver.port))).toBe("OutboundRefused");
    expect(receiver.connections).toBe(0);
  });

  it.each([
    "http://169.254.169.254/",
    "https://[fe80::1]/",
    "https://0.0.0.0/",
    ...["http://168.63.129.16/", "http://100.100.100.200/", "http://[fd00:ec2::254]/", "http://[fd00:ec2::23]/"],
    ...["http://[fd20:ce::254]/", "http://[fd00:42::42]/"],
  ])("suggests no setting for %s, because none allows it", async (url) => {
    const { instance } = await startInstance({ settings: { outbound: "hooks.example.com,+private" } });
    await expect(post(instance.core, url, LETTER)).rejects.toMatchObject({
      message: "The host has an address that nothing is sent to.",
      add: undefined,
    });
  });

  it("compares hosts as they are understood: case, numbers, punycode, a dot at the end, wildcards", async () => {
    const receiver = await startReceiver();
    expect(await posted(`0x7f000001:${receiver.port},+private`, `http://2130706433:${receiver.port}/`)).toBe("204");
    expect(await posted(`LOCALHOST:${receiver.port},+private`, `http://localhost.:${receiver.port}/`)).toBe("204");
    const wildcard = `*.example.com:${receiver.port}`;
    const { instance } = await startInstance({ settings: { outbound: `${wildcard},bücher.example` } });
    const why = (url: string) => post(instance.core, url, LETTER).catch((error: Error) => error.message);
    expect(await why(`https://example.com:${receiver.port}/`)).toMatch("does not list");
    expect(await why(`https://evil-example.com:${receiver.port}/`)).toMatch("does not list");
    expect(await why(`https://a.b.example.com:${receiver.port}/`)).not.toMatch("does not list");
    expect(await why("https://xn--bcher-kva.example/")).not.toMatch("does not list");
    expect(await why("http://xn--bcher-kva.example/")).toMatch("https:// where private addresses are not allowed");
  });

  it("asks no proxy of the environment", async () => {
    const proxy = await startReceiver();
    const receiver = await startReceiver();
    const before = { ...process.env };
    Object.assign(process.env, {
      NODE_USE_ENV_PROXY: "1",
      HTTP_PROXY: `http://${proxy.host}`,
      http_proxy: `http://${proxy.host}`,
    });
    onTestFinished(() => {
      process.env = before;
    });
    expect(await posted(`${receiver.host},+private`, receiver.url)).toBe("204");
    expect([proxy.connections, receiver.connections]).toEqual([0, 1]);
  });

  it("follows no redirect", async () => {
    const [receiver, other] = [await startReceiver(), await startReceiver()];
    receiver.answer = (_, response) => response.writeHead(302, { location: other.url }).end();
    expect(await posted(`${receiver.host},${other.host},+private`, receiver.url)).toBe("302");
    expect(other.connections).toBe(0);
  });

  it("reads 64 KiB of a reply of a gigabyte", async () => {
    const receiver = await startReceiver();
    let sent = 0;
    receiver.answer = (_, response) => {
      response.writeHead(200, { "content-length": 1024 ** 3 });
      const block = Buffer.alloc(16 * 1024, "a");
      const more = () => {
        while (!response.destroyed && sent < 1024 ** 3) {
          sent += block.length;
          if (!response.write(block)) return void response.once("drain", more);
        }
      };
      more();
    };
    const { instance } = await startInstance({ settings: { outbound: `${receiver.host},+private` } });
    const { status, reply } = await post(instance.core, receiver.url, LETTER);
    expect([status, reply.length]).toEqual([200, 2_000]);
    // Only what the kernel's buffers hold.
    expect(sent).toBeLessThan(16 * 1024 ** 2);
  });

  it("waits 5 seconds for a reply that never ends, and takes its status", async () => {
    const receiver = await startReceiver();
    receiver.answer = (_, response) => {
      response.writeHead(500);
      response.write("slowly");
    };
    const { instance } = await startInstance({ settings: { outbound: `${receiver.host},+private` } });
    const began = performance.now();
    expect(await post(instance.core, receiver.url, LETTER)).toMatchObject({ status: 500, reply: "slowly" });
    expect(performance.now() - began).toBeGreaterThan(4_500);
  });

  it("ends at once where the server switches to another protocol, after which neither a response nor an error follows", async () => {
    const other = createServer((socket) => {
      socket.on("error", () => {});
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n");
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as { port: number };
    const url = `http://127.0.0.1:${port}/`;
    const { instance } = await startInstance({ settings: { outbound: `127.0.0.1:${port},+private` } });
    const failed = { name: "OutboundFailed", message: "the connection broke off" };
    await expect(post(instance.core, url, LETTER)).rejects.toMatchObject(failed);
    await expect(outboundFetch(instance.core)(url)).rejects.toMatchObject(failed);
  });

  it("says that an answer is too long if it has to be read whole", async () => {
    const endless = createServer((socket) => {
      socket.on("error", () => {});
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n${"x".repeat(600_000)}`);
    });
    await new Promise<void>((resolve) => endless.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void endless.close());
    const { port } = endless.address() as { port: number };
    const { instance } = await startInstance({ settings: { outbound: `127.0.0.1:${port},+private` } });
    await expect(outboundFetch(instance.core)(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      name: "OutboundFailed",
      message: "the answer is longer than 512 KiB",
    });
  });

  it("says how to make one's own authority known where no trusted one signed the certificate", async () => {
    const asked: string[] = [];
    const server = createTlsServer(makeCertificate(), ({ url }, response) => response.end(asked.push(`${url}`)));
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const host = `localhost:${(server.address() as AddressInfo).port}`;
    const { instance } = await startInstance({ settings: { outbound: `${host},+private` } });
    const message = expect.stringMatching(/^the server's certificate is not trusted \(\w+\): set NODE_EXTRA_CA_CERTS/);
    await expect(post(instance.core, `https://${host}/`, LETTER)).rejects.toMatchObject({ message });
    await expect(outboundFetch(instance.core)(`https://${host}/`)).rejects.toMatchObject({ message });
    expect(asked).toEqual([]);
  });

  it("gives up after 5 seconds without an answer", async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as { port: number };
    const { instance } = await startInstance({ settings: { outbound: `127.0.0.1:${port},+private` } });
    const failed = await post(instance.core, `http://127.0.0.1:${port}/`, LETTER).catch(
      (error: OutboundFailed) => error,
    );
    expect(failed).toMatchObject({ name: "OutboundFailed", message: "no answer within 5 seconds" });
  });

  it("says what to add to the list", async () => {
    const { instance } = await startInstance();
    const refused = await post(instance.core, "https://hooks.example.com:8443/x", LETTER).catch(
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(OutboundRefused);
    expect((refused as OutboundRefused).add).toBe("hooks.example.com:8443");
  });
});
