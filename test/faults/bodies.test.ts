import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Data, makeData, removeData, rowsOf } from "./support/data.ts";
import { ask, type RawReply, RawSocket, requestBytes } from "./support/http.ts";
import { memoryOf, type Running, resetPeak, serve } from "./support/process.ts";
import { expectJsonRefusal, runKeyPem } from "./support/test.ts";

const MIB = 1024 * 1024;
const TELEMETRY = "/api/telemetry/ingest";
const BRAIN = "/api/brain/ingest";
const TRACES = "/api/agent-traces/ingest";
const EXCHANGE = "/api/connect/exchange";
const CAPS = [
  [TELEMETRY, 4 * MIB],
  [BRAIN, 16 * MIB],
  [TRACES, 8 * MIB],
  [EXCHANGE, 16 * 1024],
] as const;

let data: Data;
let server: Running;
let port: number;
let token: string;
let seq = 0;
beforeAll(async () => {
  data = await makeData({ keyPem: runKeyPem() });
  server = await serve(data.directory, { env: { RECKON_LIMIT_EXCHANGE: "off" } });
  port = server.port;
  token = data.devices[0]?.token as string;
  // The first delivery waits for what searching needs, which is made once the server listens. Its memory must not count for a body.
  await storedPayload('{"text":"first"}');
});
afterAll(async () => {
  await server.end("SIGKILL");
  removeData(data.directory);
});

