import * as v from "valibot";
import { expect, it } from "vitest";
import { API, CONTRACT } from "../../src/app.ts";
import { faultsOf } from "../../src/platform/http/endpoint.ts";
import { SHAPE_MEDIA, SHAPE_SCHEMAS } from "../../src/platform/http/faults.ts";
import { openApiDocument } from "../../src/platform/http/openapi.ts";

/** The examples in the document are exchanges that the server would take and give. */

// biome-ignore lint/suspicious/noExplicitAny: a document of any shape
const document: any = openApiDocument(API, "https://reckon.example.com");

/** What is part of the public contract, and so of the document. */
const LISTED = CONTRACT.filter(({ spec }) => spec.tag !== null);

/** A path as the document spells it. */
const documented = (path: string) => path.replace(/(?:\*\*)?:(\w+)/g, "{$1}");

it.each(CONTRACT.map((one) => [one.spec.id, one.spec] as const))("shows %s whole", (_, spec) => {
  const { example } = spec;
  expect(v.safeParse(spec.ok, example?.ok).issues).toBeUndefined();
  if (spec.body) expect(v.safeParse(spec.body.schema, example?.body).issues).toBeUndefined();
  const query = example?.query ?? {};
  if (spec.query) expect(v.safeParse(spec.query, query).issues).toBeUndefined();
  if (spec.tag === null) return;
  const operation = document.paths[documented(spec.path)][spec.method.toLowerCase()];
  const shown = operation.parameters.filter((one: { in?: string; example?: string }) => one.example !== undefined);
  expect(shown.map(({ name, example }: { name: string; example: string }) => [name, `${example}`])).toEqual(
    Object.entries(query),
  );
});

it("refers only to parts of its own, in examples too, because generators of clients follow every $ref", () => {
  const references = JSON.stringify(document).match(/"\$ref":"[^"]*"/g) ?? [];
  expect(references.length).toBeGreaterThan(100);
  expect(references.filter((one) => !one.startsWith('"$ref":"#/components/'))).toEqual([]);
});

it("has no open object with only constant members, for which a generator makes a value that does not compile", () => {
  const faulty = Object.entries<Record<string, object>>(document.components.schemas).filter(
    ([, { properties = {}, additionalProperties }]) =>
      additionalProperties &&
      Object.keys(properties).length > 0 &&
      Object.values(properties).every((one) => "const" in one),
  );
  expect(faulty.map(([name]) => name)).toEqual([]);
});

interface Member {
  readonly type?: string;
  readonly format?: string;
  readonly const?: unknown;
}

/** The members of all objects within. */
const members = (schema: object): [string, Member][] =>
  Object.entries(schema).flatMap(([name, one]) => {
    if (typeof one !== "object" || one === null) return [];
    const own = name === "properties" ? Object.entries<Member>(one) : [];
    return [...own, ...members(one)];
  });

it("has no member of type null and no constant that is not a string, at which generators of clients fail", () => {
  const found = members(document);
  expect(found.length).toBeGreaterThan(500);
  expect(found.filter(([, { type }]) => type === "null")).toEqual([]);
  const constants = found.filter(([, one]) => "const" in one && typeof one.const !== "string");
  expect(constants).toEqual([]);
});

