import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { changeRequest, mergeRequest } from "../../src/share/feature-requests/feature-requests.ts";
import { startInstance, type TestInstance } from "../support/instance.ts";

const PATH = "/api/requests/ingest";
const JSON_TYPE = { "content-type": "application/json" };

const stored = (t: TestInstance) => t.rows("SELECT text, context, status, note, merged_into FROM product_requests");
const fresh = { status: "received", note: null, merged_into: null };

describe("requestsIngest", () => {
  it("keeps the request and gives its id, without any credential", async () => {
    const t = await startInstance();
    const answer = await t.post(PATH, { json: { text: "Match whole phrases.", version: "2.1.0" } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.body).toEqual({ ok: true, id: expect.stringMatching(/^req_[\w-]{1,128}$/) });
    expect(t.rows("SELECT id, created_at, updated_at FROM product_requests")).toEqual([
      { id: answer.body.id, created_at: t.clock.now(), updated_at: t.clock.now() },
    ]);
    expect(stored(t)).toEqual([{ ...fresh, text: "Match whole phrases.", context: '{"version":"2.1.0"}' }]);
  });

  it.each([
    ["text", '{"text":"a","request":"b","message":"c"}', "a", '{"request":"b","message":"c"}'],
    ["request", '{"message":"c","request":"b"}', "b", '{"message":"c"}'],
    ["message", '{"message":"c"}', "c", "{}"],
    ["message beside a blank text", '{"text":" \\n","message":"c"}', "c", '{"text":" \\n"}'],
    ["message beside a text that is none", '{"text":{"a":1},"message":"c"}', "c", '{"text":{"a":1}}'],
    ["message beside null", '{"text":null,"request":7,"message":"c"}', "c", '{"text":null,"request":7}'],
  ])("takes %s for the text, and the rest for context", async (_, body, text, context) => {
    const t = await startInstance();
    expect((await t.post(PATH, { body, headers: JSON_TYPE })).status).toBe(200);
    expect(stored(t)).toEqual([{ ...fresh, text, context }]);
  });

  it("keeps everything as it was spelled: white space, numbers, escapes, members named twice further in", async () => {
    const t = await startInstance();
    const body = `{ "n": 12345678901234567890.10 , "text":"  Zeile 1\\n\\u00fc \\ud83d\\ude00\\u0000.  ","a":{"b":1e400,"b" : "\\u00e9"},"__proto__":{"x":[ ]}}`;
    expect((await t.post(PATH, { body, headers: JSON_TYPE })).status).toBe(200);
    expect(stored(t)).toEqual([
      {
        ...fresh,
        text: "  Zeile 1\nü 😀\0.  ",
        context: `{"n":12345678901234567890.10,"a":{"b":1e400,"b" : "\\u00e9"},"__proto__":{"x":[ ]}}`,
      },
    ]);
  });

  it.each([
    ["nothing", ""],
    ["no JSON", "text=hello"],
    ["JSON that breaks off", '{"text":"hello"'],
    ["a list", '["hello"]'],
    ["a string", '"hello"'],
    ["null", "null"],
    ["an empty object", "{}"],
    ["an empty text", '{"text":""}'],
    ["a blank text", '{"text":" \\t\\n\\u00a0"}'],
    ["a text that is a number", '{"text":7}'],
    ["a text that is a list", '{"text":["hello"]}'],
    ["only context", '{"version":"2.1.0"}'],
    ["the text named twice", '{"text":"a","text":"b"}'],
    ["half a character", '{"text":"a\\ud800"}'],
    ["deep nesting", `{"text":"a","x":${"[".repeat(70)}${"]".repeat(70)}}`],
  ])("refuses %s with 400 and stores nothing", async (_, body) => {
    const t = await startInstance();
    const answer = await t.post(PATH, { body, headers: JSON_TYPE });
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ ok: false, error: expect.any(String) });
    expect(t.count("product_requests")).toBe(0);
  });

  it("refuses bytes that are no UTF-8", async () => {
    const t = await startInstance();
    const answer = await t.post(PATH, { body: new Uint8Array([0x7b, 0xff, 0x7d]), headers: JSON_TYPE });
    expect([answer.status, answer.body.ok]).toEqual([400, false]);
  });

  it("takes 8 KB and refuses a byte more with 400, not 413", async () => {
    const t = await startInstance();
    const of = (bytes: number) => `{"text":"${"é".repeat((bytes - 12) / 2)}  "}`.slice(0);
    const whole = `{"text":"${"x".repeat(8192 - 11)}"}`;
    expect(Buffer.byteLength(whole)).toBe(8192);
    expect((await t.post(PATH, { body: whole, headers: JSON_TYPE })).status).toBe(200);
    const wide = of(8194);
    // Bytes count, not characters.
    expect([wide.length < 8192, Buffer.byteLength(wide) > 8192]).toEqual([true, true]);
    for (const body of [`${whole} `, wide, "x".repeat(100_000)]) {
      const answer = await t.post(PATH, { body, headers: JSON_TYPE });
      expect(answer.status).toBe(400);
      expect(answer.body).toEqual({ ok: false, error: expect.stringContaining("8192 bytes") });
    }
    expect(t.count("product_requests")).toBe(1);
  });

  it("refuses other media types and codings in the same shape", async () => {
    const t = await startInstance();
    for (const headers of [{ "content-type": "text/plain" }, { ...JSON_TYPE, "content-encoding": "gzip" }]) {
      const answer = await t.post(PATH, { body: '{"text":"a"}', headers });
      expect([answer.status, answer.body]).toEqual([400, { ok: false, error: expect.any(String) }]);
    }
  });

  it("takes secrets out of the text and of everything beside it, and logs none", async () => {
    const t = await startInstance();
    const secret = (mark: string) => `ghp_${`${mark}1B2c3D4e5F6g7H8i9J0`.repeat(2).slice(0, 36)}`;
    const [one, two, three] = [secret("aa"), secret("bb"), secret("cc")];
    const json = {
      text: `It fails with ${one} set.`,
      env: { GITHUB_TOKEN: two, password: "correct-horse-battery" },
      [three]: "as a name",
      kept: "as it is",
    };
    const answer = await t.post(PATH, { json });
    expect(answer.status).toBe(200);
    const [row] = stored(t);
    expect(row.text).toMatch(/^It fails with \[REDACTED:[\w-]+\] set\.$/);
    expect(JSON.parse(row.context)).toMatchObject({ kept: "as it is" });
    const everything = JSON.stringify([stored(t), t.log, answer.text]);
    for (const hidden of [one, two, three, "correct-horse-battery"]) expect(everything).not.toContain(hidden);
  });
});

