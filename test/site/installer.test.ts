import { randomBytes } from "node:crypto";
import { get as httpGet } from "node:http";
import { describe, expect, it } from "vitest";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { addRelease, removeRelease } from "../../src/share/releases/releases.ts";
import { readRange } from "../../src/surfaces/web/site/files.ts";
import { startInstance } from "../support/instance.ts";
import { installer } from "../support/site.ts";

const PATH = "/download/files/win32/2.4.1/Reckon-Setup-2.4.1.exe";
const SIZE = 1_000_003;

async function serving() {
  const t = await startInstance({ settings: { port: "0" } });
  const url = await t.instance.listen();
  const bytes = randomBytes(SIZE);
  await addRelease(
    t.instance.core,
    { platform: "win32", version: "2.4.1", file: installer(t, undefined, bytes) },
    COMMAND_LINE,
  );
  const ask = async (headers: Record<string, string> = {}, method = "GET") => {
    const reply = await fetch(url + PATH, { method, headers });
    return { status: reply.status, headers: reply.headers, body: Buffer.from(await reply.arrayBuffer()) };
  };
  return { t, url, bytes, ask };
}

describe("an installer that this server holds", () => {
  it("is handed out whole, named, with its digest and length", async () => {
    const { bytes, ask, t } = await serving();
    const { status, headers, body } = await ask();
    expect([status, body.equals(bytes)]).toEqual([200, true]);
    const sha512 = (await t.get("/api/download/latest")).body.sha512;
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-length": String(SIZE),
      "content-type": "application/octet-stream",
      "content-disposition": 'attachment; filename="Reckon-Setup-2.4.1.exe"',
      "accept-ranges": "bytes",
      "cache-control": "public, no-cache",
      "repr-digest": `sha-512=:${sha512}:`,
    });
    expect(headers.get("set-cookie")).toBeNull();
  });

  it("goes on where a download broke off", async () => {
    const { bytes, ask } = await serving();
    const etag = (await ask({}, "HEAD")).headers.get("etag") as string;
    for (const [range, from, to] of [
      ["bytes=0-0", 0, 1],
      ["bytes=700000-", 700_000, SIZE],
      ["bytes=-3", SIZE - 3, SIZE],
      ["bytes=262143-524288", 262_143, 524_289],
      [`bytes=5-${10 * SIZE}`, 5, SIZE],
    ] as const) {
      const { status, headers, body } = await ask({ range, "if-range": etag });
      expect([range, status, headers.get("content-range")]).toEqual([range, 206, `bytes ${from}-${to - 1}/${SIZE}`]);
      expect([range, body.equals(bytes.subarray(from, to))]).toEqual([range, true]);
      expect(headers.get("content-length")).toBe(String(to - from));
    }
    const changed = await ask({ range: "bytes=5-9", "if-range": '"another"' });
    expect([changed.status, changed.body.length]).toEqual([200, SIZE]);
    const beyond = await ask({ range: `bytes=${SIZE}-` });
    expect([beyond.status, beyond.headers.get("content-range"), beyond.body.length]).toEqual([
      416,
      `bytes */${SIZE}`,
      0,
    ]);
  });

  it("answers HEAD and 304 without reading the file", async () => {
    const { ask } = await serving();
    const head = await ask({}, "HEAD");
    expect([head.status, head.headers.get("content-length"), head.body.length]).toEqual([200, String(SIZE), 0]);
    const etag = head.headers.get("etag") as string;
    const again = await ask({ "if-none-match": etag, range: "bytes=0-9" });
    expect([again.status, again.body.length, again.headers.get("etag")]).toEqual([304, 0, etag]);
  });

  it("is revalidated each time, so that a withdrawn or replaced one is noticed at once", async () => {
    const { ask, t } = await serving();
    const { core } = t.instance;
    const before = await ask();
    const etag = before.headers.get("etag") as string;
    await removeRelease(core, "win32", "2.4.1", COMMAND_LINE);
    expect((await ask({ "if-none-match": etag })).status).toBe(404);
    const bytes = randomBytes(77);
    await addRelease(core, { platform: "win32", version: "2.4.1", file: installer(t, undefined, bytes) }, COMMAND_LINE);
    const after = await ask({ "if-none-match": etag });
    expect([after.status, after.body.equals(bytes), after.headers.get("cache-control")]).toEqual([
      200,
      true,
      "public, no-cache",
    ]);
  });

  it("closes the file when the reader leaves halfway", async () => {
    const { url, ask, t } = await serving();
    for (let i = 0; i < 20; i++)
      await new Promise<void>((resolve, reject) => {
        const request = httpGet(url + PATH, (reply) => {
          reply.once("data", () => {
            reply.destroy();
            resolve();
          });
        });
        request.once("error", reject);
      });
    expect((await ask()).status).toBe(200);
    expect(t.log.filter((line) => /"(?:error|download_failed)"/.test(line))).toEqual([]);
  });

  it("is found under exactly its own name", async () => {
    const { url } = await serving();
    for (const path of [
      "/download/files/win32/2.4.1/other.exe",
      "/download/files/win32/2.4.0/Reckon-Setup-2.4.1.exe",
      "/download/files/win/2.4.1/Reckon-Setup-2.4.1.exe",
      "/download/files/win32/2.4.1/..%2F..%2Freckon.db",
      "/download/files/..%2F/2.4.1/reckon.db",
    ])
      expect([path, (await fetch(url + path)).status]).toEqual([path, 404]);
  });
});

describe("a range", () => {
  const ETAG = '"now"';
  it.each([
    [null, { kind: "whole" }],
    ["bytes=0-4", { kind: "part", first: 0, last: 4 }],
    ["bytes=2-", { kind: "part", first: 2, last: 9 }],
    ["bytes=-4", { kind: "part", first: 6, last: 9 }],
    ["bytes=-400", { kind: "part", first: 0, last: 9 }],
    ["bytes=9-9", { kind: "part", first: 9, last: 9 }],
    ["bytes=4-99", { kind: "part", first: 4, last: 9 }],
    ["bytes=10-", { kind: "unsatisfiable" }],
    ["bytes=-0", { kind: "unsatisfiable" }],
    ["bytes=5-4", { kind: "whole" }],
    ["bytes=0-1,4-5", { kind: "whole" }],
    ["items=0-1", { kind: "whole" }],
    ["bytes=-", { kind: "whole" }],
    ["bytes=99999999999999999999-", { kind: "whole" }],
  ])("reads %j of ten bytes", (range, wanted) => {
    expect(readRange(range, null, ETAG, 10)).toEqual(wanted);
  });

  it("counts only for the file that If-Range names, by its strong tag", () => {
    expect(readRange("bytes=0-1", ETAG, ETAG, 10).kind).toBe("part");
    expect(readRange("bytes=0-1", `W/${ETAG}`, ETAG, 10).kind).toBe("whole");
    expect(readRange("bytes=0-1", "Sat, 21 Nov 2026 08:00:00 GMT", ETAG, 10).kind).toBe("whole");
  });
});