it("gives everything it describes a type, and each number a format, because generators of clients guess otherwise", () => {
  const schemas = (one: object): Member[] => [
    ...("type" in one || "const" in one ? [one as Member] : []),
    ...Object.values(one).flatMap((within) => (typeof within === "object" && within !== null ? schemas(within) : [])),
  ];
  const parameters = Object.values<Record<string, { parameters: { in?: string; schema: object }[] }>>(document.paths)
    .flatMap(Object.values<{ parameters: { in?: string; schema: object }[] }>)
    .flatMap(({ parameters }) => parameters)
    .filter((one) => one.in !== undefined);
  expect(parameters.length).toBeGreaterThan(50);
  expect(parameters.filter(({ schema }) => !("type" in schema))).toEqual([]);
  const found = schemas(document.components.schemas);
  expect(found.filter((one) => one.type === undefined && typeof one.const !== "object")).toEqual([]);
  expect(
    found.filter(({ type, format, const: only }) => type === "number" && format !== "double" && only === undefined),
  ).toEqual([]);
  // Tokens of a month, numbers of records and what senders count by need more than 32 bits.
  expect(found.filter(({ type, format }) => type === "integer" && format !== "int64")).toEqual([]);
  const whole = parameters.filter(({ schema }) => (schema as Member).type === "integer");
  expect(whole.filter(({ schema }) => (schema as Member).format !== "int64")).toEqual([]);
  expect(
    document.components.schemas.BrainSearchReply.properties.hits.items.properties.source.properties.version.type,
  ).toBe("integer");
  // Beside members, a choice of which of them must be there is a model without any to generators for Python.
  const choices = found.filter((one) => "properties" in one && "anyOf" in one) as (Member & { anyOf: object[] })[];
  expect(choices.flatMap(({ anyOf }) => anyOf).filter((one) => !("properties" in one))).toEqual([]);
  // A choice within a choice has no name, and a client in Go cannot read it.
  expect(JSON.stringify(document)).not.toMatch(/"anyOf":\[\{"anyOf"/);
});

it("has no line separator in a pattern, because a generator writes it out and the pattern ends there", () => {
  expect(JSON.stringify(document).match(/"pattern":"[^"]*(?:\u2028|\u2029|u2028|u2029)[^"]*"/g)).toBeNull();
});

it("describes bytes by their media type alone, from which generators of clients make code that compiles and is true", () => {
  const bodies = LISTED.filter(({ spec }) => spec.body?.protobuf).map(
    ({ spec }) => document.paths[spec.path].post.requestBody.content["application/x-protobuf"],
  );
  expect(bodies).toEqual([{}, {}, {}]);
  expect(document.components.schemas.LedgerTileReply).not.toHaveProperty("type");
});

it("declares whole numbers in paths and queries as numbers, as in the replies that they come from", () => {
  const parameters = Object.entries<Record<string, { parameters: { name: string; schema: { type: string } }[] }>>(
    document.paths,
  ).flatMap(([path, methods]) =>
    Object.values(methods).flatMap((one) => one.parameters.map(({ name, schema }) => [path, name, schema?.type])),
  );
  const counts = parameters.filter(([, name]) => /^(limit|offset|maxBytes|line|count|startIndex)$/.test(`${name}`));
  expect(counts.length).toBeGreaterThan(10);
  expect(counts.filter(([, , type]) => type !== "integer")).toEqual([]);
  expect(parameters).toContainEqual(["/api/sessions/{id}/spans", "id", "integer"]);
  expect(parameters).toContainEqual(["/api/errors/{id}", "id", "string"]);
});

it("shows every fault in its shape, under its own status", () => {
  let seen = 0;
  for (const endpoint of LISTED) {
    const { responses } = document.paths[documented(endpoint.spec.path)][endpoint.spec.method.toLowerCase()];
    const declared = new Set((endpoint.spec.also ?? []).map(({ status }) => status));
    for (const fault of faultsOf(endpoint).filter(({ status }) => !declared.has(status))) {
      const example =
        responses[fault.status].content[SHAPE_MEDIA[fault.shape] ?? "application/json"].examples[fault.name];
      const schema = SHAPE_SCHEMAS[fault.shape];
      const strict = schema.type === "object" ? v.strictObject(schema.entries) : schema;
      expect([endpoint.spec.id, fault.name, v.safeParse(strict, example?.value).issues]).toEqual([
        endpoint.spec.id,
        fault.name,
        undefined,
      ]);
      seen++;
    }
  }
  expect(seen).toBeGreaterThan(100);
});

it("shows refusals in Protocol Buffers where those are taken, and the entity tag of what can be asked for again", () => {
  const responsesOf = ({ spec }: (typeof LISTED)[number]) =>
    document.paths[documented(spec.path)][spec.method.toLowerCase()].responses;
  const binary = LISTED.filter(({ spec }) => spec.body?.protobuf);
  expect(binary.length).toBeGreaterThan(0);
  for (const endpoint of binary)
    for (const status of [400, 401, 403, 413, 429, 503])
      expect([endpoint.spec.id, status, Object.keys(responsesOf(endpoint)[status].content)]).toEqual([
        ...[endpoint.spec.id, status],
        ["application/json", "application/x-protobuf"],
      ]);
  for (const endpoint of LISTED.filter(({ spec }) => spec.also?.some(({ status }) => status === 304)))
    expect([endpoint.spec.id, Object.keys(responsesOf(endpoint)[200].headers)]).toEqual([
      endpoint.spec.id,
      expect.arrayContaining(["ETag"]),
    ]);
});

it("names the rate-limit headers wherever a limited reply comes, and on every reply where they are always sent", () => {
  for (const { spec } of LISTED.filter(({ spec }) => spec.limits.length > 0)) {
    const { responses } = document.paths[documented(spec.path)][spec.method.toLowerCase()];
    const rate = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy"];
    expect(Object.keys(responses[429].headers)).toEqual(expect.arrayContaining([...rate, "Retry-After"]));
    const always = spec.limits.some(({ headers }) => headers === "always");
    for (const status of [`${spec.okStatus ?? 200}`, "400"].filter((one) => one in responses)) {
      const named = Object.keys(responses[status].headers).filter((name) => rate.includes(name));
      expect([spec.id, status, named.length]).toEqual([spec.id, status, always ? 4 : 0]);
    }
  }
});
