import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mightHoldSecret, partsThatMightHold, redactJson } from "../../../src/redact/redact.ts";
import { hex, word } from "../../../src/redact/rule.ts";

const GITHUB = `ghp_${word(36)}`;

describe("a JSON document", () => {
  test("keeps every byte outside the literal that held a secret", () => {
    const text = `{ "n": 1.0E+2, "n": 1e400,\t"s":"\\u0041\\/b", "k" : "x ${GITHUB} y" ,"t":[ -0 ] }\n`;
    const out = redactJson(text);
    expect(out.text).toBe(text.replace(GITHUB, "[REDACTED:github-token]"));
    const at = text.indexOf(`"x ${GITHUB}`);
    expect(out.findings).toEqual([
      { rule: "github-token", strength: "certain", start: at, end: at + GITHUB.length + 6 },
    ]);
  });

  test("is returned unchanged when it holds no secret", () => {
    const text = '{"a":"b\\u00e9","c":[1,2]}';
    expect(redactJson(text)).toEqual({ text, findings: [] });
  });

  test("is searched behind its escapes", () => {
    const hidden = `\\u0067${GITHUB.slice(1)}`;
    expect(redactJson(`["${hidden}"]`).text).toBe('["[REDACTED:github-token]"]');
    const hook = `hooks.slack.com/${"services"}/T${word(9)}/B${word(9)}/${word(24)}`;
    expect(redactJson(`{"u":"https:\\/\\/${hook.replaceAll("/", "\\/")}"}`).text).toBe(
      '{"u":"https://[REDACTED:slack-webhook]"}',
    );
  });

  test("is searched in JSON that stands in its strings", () => {
    const inner = JSON.stringify({ password: "Zebra2024x", n: 1 });
    expect(JSON.parse(redactJson(JSON.stringify({ body: inner })).text)).toEqual({
      body: '{"password":"[REDACTED:assigned-secret]","n":1}',
    });
  });

  test("is searched in its keys", () => {
    expect(redactJson(`{"${GITHUB}":1}`).text).toBe('{"[REDACTED:github-token]":1}');
  });

  test("loses the string value of a password-like key, whatever is in it", () => {
    for (const key of ["password", "db.password", "clientSecret", "x-api-key", "Authorization"]) {
      const out = redactJson(
        JSON.stringify({
          [key]: 'Zebra 2024 \\ "x'.replaceAll(" ", key === "password" ? " " : ""),
          other: "Zebra2024",
        }),
      );
      expect(JSON.parse(out.text)).toEqual({ [key]: "[REDACTED:assigned-secret]", other: "Zebra2024" });
      expect(out.findings).toMatchObject([{ rule: "assigned-secret", strength: "likely" }]);
    }
  });

  test("loses the value of a key of Tink that its type does not call public", () => {
    const key = (type: string) => ({
      keyMaterialType: "SYMMETRIC",
      typeUrl: `type.googleapis.com/google.crypto.tink.${type}`,
      value: "GhDLeulEJRDC8/19NMUXqw==",
    });
    const out = redactJson(JSON.stringify([key("AesGcmKey"), key("EcdsaPublicKey"), key("KmsAeadKey")]));
    expect(JSON.parse(out.text)).toEqual([
      { ...key("AesGcmKey"), value: "[REDACTED:assigned-secret]" },
      key("EcdsaPublicKey"),
      key("KmsAeadKey"),
    ]);
  });

  test("loses it with any white space JSON allows around the colon", () => {
    const gap = " \t\r\n".repeat(50);
    expect(redactJson(`{"password"${gap}:${gap}"Zebra2024x"}`).text).toBe(
      `{"password"${gap}:${gap}"[REDACTED:assigned-secret]"}`,
    );
  });

  test("names the certain rule where a password-like key holds a provider's token", () => {
    expect(redactJson(`{"token":"${GITHUB}"}`)).toMatchObject({
      text: '{"token":"[REDACTED:github-token]"}',
      findings: [{ strength: "certain" }],
    });
  });

  test("loses the value of an OTLP attribute with a password-like name", () => {
    const text =
      '{"attributes":[{"key":"db.password","value":{"stringValue":"Zebra2024x"}},{"key":"db.name","value":{"stringValue":"Zebra2024x"}}]}';
    expect(redactJson(text).text).toBe(text.replace("Zebra2024x", "[REDACTED:assigned-secret]"));
  });

  test.each([
    [{ Authorization: "Bot Zebra2024x" }, { Authorization: "[REDACTED:assigned-secret]" }],
    [
      { headers: [{ name: "Authorization", value: "SSWS Zebra2024x" }] },
      { headers: [{ name: "Authorization", value: "[REDACTED:assigned-secret]" }] },
    ],
    [
      ["Accept", "text/html1", "Authorization", "Key Zebra2024x", "Host", "example2"],
      ["Accept", "text/html1", "Authorization", "[REDACTED:assigned-secret]", "Host", "example2"],
    ],
    [
      { cookie: "theme=dark; session=0a1b2c3d4e5f6a7b; x=1" },
      { cookie: "theme=dark; session=[REDACTED:session-cookie]; x=1" },
    ],
    [
      { auths: { "registry.example": { auth: "dXNlcjpaZWJyYTIwMjQ=" } } },
      { auths: { "registry.example": { auth: "[REDACTED:assigned-secret]" } } },
    ],
    [{ auth: "basic" }, { auth: "basic" }],
  ])("loses what its headers and logins hold: %j", (sent, kept) => {
    expect(JSON.parse(redactJson(JSON.stringify(sent)).text)).toEqual(kept);
    expect(JSON.parse(redactJson(JSON.stringify(sent, null, 2)).text)).toEqual(kept);
  });

  test("keeps numbers, placeholders and objects under a password-like key", () => {
    for (const value of [12345678, null, true, "", "string", `$${"{PASSWORD}"}`, "***", { a: "b" }, ["Zebra"]]) {
      const text = JSON.stringify({ password: value });
      expect(redactJson(text).text).toBe(text);
    }
  });

  const leaf = fc.oneof(
    fc.string(),
    fc.constantFrom(
      GITHUB,
      `x ${GITHUB}`,
      `AKIA${word(3)}`,
      "Zebra2024x",
      "Bearer abc123DEF456ghi7",
      'password="Zebra2024x"',
      "C:\\dir\\",
      '"',
      "\\",
      "\u2028",
      "https://a:Zebra2024@h",
      `${hex(32)}-us12`,
    ),
    fc.integer(),
    fc.constant(null),
  );
  const keys = fc.oneof(
    fc.string(),
    fc.constantFrom(
      "password",
      "key",
      "value",
      "stringValue",
      "name",
      "api_key",
      "apiKey",
      "token",
      "a\\b",
      "\npassword",
      "x.pass",
    ),
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie("tree"), { maxLength: 4 }),
      fc.dictionary(keys, tie("tree"), { maxKeys: 4 }),
    ),
  }));
  /** The document as another writer would spell it, with needless escapes. */
  const respelled = (json: string, how: number): string =>
    how === 0
      ? json
      : how === 1
        ? json.replaceAll("/", "\\/")
        : json.replaceAll(/[p-t](?=[^"\\]*")/g, (c) => (json.length % 2 ? c : `\\u00${c.charCodeAt(0).toString(16)}`));

  test("of any shape stays valid JSON of the same shape, and redacting it again changes nothing", () => {
    const shape = (v: unknown): unknown =>
      Array.isArray(v) ? v.map(shape) : v !== null && typeof v === "object" ? Object.values(v).map(shape) : typeof v;
    fc.assert(
      fc.property(tree, fc.nat(2), (value, how) => {
        let text = JSON.stringify(value);
        const spelled = respelled(text, how);
        try {
          if (JSON.stringify(JSON.parse(spelled)) === text) text = spelled;
        } catch {
          // The respelling broke an escape, so the plain spelling is used.
        }
        const out = redactJson(text);
        expect(shape(JSON.parse(out.text))).toEqual(shape(value));
        expect(out.findings.length === 0).toBe(out.text === text);
        expect(redactJson(out.text)).toEqual({ text: out.text, findings: [] });
        if (!mightHoldSecret(text)) expect(out.findings).toEqual([]);
      }),
      { numRuns: 1500 },
    );
  });

  test("holds no secret in any decoded string when the quick check finds none", async () => {
    const { findSecrets } = await import("../../../src/redact/redact.ts");
    const strings = (v: unknown): string[] =>
      typeof v === "string"
        ? [v]
        : v !== null && typeof v === "object"
          ? [...Object.keys(v), ...Object.values(v).flatMap(strings)]
          : [];
    fc.assert(
      fc.property(tree, (value) => {
        if (!mightHoldSecret(JSON.stringify(value)))
          for (const text of strings(value)) expect(findSecrets(text)).toEqual([]);
      }),
      { numRuns: 1500 },
    );
  });

  test("within another holds no secret when the quick check found none in that part", async () => {
    const parts = fc.array(fc.tuple(fc.dictionary(keys, tree, { maxKeys: 3 }), fc.nat(2)), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(parts, async (drawn) => {
        const spelled = drawn.map(([value, how]) => respelled(JSON.stringify(value), how));
        const [text, places] = ['{"entries":[', [] as { start: number; end: number }[]];
        let whole = text;
        for (const [i, part] of spelled.entries()) {
          whole += `${i === 0 ? "" : ","}{"seq":${i},"payload":`;
          places.push({ start: whole.length, end: whole.length + part.length });
          whole += `${part}}`;
        }
        const suspects = await partsThatMightHold(`${whole}]}`, places, () => undefined);
        for (const [i, part] of spelled.entries())
          if (!suspects.has(i)) expect(redactJson(part)).toEqual({ text: part, findings: [] });
      }),
      { numRuns: 1500 },
    );
  });

  test("of many parts names only those that hold a secret", async () => {
    const parts = Array.from({ length: 100 }, (_, i) =>
      JSON.stringify({ type: "prompt", text: i % 7 === 3 ? `use ${GITHUB}` : `Fix the login test, step ${i} of a\\b` }),
    );
    const places = parts.map((part, i) => {
      const start = parts.slice(0, i).join(",").length + (i === 0 ? 1 : 2);
      return { start, end: start + part.length };
    });
    const suspects = await partsThatMightHold(`[${parts.join(",")}]`, places, () => undefined);
    expect([...suspects].sort((a, b) => a - b)).toEqual([...parts.keys()].filter((i) => i % 7 === 3));
  });
});
