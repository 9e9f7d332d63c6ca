import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { ask, askBytes, type RawAsk, type RawReply, requestBytes } from "./support/http.ts";
import { testData, testServer } from "./support/test.ts";

/** A stretch of letters and digits, different for each place, spelled at run time so that no scanner takes it for real. */
let state = 2463534242;
function noise(length: number, alphabet: string): string {
  let out = "";
  while (out.length < length) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    out += alphabet[(state >>> 0) % alphabet.length];
  }
  return out;
}
const WORD = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Makers of secrets whose provider's mark is certain, and the part of each that must never be seen again. */
const MAKERS: readonly (() => { text: string; needle: string })[] = [
  () => marked(["gh", "p_"].join(""), noise(36, WORD)),
  () => marked(["AK", "IA"].join(""), noise(16, BASE32)),
  () => marked(["xo", "xb-"].join(""), `${noise(12, "0123456789")}-${noise(12, "0123456789")}-${noise(24, WORD)}`),
  () => marked(["sk-", "ant-api03-"].join(""), `${noise(93, WORD)}AA`),
  () => marked(["gl", "pat-"].join(""), noise(20, WORD)),
  () => marked(["np", "m_"].join(""), noise(36, WORD)),
  () => marked(["sk_", "live_"].join(""), noise(24, WORD)),
  () => marked(["AI", "za"].join(""), noise(35, WORD)),
  () => marked(["hv", "s."].join(""), noise(95, WORD)),
  () => {
    const body = Array.from({ length: 6 }, () => noise(64, WORD)).join("\n");
    const name = ["RSA PRI", "VATE KEY"].join("");
    return { text: `-----BEGIN ${name}-----\n${body}\n-----END ${name}-----`, needle: body.slice(70, 120) };
  },
];
function marked(mark: string, rest: string): { text: string; needle: string } {
  return { text: mark + rest, needle: rest };
}

