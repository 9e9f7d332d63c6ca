import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { generatedFiles } from "../../build/generate.ts";
import { startInstance, startWithDevice, type TestInstance } from "../support/instance.ts";

/** What clients are told of a request's parts, and what the server makes of them: the two must be one. */

interface Schema {
  readonly type?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly not?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly propertyNames?: Schema;
  readonly maxProperties?: number;
}
interface Operation {
  readonly parameters: readonly { readonly name?: string; readonly schema?: Schema }[];
}

const document = JSON.parse(generatedFiles()["docs/generated/openapi.json"] as string) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};
const bodyOf = (name: string) => document.components.schemas[`${name}Request`] as Schema;
const queryOf = (path: string, name: string) =>
  document.paths[path]?.get?.parameters.find((one) => one.name === name)?.schema as Schema;

/** Whether a value fits, by the keywords that the members here are described with (JSON Schema 2020-12). */
function fits(schema: Schema, value: unknown): boolean {
  const { type, not, anyOf, pattern } = schema;
  if (schema.enum && !schema.enum.includes(value)) return false;
  if (not && fits(not, value)) return false;
  if (anyOf && !anyOf.some((one) => fits(one, value))) return false;
  if (type === "integer" && !Number.isInteger(value)) return false;
  if (typeof value === "number" && !(value >= (schema.minimum ?? -Infinity) && value <= (schema.maximum ?? Infinity)))
    return false;
  if (type !== undefined && type !== "integer" && type !== kindOf(value)) return false;
  if (typeof value === "string") {
    const { length } = [...value];
    if (length < (schema.minLength ?? 0) || length > (schema.maxLength ?? Infinity)) return false;
    return pattern === undefined || new RegExp(pattern, "u").test(value);
  }
  if (kindOf(value) !== "object") return true;
  const members = Object.entries(value as object);
  const names = members.map(([name]) => name);
  if (schema.required?.some((name) => !names.includes(name)) || members.length > (schema.maxProperties ?? Infinity))
    return false;
  return members.every(([name, one]) => {
    if (schema.propertyNames && !fits(schema.propertyNames, name)) return false;
    const own = schema.properties?.[name] ?? schema.additionalProperties;
    return typeof own !== "object" || fits(own, one);
  });
}

const kindOf = (value: unknown) => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);

/** Texts of characters that names may or may not hold. With `around`, also of lengths near that bound, some with surrogate pairs. */
const text = fc
  .array(
    fc.constantFrom(
      ...["a", "Z", "0", "1", "9", ".", "/", "\\", ":", " ", "é", "😀", "日", "\0", "\n", "\u001f"],
      ...["\u007f", "\u009f", "\u00a0", "\u2028", "\u202e", "\u200b", "\ufeff", "\uffff"],
    ),
    { maxLength: 8 },
  )
  .map((some) => some.join(""));
const around = (most: number) =>
  fc.oneof(
    text,
    fc.constantFrom("x", "é", "😀").chain((one) => fc.constantFrom(most, most + 1).map((n) => one.repeat(n))),
  );
const number = fc.oneof(
  fc.integer({ min: 0, max: 30_000 }).map(String),
  fc.constantFrom(
    "",
    "0",
    "01",
    "0887590",
    "199",
    "200",
    "20000",
    "20001",
    "1000",
    "1001",
    "1000000",
    "1000001",
    "1e3",
    "-1",
    " 5",
  ),
);
const day = fc.oneof(
  fc
    .date({ min: new Date("0001-01-02T00:00:00Z"), max: new Date("9999-12-30T00:00:00Z"), noInvalidDate: true })
    .map((at) => at.toISOString()),
  fc.constantFrom(
    "2026-02-29",
    "2024-02-29",
    "1900-02-29",
    "2000-02-29",
    "0000-01-01",
    "0001-01-01",
    "9999-12-31",
    "2026-04-31",
  ),
  fc.constantFrom(
    "2026-11-21T24:00:00Z",
    "2026-11-21T08:00Z",
    "2026-11-21T08:00:00",
    "2026-11-21T08:00:00+25:00",
    "30d",
    "0d",
    "9999d",
    "10000d",
  ),
);

async function agrees<T>(
  values: fc.Arbitrary<T>,
  schema: Schema,
  send: (value: T) => Promise<number>,
  part: (value: T) => unknown = (value) => value,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(values, async (value) => {
      const status = await send(value);
      expect([value, status === 400 ? "refused" : "taken"]).toEqual([
        value,
        fits(schema, part(value)) ? "taken" : "refused",
      ]);
      expect(status).toBeLessThan(500);
    }),
    { numRuns: 80 },
  );
}

const QUERIES: readonly (readonly [path: string, name: string, values: fc.Arbitrary<string>, besides: string])[] = [
  ["/api/brain/search", "repoKey", around(512), "q=a"],
  ["/api/brain/briefing", "maxBytes", number, ""],
  ["/api/causal-link", "file", around(512), ""],
  ["/api/causal-link", "sessionId", around(256), ""],
  ["/api/causal-link", "limit", number, ""],
  ["/api/causal-link", "after", text, ""],
  ["/api/prompt-for-line", "path", around(1_024), "line=1"],
  ["/api/spend", "until", day, "since=1d"],
  // A form also sends fields that were left empty; a client made from the document never does.
  ["/api/marketplace/public", "limit", number.filter((one) => one !== ""), ""],
  ["/api/marketplace/public", "offset", number.filter((one) => one !== ""), ""],
];