const post = (path: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
  ask(port, { path, token, body, headers });

/** Sends one payload under a seq of its own, spelled as given, and tells what became of it. */
async function storedPayload(payload: string | Uint8Array): Promise<{ reply: RawReply; stored: string | undefined }> {
  const own = ++seq;
  const body = Buffer.concat([
    Buffer.from(`{"repoKey":"bytes","entries":[{"seq":${own},"payload":`),
    Buffer.from(payload),
    Buffer.from("}]}"),
  ]);
  const reply = await post(TELEMETRY, body);
  const found = rowsOf(
    data.directory,
    "SELECT payload FROM telemetry_entries e JOIN telemetry_streams s ON s.id = e.stream_id WHERE s.repo_key = 'bytes' AND e.seq = ?",
    own,
  );
  return { reply, stored: found[0]?.payload };
}

/** The contract has no 413 for the exchange of a code. */
const tooLargeAt = (path: string) => (path === EXCHANGE ? 400 : 413);

describe("bodies that are too large", () => {
  it.each(CAPS)("are refused on %s from their declared length alone", async (path, cap) => {
    const socket = new RawSocket(port).send(
      requestBytes({ path, token, body: "{", headers: { "content-length": String(cap + 1) } }),
    );
    const reply = await socket.reply();
    socket.close();
    expectJsonRefusal(reply as RawReply, tooLargeAt(path));
  });

  it.skipIf(process.platform !== "linux").each(CAPS)(
    "are refused on %s when they come in chunks, and memory stays flat",
    async (path, cap) => {
      // Bodies at the cap first, so that what good requests may take is not counted as growth.
      for (let i = 0; i < 8; i++) await post(path, " ".repeat(cap));
      resetPeak(server.pid);
      const before = memoryOf(server.pid).now;
      const head = requestBytes({
        path,
        token,
        headers: { "content-type": "application/json", "transfer-encoding": "chunked" },
        method: "POST",
      });
      const socket = new RawSocket(port).send(head);
      const chunk = Buffer.concat([Buffer.from("10000\r\n"), Buffer.alloc(65_536, 32), Buffer.from("\r\n")]);
      const reply = socket.reply();
      for (let sent = 0; sent < 200 * MIB && socket.socket.writable && socket.isOpen; sent += 65_536)
        if (!socket.socket.write(chunk)) await socket.drained();
      const refusal = await reply;
      socket.close();
      if (!refusal) throw new Error("closed without a reply");
      expectJsonRefusal(refusal, tooLargeAt(path));
      expect(memoryOf(server.pid).peak - before).toBeLessThan(3 * cap + 64 * MIB);
    },
  );

  it.each([
    ["HTTP/1.1", 413],
    ["HTTP/1.0", 401],
  ] as const)(
    "are read to their end before a connection of %s is closed, since a reset takes the refusal away: %i",
    async (version, status) => {
      const bearer = status === 413 ? token : "rkd_none";
      const body = " ".repeat(16 * MIB);
      const bytes = requestBytes({ path: TELEMETRY, token: bearer, body, headers: { connection: "close" } });
      bytes.write(version, bytes.indexOf("HTTP/1.1"));
      const client = new RawSocket(port);
      expect(await new Promise((resolve) => client.socket.write(bytes, resolve))).toBeFalsy();
      expect((await client.reply())?.status).toBe(status);
      await client.ended();
    },
  );

  it("are refused in chunks of one byte before these take memory, and taken in chunks of sixty-four", async () => {
    const sent = async (body: string, size: number) => {
      const pieces = Array.from(
        { length: Math.ceil(body.length / size) },
        (_, i) =>
          `${Math.min(size, body.length - i * size).toString(16)}\r\n${body.slice(i * size, (i + 1) * size)}\r\n`,
      );
      const headers = { "content-type": "application/json", "transfer-encoding": "chunked" };
      const head = requestBytes({ path: "/api/telemetry/ingest", token, headers, method: "POST" });
      const socket = new RawSocket(port).send(Buffer.concat([head, Buffer.from(`${pieces.join("")}0\r\n\r\n`)]));
      const reply = await socket.reply();
      socket.close();
      return reply;
    };
    const before = memoryOf(server.pid).peak;
    const refused = await sent(`{"entries":[],"repoKey":"${"x".repeat(1_000_000)}"}`, 1);
    expect(refused?.status).toBe(400);
    expect(refused?.body.toString()).toContain("too many small pieces");
    expect(memoryOf(server.pid).peak - before).toBeLessThan(64 * MIB);
    const padded = `{"entries":[{"seq":1,"payload":{}}],${" ".repeat(400_000)}"repoKey":"pieces"}`;
    expect((await sent(padded, 64))?.status).toBe(200);
  });

  it("are taken at exactly the cap", async () => {
    const body = JSON.stringify({ entries: [{ seq: 1, payload: {} }], repoKey: "cap" });
    expect((await post(TELEMETRY, body.padEnd(4 * MIB))).status).toBe(200);
    expectJsonRefusal(await post(TELEMETRY, body.padEnd(4 * MIB + 1)), 413);
    expect((await post(TELEMETRY, gzipSync(body.padEnd(4 * MIB)), { "content-encoding": "gzip" })).status).toBe(200);
    expectJsonRefusal(await post(TELEMETRY, gzipSync(body.padEnd(4 * MIB + 1)), { "content-encoding": "gzip" }), 413);
  });

  it("are refused where very many objects all differ in their members, and taken where they are alike", async () => {
    const list = (unlike: number) => `[${Array.from({ length: 80_000 }, (_, i) => `{"name ${i % unlike}":{}}`)}]`;
    const sent = (unlike: number) => {
      const session = `{"id":"unlike ${unlike}","outcome":"","spans":[],"more":${list(unlike)}}`;
      return post(TRACES, `{"repoKey":"unlike","sessions":[${session}]}`);
    };
    const refused = await sent(20_000);
    expectJsonRefusal(refused, 413);
    expect(refused.body.toString()).toContain("ways");
    expect((await sent(500)).status).toBe(200);
    const stored = rowsOf(data.directory, "SELECT external_id AS id FROM trace_sessions WHERE repo_key = 'unlike'");
    expect(stored).toEqual([{ id: "unlike 500" }]);
  });

  it.skipIf(process.platform !== "linux")(
    "are refused with 413 when gzip blows them up, and memory stays flat",
    async () => {
      const bomb = gzipSync(Buffer.alloc(300 * MIB, 32), { level: 9 });
      expect(bomb.length).toBeLessThan(320 * 1024);
      await post(TELEMETRY, bomb, { "content-encoding": "gzip" });
      resetPeak(server.pid);
      const before = memoryOf(server.pid).now;
      const replies = await Promise.all(
        Array.from({ length: 8 }, () => post(TELEMETRY, bomb, { "content-encoding": "gzip" })),
      );
      for (const reply of replies) expectJsonRefusal(reply, 413);
      expect(memoryOf(server.pid).peak - before).toBeLessThan(8 * 2 * 4 * MIB + 32 * MIB);
    },
  );

  it("are refused with 413 by count: entries, payload, files, sessions, spans, labels", async () => {
    const entries = Array.from({ length: 1_001 }, (_, i) => ({ seq: i, payload: {} }));
    expectJsonRefusal(await post(TELEMETRY, JSON.stringify({ repoKey: "many", entries })), 413);
    expectJsonRefusal(
      await post(TELEMETRY, JSON.stringify({ entries: [{ seq: 1, payload: { a: "x".repeat(65_536) } }] })),
      413,
    );
    const files = Array.from({ length: 501 }, (_, i) => ({ path: `f${i}.md`, content: "" }));
    expectJsonRefusal(await post(BRAIN, JSON.stringify({ version: 1, files })), 413);
    expectJsonRefusal(
      await post(BRAIN, JSON.stringify({ version: 1, files: [{ path: "a.md", content: "x".repeat(MIB + 4097) }] })),
      413,
    );
    const large = Array.from({ length: 9 }, (_, i) => ({ path: `f${i}.md`, content: "x".repeat(MIB - 1) }));
    expectJsonRefusal(await post(BRAIN, JSON.stringify({ version: 1, files: large })), 413);
    const sessions = Array.from({ length: 201 }, () => ({ outcome: "", spans: [] }));
    expectJsonRefusal(await post(TRACES, JSON.stringify({ sessions })), 413);
    const spans = Array.from({ length: 20_001 }, () => ({}));
    expectJsonRefusal(await post(TRACES, JSON.stringify({ sessions: [{ outcome: "", spans }] })), 413);
    const labels = Array.from({ length: 200_000 }, (_, i) => ({ value: i }));
    expectJsonRefusal(await post(TRACES, JSON.stringify({ sessions: [], labels })), 413);
  });
});

describe("codings and types", () => {
  const entry = () => JSON.stringify({ repoKey: "codings", entries: [{ seq: ++seq, payload: { n: seq } }] });

  it("takes gzip on telemetry in any case of its name, members strung together included", async () => {
    const body = entry();
    expect((await post(TELEMETRY, gzipSync(body), { "content-encoding": "GZip" })).status).toBe(200);
    const other = entry();
    const halves = Buffer.concat([gzipSync(other.slice(0, 20)), gzipSync(other.slice(20))]);
    expect((await post(TELEMETRY, halves, { "content-encoding": "gzip" })).status).toBe(200);
  });

  it("refuses gzip that is cut short, altered or not gzip with 400", async () => {
    const packed = gzipSync(entry());
    const altered = Buffer.from(packed);
    altered[altered.length - 6] = (altered[altered.length - 6] as number) ^ 0xff;
    for (const body of [
      packed.subarray(0, packed.length - 9),
      packed.subarray(0, 12),
      altered,
      Buffer.from("{}"),
      Buffer.from([0x1f, 0x8b]),
    ])
      expectJsonRefusal(await post(TELEMETRY, body, { "content-encoding": "gzip" }), 400);
  });

  it("refuses stacked and unknown codings with 400", async () => {
    for (const coding of ["gzip, gzip", "gzip,identity", "deflate", "br", "zstd", "compress", "gzip;q=1", '"gzip"'])
      expectJsonRefusal(await post(TELEMETRY, gzipSync(entry()), { "content-encoding": coding }), 400);
    const twice = requestBytes({
      path: TELEMETRY,
      token,
      body: gzipSync(gzipSync(entry())),
      headers: { "content-encoding": "gzip\r\ncontent-encoding: gzip" },
    });
    const socket = new RawSocket(port).send(twice);
    expectJsonRefusal((await socket.reply()) as RawReply, 400);
    socket.close();
  });

  it("refuses gzip with 400 where no coding is accepted, and where gzip is not announced", async () => {
    for (const path of [BRAIN, TRACES, EXCHANGE]) {
      const reply = await post(path, gzipSync("{}"), { "content-encoding": "gzip" });
      expectJsonRefusal(reply, 400);
      expect([path, reply.body]).toEqual([path, expect.stringContaining("No content coding is accepted here")]);
    }
    expectJsonRefusal(await post(TELEMETRY, gzipSync(entry())), 400);
  });

  it("refuses other content types with 400", async () => {
    for (const type of [
      "text/plain",
      "text/html",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "application/jsonp",
      "application/json-seq",
      "x",
      "",
    ]) {
      const reply = await post(TELEMETRY, entry(), { "content-type": type });
      if (type === "") expect([200, 400]).toContain(reply.status);
      else expectJsonRefusal(reply, 400);
    }
    expect((await post(TELEMETRY, entry(), { "content-type": "Application/JSON; charset=UTF-8" })).status).toBe(200);
  });

  it("refuses what is not JSON with 400", async () => {
    const wrong = [
      "",
      " ",
      "nul",
      "{",
      "{}{}",
      "[1,]",
      "{'a':1}",
      '{"a":1,}',
      "// x\n{}",
      "NaN",
      "Infinity",
      "01",
      '"\t"',
      '{"entries":[]} x',
      "undefined",
    ];
    for (const body of wrong) expectJsonRefusal(await post(TELEMETRY, body), 400);
    for (const body of [
      "null",
      "true",
      "1",
      '"x"',
      "[]",
      "{}",
      '{"entries":{}}',
      '{"entries":null}',
      '{"entries":[[]]}',
      '{"__proto__":{"entries":[]}}',
    ])
      expectJsonRefusal(await post(TELEMETRY, body), 400);
    expectJsonRefusal(
      await ask(port, { path: TELEMETRY, token, method: "POST", headers: { "content-length": "0" } }),
      400,
    );
    expectJsonRefusal(await ask(port, { path: TELEMETRY, token, method: "POST" }), 400);
  });
});

describe("text that readers disagree on", () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

  it("nests 64 levels and not 65, brackets in strings not counted", async () => {
    // The body's object, its array, the entry and the payload are four levels already.
    const fits = await storedPayload(`{"a":${nested(60)}}`);
    expect(fits.reply.status, fits.reply.body).toBe(200);
    expect(fits.stored).toBe(`{"a":${nested(60)}}`);
    expectJsonRefusal((await storedPayload(`{"a":${nested(61)}}`)).reply, 400);
    const quoted = await storedPayload(`{"a":"${"[".repeat(500)}\\"[{"}`);
    expect(quoted.stored).toBe(`{"a":"${"[".repeat(500)}\\"[{"}`);
  });

  it("refuses depth bombs on every route, whole or cut off", async () => {
    for (const path of [TELEMETRY, BRAIN, TRACES])
      for (const body of [nested(100_000), "[".repeat(100_000), '{"a":'.repeat(100_000), nested(1_900_000)])
        expectJsonRefusal(await post(path, body), 400);
    expect((await ask(port, { path: "/api/health" })).status).toBe(200);
  });

  const KEPT: readonly (readonly [name: string, payload: string])[] = [
    ["integers beyond 2^53", '{"a":9007199254740993,"b":-9223372036854775809,"c":123456789012345678901234567890}'],
    ["numbers beyond doubles", '{"a":1e400,"b":-1e400,"c":1e-400,"d":0.1000000000000000055511151231257827}'],
    ["spellings of numbers", '{"a":1.0,"b":1E+2,"c":-0,"d":-0.0,"e":100e-2}'],
    ["duplicate members", '{"a":1,"a":2,"\\u0061":3,"b":{"c":1,"c":[]}}'],
    [
      "__proto__ and its kin",
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":1,"hasOwnProperty":null}',
    ],
    ["escaped lone surrogates", '{"a":"\\ud800","b":"\\udfff\\ud800","\\udead":1}'],
    ["escaped NUL and controls", '{"a":"\\u0000\\u0001\\u001f\\u007f\\u0085\\u2028","\\u0000":1}'],
    [
      "raw characters of four bytes, noncharacters and bidi marks",
      '{"a":"\u{1f600}\u{10ffff}\ufffe\uffff\u202e\u2066","é":"e\u0301"}',
    ],
    ["white space of all kinds", '{\n\t"a" :\r\n [ 1 ,\t2 ] ,\n "b":{ } }'],
    ["needless escapes", '{"\\u0061\\u0062":"\\u0041\\/\\b\\f"}'],
    ["a byte order mark inside a string", '{"a":"\ufeff"}'],
    ["text that looks like SQL and HTML", '{"a":"\'; DROP TABLE teams;--","b":"<script>","c":"%s{0}"}'],
    ["an empty object", "{}"],
    ["integer-like and sparse member names", '{"4294967295":1,"2":2,"1":3,"-1":4,"":5}'],
  ];
  it.each(KEPT)("keeps %s in a payload byte for byte as sent", async (_name, payload) => {
    const { reply, stored } = await storedPayload(payload);
    expect(reply.status, reply.body).toBe(200);
    expect(Buffer.from(stored ?? "").toString("hex")).toBe(Buffer.from(payload).toString("hex"));
    const again = await post(TELEMETRY, `{"repoKey":"bytes","entries":[{"seq":${seq},"payload":${payload}}]}`);
    expect(JSON.parse(again.body)).toMatchObject({ accepted: 0, flagged: null });
  });

  const REFUSED: readonly (readonly [name: string, body: string | Uint8Array])[] = [
    ["a byte order mark", Buffer.from('\ufeff{"entries":[]}')],
    ["UTF-16", Buffer.from('{"entries":[]}', "utf16le")],
    ["Latin-1", Buffer.from('{"entries":[],"repoKey":"é"}', "latin1")],
    [
      "raw lone surrogates (CESU)",
      Buffer.concat([
        Buffer.from('{"entries":[{"seq":1,"payload":{"a":"'),
        Buffer.from([0xed, 0xa0, 0x80]),
        Buffer.from('"}}]}'),
      ]),
    ],
    [
      "overlong UTF-8",
      Buffer.concat([
        Buffer.from('{"entries":[{"seq":1,"payload":{"a":"'),
        Buffer.from([0xc0, 0xaf]),
        Buffer.from('"}}]}'),
      ]),
    ],
    [
      "UTF-8 cut off",
      Buffer.concat([
        Buffer.from('{"entries":[{"seq":1,"payload":{"a":"'),
        Buffer.from([0xe2, 0x82]),
        Buffer.from('"}}]}'),
      ]),
    ],
    ["a raw NUL", Buffer.from('{"entries":[{"seq":1,"payload":{"a":"\u0000"}}]}')],
    ["an unsafe seq", '{"entries":[{"seq":9007199254740993,"payload":{}}]}'],
    ["a seq of 2^53", '{"entries":[{"seq":9007199254740992,"payload":{}}]}'],
    ["a seq of 1e400", '{"entries":[{"seq":1e400,"payload":{}}]}'],
    ["a fractional seq", '{"entries":[{"seq":1.5,"payload":{}}]}'],
    ["a seq that only rounding makes whole", '{"entries":[{"seq":9007199254740990.6,"payload":{}}]}'],
    ["a negative seq", '{"entries":[{"seq":-1,"payload":{}}]}'],
    ["a seq in quotes", '{"entries":[{"seq":"1","payload":{}}]}'],
    ["a payload that is an array", '{"entries":[{"seq":1,"payload":[]}]}'],
    ["a payload that is null", '{"entries":[{"seq":1,"payload":null}]}'],
    ["entries named twice", '{"entries":[],"entries":[]}'],
    ["entries named twice, once in escapes", '{"entries":[],"\\u0065ntries":[]}'],
    ["a seq named twice", '{"entries":[{"seq":1,"seq":2,"payload":{}}]}'],
    ["a payload named twice", '{"entries":[{"seq":1,"payload":{"a":1},"payload":{}}]}'],
    ["NUL in repoKey", '{"repoKey":"a\\u0000b","entries":[]}'],
    ["a line feed in repoKey", '{"repoKey":"a\\nb","entries":[]}'],
    ["a lone surrogate in repoKey", '{"repoKey":"a\\ud800b","entries":[]}'],
    ["an empty repoKey", '{"repoKey":"","entries":[]}'],
    ["a repoKey of 513 characters", JSON.stringify({ repoKey: "r".repeat(513), entries: [] })],
    ["NUL in mode", '{"mode":"\\u0000","entries":[]}'],
    ["a clientTimestamp that is none", '{"entries":[{"seq":1,"payload":{},"clientTimestamp":"yesterday"}]}'],
    [
      "a clientTimestamp in no calendar",
      '{"entries":[{"seq":1,"payload":{},"clientTimestamp":"2026-13-45T99:99:99Z"}]}',
    ],
  ];
  it.each(REFUSED)("refuses %s on telemetry with 400 and stores nothing", async (_name, body) => {
    const count = () => rowsOf(data.directory, "SELECT count(*) AS n FROM telemetry_entries")[0].n as number;
    const before = count();
    expectJsonRefusal(await post(TELEMETRY, body), 400);
    expect(count()).toBe(before);
  });

  const BRAIN_REFUSED: readonly (readonly [name: string, body: string])[] = [
    ["version named twice", '{"version":1,"version":2,"files":[]}'],
    ["files named twice", '{"version":1,"files":[{"path":"a.md","content":"x"}],"files":[]}'],
    ["a content named twice", '{"version":1,"files":[{"path":"a.md","content":"one","content":"two"}]}'],
    ["a path named twice", '{"version":1,"files":[{"path":"a.md","path":"b.md","content":"x"}]}'],
    ["an unsafe version", '{"version":9007199254740993,"files":[]}'],
    ["a version of 1e400", '{"version":1e400,"files":[]}'],
    ["a lone surrogate in a content", '{"version":1,"files":[{"path":"a.md","content":"\\ud800"}]}'],
    ["a lone surrogate in a path", '{"version":1,"files":[{"path":"\\ud800.md","content":""}]}'],
    ...[
      "../a.md",
      "a/../../b.md",
      "/etc/passwd",
      "\\\\server\\share",
      "a\\b.md",
      "C:/a.md",
      "c:a.md",
      "a\u0000.md",
      "a\n.md",
      "",
      ".",
      "..",
      "a//b.md",
      "./a.md",
      "a/./b.md",
      "a/",
      "x".repeat(513),
      "é".repeat(257),
      "a\u007f.md",
      "a\u0085.md",
    ].map(
      (path) =>
        [
          `the path ${encodeURI(path).slice(0, 24)}`,
          JSON.stringify({ version: 1, files: [{ path, content: "" }] }),
        ] as const,
    ),
    [
      "paths the same but for case",
      JSON.stringify({
        version: 1,
        files: [
          { path: "A.md", content: "1" },
          { path: "a.MD", content: "2" },
        ],
      }),
    ],
    [
      "paths the same but for their Unicode form",
      JSON.stringify({
        version: 1,
        files: [
          { path: "\u00e9.md", content: "1" },
          { path: "e\u0301.md", content: "2" },
        ],
      }),
    ],
    [
      "one path twice",
      JSON.stringify({
        version: 1,
        files: [
          { path: "a.md", content: "1" },
          { path: "a.md", content: "1" },
        ],
      }),
    ],
  ];
  it.each(BRAIN_REFUSED)("refuses %s on brain ingest with 400 and stores nothing", async (_name, body) => {
    const count = () => rowsOf(data.directory, "SELECT count(*) AS n FROM brain_snapshots")[0].n as number;
    const before = count();
    expectJsonRefusal(await post(BRAIN, body), 400);
    expect(count()).toBe(before);
  });

  it("keeps brain files of odd characters byte for byte", async () => {
    const contents = ["a\u0000b", "\ufeff# bom\r\n", "\u{1f600}\u2028\u0085", "\r\r\n\n", "", "é e\u0301"];
    const files = contents.map((content, i) => ({ path: `odd/f${i}.md`, content }));
    const reply = await post(BRAIN, JSON.stringify({ version: 1, repoKey: "odd", files }));
    expect(reply.status, reply.body).toBe(200);
    const held = rowsOf(data.directory, "SELECT hex(CAST(content AS BLOB)) AS hex FROM brain_blobs").map((row) =>
      row.hex.toLowerCase(),
    );
    for (const content of contents) expect(held).toContain(Buffer.from(content).toString("hex"));
  });

  it("refuses what names a member twice in traces, and keeps sessions, spans and labels as sent", async () => {
    const span = '{ "id":"s1", "n":9007199254740993, "x":1e400, "__proto__":{"a":1}, "u":"\\ud800", "d":1, "d":2 }';
    const label = '{"name":"l", "v":1.0, "w":"\\u0000"}';
    const body = `{"repoKey":"traces","sessions":[{"id":"a","outcome":"ok","big":123456789012345678901,"__proto__":{"z":[1.10]},"spans":[${span}]}],"labels":[${label}]}`;
    expect((await post(TRACES, body)).status).toBe(200);
    const [session] = rowsOf(data.directory, "SELECT id, document FROM trace_sessions WHERE external_id = 'a'");
    expect(session.document).toContain('"big":123456789012345678901');
    expect(session.document).toContain('"__proto__":{"z":[1.10]}');
    expect(rowsOf(data.directory, "SELECT document FROM trace_spans WHERE session_id = ?", session.id)).toEqual([
      { document: span },
    ]);
    expect(rowsOf(data.directory, "SELECT document FROM trace_labels WHERE name = 'l'")).toEqual([{ document: label }]);
    for (const wrong of [
      '{"sessions":[],"sessions":[]}',
      '{"sessions":[{"outcome":"a","outcome":"b","spans":[]}]}',
      '{"sessions":[{"outcome":"a","spans":[],"spans":[]}]}',
    ])
      expectJsonRefusal(await post(TRACES, wrong), 400);
  });

  it("refuses a connect exchange that names a member twice or holds control characters", async () => {
    const consent = '{"version":"1"}';
    for (const body of [
      `{"code":"a","code":"b","consent":${consent}}`,
      `{"code":"a","consent":${consent},"consent":{"version":"2"}}`,
      `{"code":"a","consent":{"version":"1","version":"2"}}`,
      `{"code":"a","consent":{"version":"1\\u0000"}}`,
      `{"code":"a","consent":{"version":"1","deviceLabel":"a\\nb"}}`,
    ])
      expectJsonRefusal(await post(EXCHANGE, body), 400);
  });

  it("left no error in the log, and the server is still running", () => {
    expect(server.stderr()).not.toMatch(/"level":"error"/);
    expect(server.child.exitCode).toBeNull();
  });
});