it("no secret that is sent in any place of any request reaches the database, the log or a reply", async () => {
  const data = await testData({ devices: 1, codes: 40 });
  const env = {
    RECKON_LOG: "debug",
    RECKON_LIMIT_EXCHANGE: "off",
    RECKON_LIMIT_TELEMETRY: "off",
    RECKON_LIMIT_BRAIN: "off",
    RECKON_LIMIT_TRACES: "off",
    RECKON_LIMIT_REQUEST_INTAKE: "off",
    RECKON_LIMIT_REQUEST_STATUS: "off",
  };
  const server = await testServer(data.directory, { env });
  const token = data.devices[0]?.token as string;
  const needles = new Map<string, string>([[token, "the device token"]]);
  const replies: { where: string; reply: RawReply }[] = [];
  const statuses = new Map<string, Set<number>>();
  let made = 0;

  /** A secret for a place; each is of its own kind and sent once. */
  const secret = (where: string): string => {
    const { text, needle } = (MAKERS[made++ % MAKERS.length] as (typeof MAKERS)[number])();
    needles.set(needle.includes("\n") ? (needle.split("\n")[0] as string) : needle, where);
    return text;
  };
  const send = async (where: string, what: RawAsk) => {
    const reply = await ask(server.port, { token, ...what });
    replies.push({ where, reply });
    const known = statuses.get(where) ?? new Set();
    statuses.set(where, known.add(reply.status));
  };
  const json = (value: unknown) => JSON.stringify(value);
  let seq = 0;

  // Every place is filled with every kind of secret in turn.
  for (let round = 0; round < MAKERS.length; round++) {
    const telemetry = (where: string, entry: object, more: object = {}) =>
      send(`telemetry ${where}`, {
        path: "/api/telemetry/ingest",
        body: json({ repoKey: "r", ...more, entries: [{ seq: ++seq, ...entry }] }),
      });
    const oneLine = (where: string) => secret(where).replaceAll("\n", " ");
    await telemetry("payload", { payload: { text: `use ${secret("payload")} now` } });
    await telemetry("payload, nested", { payload: { a: [{ b: [secret("nested payload")] }] } });
    await telemetry("payload, member name", { payload: { [secret("payload member name")]: 1 } });
    await telemetry("payload, JSON in a string", {
      payload: { text: json({ inner: json({ key: secret("nested JSON") }) }) },
    });
    await telemetry("payload, command", {
      payload: { cmd: `curl -H "Authorization: Bearer ${secret("command")}" https://x` },
    });
    await telemetry("mode", { payload: {} }, { mode: oneLine("mode").slice(0, 100) });
    await telemetry("repoKey", { payload: {} }, { repoKey: oneLine("repoKey").slice(0, 512) });
    await telemetry(
      "unknown members",
      { payload: {}, note: secret("unknown entry member") },
      { note: secret("unknown member") },
    );
    await telemetry("clientTimestamp", { payload: {}, clientTimestamp: secret("clientTimestamp") });
    await telemetry("seq", { payload: {}, seq: secret("seq") });
    await telemetry("payload that is text", { payload: secret("text payload") });
    const escaped = [...secret("escaped payload").replaceAll("\n", " ")]
      .map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join("");
    await send("telemetry escapes", {
      path: "/api/telemetry/ingest",
      body: `{"entries":[{"seq":${++seq},"payload":{"t":"${escaped}"}}]}`,
    });
    const slashed = json(secret("slashed payload")).replaceAll("/", "\\/");
    await send("telemetry slashes", {
      path: "/api/telemetry/ingest",
      body: `{"entries":[{"seq":${++seq},"payload":{"t":${slashed}}}]}`,
    });
    await send("telemetry gzip", {
      path: "/api/telemetry/ingest",
      headers: { "content-encoding": "gzip" },
      body: gzipSync(json({ entries: [{ seq: ++seq, payload: { a: secret("gzip") } }] })),
    });
    await send("telemetry conflict", {
      path: "/api/telemetry/ingest",
      body: json({ repoKey: "r", entries: [{ seq: 1, payload: { other: secret("evidence") } }] }),
    });
    await send("telemetry bad JSON", {
      path: "/api/telemetry/ingest",
      body: `{"entries":[{"seq":1,"payload":{"a":"${secret("bad JSON").replaceAll("\n", " ")}"`,
    });
    await send("telemetry bad gzip", {
      path: "/api/telemetry/ingest",
      headers: { "content-encoding": "gzip" },
      body: secret("bad gzip"),
    });

    const brain = (where: string, file: object, more: object = {}) =>
      send(`brain ${where}`, {
        path: "/api/brain/ingest",
        body: json({
          version: round + 1,
          repoKey: `b${where}`,
          ...more,
          files: [{ path: "a.md", content: "", ...file }],
        }),
      });
    await brain("content", { content: `# Key\n\n${secret("content")}\n` });
    await brain("path", { path: `${oneLine("path").slice(0, 200)}.md` });
    await brain("bad path", { path: `../${oneLine("bad path")}` });
    await brain("repoKey", {}, { repoKey: oneLine("brain repoKey").slice(0, 512) });
    await brain("clientTimestamp", {}, { clientTimestamp: secret("brain clientTimestamp") });
    await brain("version", {}, { version: secret("version") });
    await brain("unknown members", { note: secret("unknown file member") }, { note: secret("unknown brain member") });

    const traces = (where: string, session: object, more: object = {}) =>
      send(`traces ${where}`, {
        path: "/api/agent-traces/ingest",
        body: json({ repoKey: "r", ...more, sessions: [{ outcome: "ok", spans: [], ...session }] }),
      });
    for (const member of ["id", "outcome", "agent", "model", "branch", "startedAt", "free"])
      await traces(member, { [member]: secret(`session ${member}`) });
    await traces("member name", { [secret("session member name")]: 1 });
    for (const member of ["id", "parentId", "name", "kind", "startedAt", "attributes"])
      await traces(`span ${member}`, { spans: [{ [member]: secret(`span ${member}`) }] });
    await traces("span member name", { spans: [{ [secret("span member name")]: {} }] });
    for (const member of ["sessionId", "spanId", "name", "value"])
      await traces(`label ${member}`, {}, { labels: [{ [member]: secret(`label ${member}`) }] });
    await traces("repoKey", {}, { repoKey: oneLine("traces repoKey").slice(0, 512) });
    await traces("clientTimestamp", {}, { clientTimestamp: secret("traces clientTimestamp") });

    const code = data.codes.slice(round * 3);
    const exchange = (where: string, body: object) =>
      send(`exchange ${where}`, {
        path: "/api/connect/exchange",
        body: json({ code: "x", consent: { version: "1" }, ...body }),
      });
    await exchange("code", { code: secret("code") });
    await exchange("deviceLabel", {
      code: code[0],
      consent: { version: "1", deviceLabel: oneLine("deviceLabel").slice(0, 200) },
    });
    await exchange("consent version", {
      code: code[1],
      consent: { version: oneLine("consent version").slice(0, 200) },
    });
    await exchange("unknown members", {
      code: code[2],
      consent: { version: "1", note: secret("unknown consent member") },
      note: secret("unknown exchange member"),
    });

    const request = (where: string, body: object) =>
      send(`request ${where}`, { path: "/api/requests/ingest", body: json({ text: "More themes", ...body }) });
    await request("text", { text: `Please take ${secret("request text")}` });
    await request("context", { from: { page: secret("request context") } });
    await request("member name", { [secret("request member name")]: 1 });

    const pulse = (where: string, body: object) =>
      send(`pulse ${where}`, {
        path: "/api/brain-pulse/ingest",
        body: json({ repoKey: "r", at: new Date().toISOString(), counts: {}, fingerprints: [], ...body }),
      });
    await pulse("repoKey", { repoKey: oneLine("pulse repoKey").slice(0, 512) });
    await pulse("counts", { counts: { [oneLine("pulse count").slice(0, 60)]: 1 } });
    await pulse("fingerprints", { fingerprints: [secret("pulse fingerprint")] });

    const link = (where: string, body: object) =>
      send(`link ${where}`, {
        path: "/api/causal-link",
        body: json({ repoKey: "r", file: "errors.md", heading: "2026-11-01 — a", commit: "0123456789", ...body }),
      });
    for (const member of ["repoKey", "file", "heading", "commit", "sessionId", "promptExcerpt"])
      await link(member, { [member]: oneLine(`link ${member}`) });

    const inUrl = (where: string) => encodeURIComponent(secret(where));
    for (const path of [
      "/api/brain/search?q=",
      "/api/brain/search?repoKey=x&limit=",
      "/api/health?token=",
      "/api/requests/status?ids=",
      "/api/marketplace/public?q=",
      "/api/download/latest?platform=",
      "/api/prompt-for-line?line=1&path=",
      "/api/spend?repoKey=",
      "/docs?q=",
      "/api/license?access_token=",
      "/api/",
    ])
      await send(`target ${path}`, { path: path + inUrl(`target ${path}`) });
    for (const name of [
      "x-api-key",
      "cookie",
      "user-agent",
      "referer",
      "x-forwarded-for",
      "service-api-version",
      "content-type",
      "content-encoding",
      "if-none-match",
      "x-request-id",
      "traceparent",
      "expect",
    ])
      await send(`header ${name}`, {
        path: "/api/telemetry/ingest",
        body: json({ entries: [] }),
        headers: { [name]: oneLine(`header ${name}`) },
      });
    await send("host", { path: "/api/nothing", headers: { host: oneLine("host").replace(/[^\w.-]/g, "") } });
    await send("another's bearer", { path: "/api/policy", headers: { authorization: `Bearer ${oneLine("bearer")}` } });
    await send("basic", {
      path: "/api/policy",
      headers: { authorization: `Basic ${Buffer.from(oneLine("basic")).toString("base64")}` },
    });
    replies.push({
      where: "method",
      reply: await askBytes(
        server.port,
        Buffer.from(`${oneLine("method").replace(/\W/g, "").toUpperCase()} / HTTP/1.1\r\nHost: a\r\n\r\n`),
      ),
    });
    replies.push({
      where: "header line",
      reply: await askBytes(
        server.port,
        Buffer.concat([
          requestBytes({ path: "/api/health" }).subarray(0, -2),
          Buffer.from(`no colon ${oneLine("header line")}\r\n\r\n`),
        ]),
      ),
    });
  }

  // The requests must have reached their places: good ones were stored, bad ones refused.
  expect([...(statuses.get("telemetry payload") ?? [])]).toEqual([200]);
  expect([...(statuses.get("traces free") ?? [])]).toEqual([200]);
  expect([...(statuses.get("brain content") ?? [])]).toEqual([422]);
  expect([...(statuses.get("request text") ?? [])]).toEqual([200]);
  expect([...(statuses.get("pulse repoKey") ?? [])]).toEqual([200]);
  expect([...(statuses.get("link promptExcerpt") ?? [])].every((status) => status < 500)).toBe(true);
  expect([...(statuses.get("exchange deviceLabel") ?? [])]).toEqual([200]);
  expect([...statuses.values()].flatMap((known) => [...known]).filter((status) => status >= 500)).toEqual([]);

  // New tokens are shown once, in their own reply, and nowhere else.
  const rotated = await ask(server.port, {
    method: "POST",
    path: "/api/connect/rotate",
    token,
    headers: { "content-length": "0" },
  });
  expect(rotated.headers.get("cache-control")).toBe("no-store");
  needles.set(JSON.parse(rotated.body).deviceToken, "the rotated token");
  for (const code of data.codes) {
    needles.set(code, "a connect code");
    needles.set(code.replaceAll("-", ""), "a connect code without dashes");
  }
  for (const { where, reply } of replies)
    if (where.startsWith("exchange") && reply.status === 200)
      needles.set(JSON.parse(reply.body).deviceToken, "an exchanged token");

  const found = (bytes: string) => [...needles].filter(([needle]) => bytes.includes(needle)).map(([, where]) => where);
  const files = readdirSync(data.directory).filter(
    (name) => name !== "signing-key.pem" && statSync(join(data.directory, name)).isFile(),
  );
  expect(files).toContain("reckon.db-wal");
  const leaks: string[] = [];
  const search = (when: string) => {
    for (const name of files) {
      const bytes = statSync(join(data.directory, name), { throwIfNoEntry: false })
        ? readFileSync(join(data.directory, name), "latin1")
        : "";
      for (const where of found(bytes)) leaks.push(`${where} is in ${name} ${when}`);
    }
  };
  search("while the server runs");
  for (const { where, reply } of replies) {
    // A reply may hold a new device's token, and the question of a search.
    const { deviceToken, query } = reply.status === 200 && reply.body.startsWith("{") ? JSON.parse(reply.body) : {};
    const body = reply.body.replace(deviceToken ?? "", "").replace(JSON.stringify(query ?? "").slice(1, -1), "");
    for (const leak of found(`${reply.head}\n${body}`)) leaks.push(`${leak} is in the reply to ${where}`);
  }
  await server.end();
  search("after the server ended");
  for (const where of found(server.stderr())) leaks.push(`${where} is in the log`);
  expect([...new Set(leaks)]).toEqual([]);
  expect(server.stderr()).toContain('"event":"request"');
});