describe("the published schema of a query", () => {
  it.each(QUERIES)("of %s says of %s what the server takes", async (path, name, values, besides) => {
    const { t, token } = await startWithDevice();
    const schema = queryOf(path, name);
    await agrees(
      values,
      schema,
      async (value) => (await t.get(`${path}?${besides}&${name}=${encodeURIComponent(value)}`, { token })).status,
      // Clients write a number as JSON does.
      (value) => (schema.type === "integer" && `${Number(value)}` === value ? Number(value) : value),
    );
  });

  it("of spend tells which first days are taken, however far back", async () => {
    const { t, token } = await startWithDevice();
    const send = (query: string) => t.get(`/api/spend?${query}`, { token });
    await agrees(
      day,
      queryOf("/api/spend", "since"),
      async (since) => (await send(`until=9999-12-31&since=${encodeURIComponent(since)}`)).status,
    );
    expect((await send("until=0001-01-02&since=9999d")).body).toMatchObject({
      since: "0001-01-01",
      until: "0001-01-02",
    });
  });
});

/** A body of which one member is varied. */
const BODIES: readonly (readonly [
  name: string,
  path: string,
  member: string,
  values: fc.Arbitrary<string>,
  body: (value: string) => object,
  part: (schema: Schema) => Schema,
])[] = [
  [
    "TelemetryIngest",
    "/api/telemetry/ingest",
    "mode",
    around(100),
    (mode) => ({ mode, entries: [] }),
    (schema) => schema.properties?.mode as Schema,
  ],
  [
    "TelemetryIngest",
    "/api/telemetry/ingest",
    "repoKey",
    around(512),
    (repoKey) => ({ repoKey, entries: [] }),
    (schema) => schema.properties?.repoKey as Schema,
  ],
  [
    "ConnectExchange",
    "/api/connect/exchange",
    "consent.deviceLabel",
    around(200),
    (deviceLabel) => ({ code: "x", consent: { version: "1", deviceLabel } }),
    (schema) => schema.properties?.consent?.properties?.deviceLabel as Schema,
  ],
];

describe("the published schema of a body", () => {
  const post = async (t: TestInstance, path: string, json: unknown, ask = {}) =>
    (await t.post(path, { ...ask, json })).status;
  const settings = { limitExchange: "off", limitBrain: "off", limitTelemetry: "off", limitRequestIntake: "off" };

  it.each(BODIES)("of %s at %s says of %s what the server takes", async (name, path, _, values, body, part) => {
    const { t, token } = await startWithDevice({ settings });
    await agrees(values, part(bodyOf(name)), (value) => post(t, path, body(value), { token }));
  });

  it("of a brain file says which paths are taken, except for joiners, line separators and the length in bytes", async () => {
    const { t, token } = await startWithDevice({ settings });
    const path = bodyOf("BrainIngest").properties?.files?.items?.properties?.path as Schema;
    let version = 0;
    const paths = fc.oneof(
      text.filter((value) => !/[\u2028\u2029]/.test(value)),
      fc.constantFrom(
        ".",
        "..",
        "a/..",
        "a/./b",
        "...",
        "a/...b",
        "C:a",
        "a:b",
        "/a",
        "a/",
        "a//b",
        "x".repeat(512),
        "x".repeat(513),
      ),
    );
    await agrees(paths, path, (value) =>
      post(t, "/api/brain/ingest", { version: ++version, files: [{ path: value, content: "" }] }, { token }),
    );
  });

  it("of a causal link asks for a session or a commit", async () => {
    const { t, token } = await startWithDevice({ settings });
    const link = fc.record(
      { repoKey: around(512), file: text, heading: text, sessionId: text, commit: fc.constantFrom("3f2a9c1", "xyz") },
      { requiredKeys: ["repoKey", "file", "heading"] },
    );
    await agrees(link, bodyOf("CausalLinkCreate"), (json) => post(t, "/api/causal-link", json, { token }));
  });

  it("of a product request asks for a text in one of three members, and leaves the others free", async () => {
    const t = await startInstance({ settings });
    const value = fc.constantFrom("help", " ", "", "\n\t", 0, null, {}, []);
    const request = fc.record({ text: value, request: value, message: value }, { requiredKeys: [] });
    await agrees(request, bodyOf("RequestsIngest"), (json) => post(t, "/api/requests/ingest", json));
    expect(await post(t, "/api/requests/ingest", { text: "half \ud800", message: "whole" })).toBe(200);
    expect(t.rows("SELECT count(*) AS n FROM product_requests WHERE text = 'whole'")).toEqual([{ n: 1 }]);
  });

  it("of a pulse says which names and how many counts there may be", async () => {
    const { t, token } = await startWithDevice({ settings });
    const names = fc.oneof(around(64), fc.constantFrom("__proto__", "constructor", "prototype", "open"));
    const counts = fc.oneof(
      fc.array(fc.tuple(names, fc.constantFrom(0, 1, -1, 1.5, 9_007_199_254_740_991)), { maxLength: 3 }),
      fc.constantFrom(64, 65).map((n) => Array.from({ length: n }, (_, i) => [`n${i}`, 1] as const)),
    );
    const pulse = counts.map((pairs) => ({
      at: "2026-11-21T07:00:00Z",
      fingerprints: [],
      counts: Object.fromEntries(pairs),
    }));
    await agrees(pulse, bodyOf("BrainPulseIngest"), (json) => post(t, "/api/brain-pulse/ingest", json, { token }));
  });

  it("of a poll names the one grant there is", () => {
    expect(bodyOf("CliDeviceToken").properties?.grant_type?.enum).toEqual([
      "urn:ietf:params:oauth:grant-type:device_code",
    ]);
  });
});