describe("the address of requestsIngest", () => {
  const from = (t: TestInstance, address: string) =>
    t.post(PATH, { json: { text: "a" }, headers: { "x-forwarded-for": address } });
  const proxied = () => startInstance({ settings: { trustedProxies: "127.0.0.0/8" } });

  it("is kept as a keyed hash only: the same for the same address, by /64 for IPv6", async () => {
    const t = await proxied();
    const addresses = [
      "198.51.100.7",
      "198.51.100.7",
      "198.51.100.8",
      "2001:db8:1:2::1",
      "2001:db8:1:2:ffff::9",
      "2001:db8:1:3::1",
      "::ffff:198.51.100.7",
    ];
    for (const address of addresses) expect((await from(t, address)).status).toBe(200);
    const hashes: Buffer[] = t
      .rows("SELECT address_hash FROM product_requests ORDER BY rowid")
      .map((row) => row.address_hash);
    const first = hashes.map((hash) => hashes.findIndex((one) => one.equals(hash)));
    expect(first).toEqual([0, 0, 2, 3, 3, 5, 0]);
    const [{ key }] = t.rows("SELECT key FROM installation_keys WHERE purpose = 'request-addresses'");
    expect(key.length).toBe(32);
    expect(hashes[0]).toEqual(createHmac("sha256", key).update("198.51.100.7").digest());
    const everything = JSON.stringify(
      t.rows("SELECT name FROM sqlite_schema WHERE type = 'table'").map(({ name }) => t.rows(`SELECT * FROM ${name}`)),
    );
    for (const address of addresses) expect(everything + t.log.join("")).not.toContain(address);
  });

  it("is hashed with a key of each installation, which a restart keeps", async () => {
    const t = await proxied();
    const other = await proxied();
    await from(t, "198.51.100.7");
    await from(other, "198.51.100.7");
    const hash = (of: TestInstance) => of.rows("SELECT hex(address_hash) AS hash FROM product_requests");
    expect(hash(t)).not.toEqual(hash(other));
    await t.close();
    const again = await startInstance({ directory: t.directory, settings: { trustedProxies: "127.0.0.0/8" } });
    await from(again, "198.51.100.7");
    const [before, after] = hash(again);
    expect(after).toEqual(before);
    expect(again.count("installation_keys")).toBe(1);
  });

  it("may ask ten times a minute, and is told on every reply how often still", async () => {
    const t = await proxied();
    const first = await from(t, "198.51.100.7");
    expect(first.headers.get("ratelimit-limit")).toBe("10");
    expect(first.headers.get("ratelimit-remaining")).toBe("9");
    expect(first.headers.get("ratelimit-reset")).toBe("6");
    expect(first.headers.get("ratelimit-policy")).toBe(
      "request-intake;q=10;w=60, request-intake-site;q=300;w=86400, request-intake-provider;q=1000;w=86400",
    );
    expect(first.headers.get("retry-after")).toBeNull();
    for (let i = 1; i < 10; i++) expect((await from(t, "198.51.100.7")).status).toBe(200);
    const limited = await from(t, "198.51.100.7");
    expect(limited.status).toBe(429);
    expect(limited.body).toEqual({ ok: false, error: expect.any(String) });
    expect(limited.headers.get("retry-after")).toBe("6");
    expect(limited.headers.get("ratelimit-remaining")).toBe("0");
    expect(limited.headers.get("ratelimit-policy")).toBe(first.headers.get("ratelimit-policy"));
    expect((await from(t, "198.51.100.8")).status).toBe(200);
    expect(t.count("product_requests")).toBe(11);
    t.clock.advance(6_000);
    expect((await from(t, "198.51.100.7")).status).toBe(200);
  });

  it("shares a daily quota with all addresses of its site and its provider", async () => {
    const t = await proxied();
    const statuses = async (count: number, address: (i: number) => string) => {
      const all: number[] = [];
      for (let i = 0; i < count; i++) all.push((await from(t, address(i))).status);
      return all;
    };
    const ofSite = await statuses(301, (i) => `2001:db8:1:${i.toString(16)}::1`);
    expect([new Set(ofSite.slice(0, 300)), ofSite[300]]).toEqual([new Set([200]), 429]);
    const ofProvider = await statuses(701, (i) => `2001:db8:${(i + 2).toString(16)}::1`);
    expect(ofProvider.indexOf(429)).toBe(700);
    expect((await from(t, "2001:db9::1")).status).toBe(200);
    expect(t.count("product_requests")).toBe(1001);
  });

  it("does not matter once ten thousand requests are undecided: all are refused", async () => {
    const t = await proxied();
    await from(t, "198.51.100.7");
    const { store } = t.instance.core;
    await store.write(() =>
      store.db.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
        INSERT INTO product_requests SELECT 'req_' || i, 'a', '{}', 'received', NULL, NULL, x'00', 1, 1 FROM n`),
    );
    const refused = await from(t, "203.0.113.9");
    expect([refused.status, refused.body]).toEqual([503, { ok: false, error: expect.any(String) }]);
    expect(t.count("product_requests")).toBe(10_000);
    await changeRequest(t.instance.core, "req_1", { status: "declined" }, COMMAND_LINE);
    expect((await from(t, "203.0.113.9")).status).toBe(200);
    expect((await from(t, "203.0.113.9")).status).toBe(503);
    // A merged request counts as decided.
    await mergeRequest(t.instance.core, "req_2", "req_1", COMMAND_LINE);
    expect((await from(t, "203.0.113.9")).status).toBe(200);
    expect((await from(t, "203.0.113.9")).status).toBe(503);
  });

  it("counts refused requests too, so that rubbish is limited like everything else", async () => {
    const t = await startInstance({ settings: { limitRequestIntake: "2/60" } });
    for (const status of [400, 400, 429])
      expect((await t.post(PATH, { body: "{", headers: JSON_TYPE })).status).toBe(status);
  });
});
