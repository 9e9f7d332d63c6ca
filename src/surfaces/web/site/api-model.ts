import type { Core } from "../../../core.ts";
import { perOwner } from "../../../kit/memo.ts";
import { servedDocument } from "../../../platform/http/openapi-endpoint.ts";
import { type Member, membersOf, type Schema, typeOf } from "./api-schema.ts";

/** The OpenAPI document put in the order in which a reader wants it; both renditions of the reference are made from this. */

export interface Parameter {
  readonly name: string;
  readonly where: string;
  readonly required: boolean;
  readonly type: string;
  readonly says: string;
}

export interface Shown {
  readonly media: string;
  readonly members: readonly Member[];
  /** JSON, indented. */
  readonly example: string | undefined;
}

export interface Answer {
  readonly status: number;
  readonly says: string;
  readonly headers: readonly string[];
  readonly content: Shown | undefined;
}

/** A way in which the operation refuses. */
export interface Failure {
  readonly status: number;
  readonly code: string;
  readonly says: string;
  /** Name of the body's shape. */
  readonly shape: string;
  /** JSON on one line. */
  readonly example: string;
  readonly headers: readonly string[];
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly tag: string;
  /** Name of the security scheme; undefined when anybody may. */
  readonly auth: string | undefined;
  readonly parameters: readonly Parameter[];
  readonly body:
    | (Shown & { readonly required: boolean; readonly says: string | undefined; readonly medias: readonly string[] })
    | undefined;
  readonly answers: readonly Answer[];
  readonly failures: readonly Failure[];
  /** A command that does it. */
  readonly curl: string;
}

export interface Reference {
  readonly baseUrl: string;
  readonly tags: readonly { readonly name: string; readonly says: string; readonly operations: readonly Operation[] }[];
  readonly operations: readonly Operation[];
  readonly schemes: readonly { readonly name: string; readonly says: string; readonly format: string | undefined }[];
  readonly headers: readonly { readonly name: string; readonly says: string }[];
  readonly shapes: readonly { readonly name: string; readonly members: readonly Member[] }[];
}

// biome-ignore lint/suspicious/noExplicitAny: our own document, whose shape its generator and a linter vouch for
type Node = any;

const KEPT_IN: Readonly<Record<string, string>> = {
  deviceToken: "$DEVICE_TOKEN",
  cliToken: "$CLI_TOKEN",
  readToken: "$READ_TOKEN",
};
const indented = (value: unknown) => (value === undefined ? undefined : JSON.stringify(value, null, 2));

/** The reference of this instance's API. */
export const apiReference: (core: Core) => Reference = perOwner((core: Core) => {
  const document: Node = servedDocument(core);
  const { components } = document;
  const follow = (node: Node): Node =>
    typeof node?.$ref === "string"
      ? node.$ref
          .split("/")
          .slice(1)
          .reduce((at: Node, key: string) => at[key.replaceAll("~1", "/")], document)
      : node;
  const schemaOf = (node: Node) => follow(node) as Schema;
  const baseUrl = document.servers[0].url as string;

  const shown = (content: Node): Shown | undefined => {
    const [media] = Object.keys(content ?? {});
    if (media === undefined) return undefined;
    const { schema, example } = content[media];
    return { media, members: membersOf(schemaOf(schema), schemaOf), example: indented(example) };
  };

  const operationOf = (path: string, method: string, op: Node): Operation => {
    const auth = Object.keys(op.security[0] ?? {})[0];
    const parameters = op.parameters.map(follow).map(
      ({ name, in: where, required, schema, description }: Node): Parameter => ({
        ...{ name, where, required },
        type: [typeOf(schema, schemaOf), ...(schema.default === undefined ? [] : [`default ${schema.default}`])].join(
          ", ",
        ),
        says: description ?? "",
      }),
    );
    const content = shown(op.requestBody?.content);
    const answers: Answer[] = [];
    const failures: Failure[] = [];
    for (const [status, reply] of Object.entries<Node>(op.responses)) {
      const headers = Object.keys(reply.headers ?? {});
      const json = reply.content?.["application/json"];
      if (json?.examples)
        for (const { summary, description, value } of Object.values<Node>(json.examples))
          failures.push({
            ...{ status: Number(status), code: summary, says: description, headers },
            shape: shapeName(json.schema, value),
            example: JSON.stringify(value),
          });
      else answers.push({ status: Number(status), says: reply.description, headers, content: shown(reply.content) });
    }
    const query = op.parameters.filter((one: Node) => one.in === "query" && one.example !== undefined);
    return {
      ...{
        id: op.operationId,
        method: method.toUpperCase(),
        path,
        summary: op.summary,
        tag: op.tags[0],
        auth,
        parameters,
      },
      body: content && {
        ...content,
        required: op.requestBody.required,
        says: op.requestBody.description,
        medias: Object.keys(op.requestBody.content),
      },
      ...{ answers, failures },
      curl: curlOf(method, baseUrl + path, auth, query, content?.example),
    };
  };

  const shapeName = (schema: Node, value: Node): string => {
    const names = (schema.anyOf ?? [schema]).map(({ $ref }: Node) => String($ref).split("/").at(-1));
    const fits = (name: string) =>
      Object.keys(value).every((key) => components.schemas[name].properties?.[key]) &&
      components.schemas[name].required.every((key: string) => key in value);
    return names.find(fits) ?? names.at(-1);
  };

  const operations = Object.entries<Node>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Node>(methods).map(([method, op]) => operationOf(path, method, op)),
  );
  const shapes = [...new Set(operations.flatMap(({ failures }) => failures.map(({ shape }) => shape)))];
  return {
    baseUrl,
    operations,
    tags: document.tags.map(({ name, description }: Node) => ({
      ...{ name, says: description },
      operations: operations.filter(({ tag }) => tag === name),
    })),
    schemes: Object.entries<Node>(components.securitySchemes).map(([name, { description, bearerFormat }]) => ({
      ...{ name, says: description, format: bearerFormat },
    })),
    headers: ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy", "Retry-After"].map(
      (name) => ({ name, says: components.headers[name.replaceAll("-", "")].description }),
    ),
    shapes: shapes.map((name) => ({ name, members: membersOf(components.schemas[name], schemaOf) })),
  };
});

function curlOf(
  method: string,
  url: string,
  auth: string | undefined,
  query: readonly Node[],
  body: string | undefined,
): string {
  const parts = [query.length > 0 ? `curl --get ${url}` : `curl ${url}`];
  if (auth !== undefined) parts.push(`--header "Authorization: Bearer ${KEPT_IN[auth]}"`);
  for (const { name, example } of query) parts.push(`--data-urlencode ${word(`${name}=${example}`)}`);
  if (body !== undefined) parts.push("--header 'Content-Type: application/json'", `--data ${word(body)}`);
  else if (method === "post") parts.splice(1, 0, "--request POST");
  return parts.join(" \\\n  ");
}

/** Text as a POSIX shell takes it for one word. */
const word = (text: string) => (/^[\w=./:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
