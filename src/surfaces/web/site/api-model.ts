import { type Core, slot } from "../../../core.ts";
import { shellWord } from "../../../kit/strings.ts";
import { servedDocument } from "../../../platform/http/openapi-endpoint.ts";
import { type Member, membersOf, type Schema, typeOf } from "./api-schema.ts";

/** The OpenAPI document put in the order in which a reader wants it; both renditions of the reference are made from this. */

interface Parameter {
  readonly name: string;
  readonly where: string;
  readonly required: boolean;
  readonly type: string;
  readonly description: string;
}

export interface Shown {
  readonly medias: readonly string[];
  /** What it is, where it has no members. */
  readonly says: string;
  readonly members: readonly Member[];
  /** JSON, indented; text as it is. */
  readonly example: string | undefined;
}

export interface Answer {
  readonly status: number;
  readonly description: string;
  readonly headers: readonly string[];
  readonly content: Shown | undefined;
}

/** A way in which the operation refuses. */
interface Failure {
  readonly status: number;
  readonly code: string;
  readonly description: string;
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
  /** Names of the security schemes, of which one does; none when anybody may. */
  readonly auth: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly body:
    | (Shown & {
        readonly required: boolean;
        readonly description: string | undefined;
      })
    | undefined;
  readonly answers: readonly Answer[];
  readonly failures: readonly Failure[];
  /** A command that does it. */
  readonly curl: string;
}

export interface Reference {
  readonly baseUrl: string;
  readonly tags: readonly {
    readonly name: string;
    readonly description: string;
    readonly operations: readonly Operation[];
  }[];
  readonly operations: readonly Operation[];
  readonly schemes: readonly {
    readonly name: string;
    readonly description: string;
    readonly format: string | undefined;
  }[];
  readonly headers: readonly { readonly name: string; readonly description: string }[];
  readonly shapes: readonly { readonly name: string; readonly members: readonly Member[] }[];
}

// biome-ignore lint/suspicious/noExplicitAny: our own document, whose shape its generator and a linter vouch for
type Node = any;

const KEPT_IN: Readonly<Record<string, string>> = {
  deviceToken: "$DEVICE_TOKEN",
  cliToken: "$CLI_TOKEN",
  readToken: "$READ_TOKEN",
  apiToken: "$API_TOKEN",
};
const shownExample = (value: unknown) =>
  value === "" ? undefined : typeof value === "string" ? value : JSON.stringify(value, null, 2);

/** The reference of this instance's API. */
export const apiReference: (core: Core) => Reference = slot((core) => {
  const source = new Source(servedDocument(core));
  const { document } = source;
  const operations = Object.entries<Node>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Node>(methods).map(([method, op]) => operationOf(source, path, method, op)),
  );
  const shapes = [...new Set(operations.flatMap(({ failures }) => failures.map(({ shape }) => shape)))];
  return {
    baseUrl: source.baseUrl,
    operations,
    tags: document.tags.map(({ name, description }: Node) => ({
      name,
      description,
      operations: operations.filter(({ tag }) => tag === name),
    })),
    schemes: Object.entries<Node>(document.components.securitySchemes).map(([name, { description, bearerFormat }]) => ({
      name,
      description,
      format: bearerFormat,
    })),
    headers: ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy", "Retry-After"].map(
      (name) => ({ name, description: document.components.headers[name.replaceAll("-", "")].description }),
    ),
    shapes: shapes.map((name) => ({ name, members: source.membersOf(document.components.schemas[name]) })),
  };
});

/** The document, with its references followed. */
class Source {
  readonly document: Node;
  constructor(document: Node) {
    this.document = document;
  }

  get baseUrl(): string {
    return this.document.servers[0].url;
  }

  readonly follow = (node: Node): Node =>
    typeof node?.$ref === "string"
      ? node.$ref
          .split("/")
          .slice(1)
          .reduce((at: Node, key: string) => at[key.replaceAll("~1", "/")], this.document)
      : node;

  readonly schemaOf = (node: Node): Schema => this.follow(node);

  membersOf(schema: Node): Member[] {
    return membersOf(this.schemaOf(schema), this.schemaOf);
  }

  /** What a body or reply holds, in its first media type. */
  shown(content: Node): Shown | undefined {
    const medias = Object.keys(content ?? {});
    const [media] = medias;
    if (media === undefined) return undefined;
    const { schema, example } = content[media];
    const says = this.schemaOf(schema).description ?? "An object without declared members.";
    return { medias, says, members: this.membersOf(schema), example: shownExample(example) };
  }

  /** The error shape that an example has, of those that a schema allows. */
  shapeName(schema: Node, value: Node): string {
    const names = (schema.anyOf ?? [schema]).map(({ $ref }: Node) => String($ref).split("/").at(-1));
    const fits = (name: string) => {
      const shape = this.document.components.schemas[name];
      return (
        Object.keys(value).every((key) => shape.properties?.[key]) &&
        shape.required.every((key: string) => key in value)
      );
    };
    return names.find(fits) ?? names.at(-1);
  }
}

function operationOf(source: Source, path: string, method: string, op: Node): Operation {
  const auth: string[] = op.security.flatMap(Object.keys);
  const content = source.shown(op.requestBody?.content);
  const query = op.parameters.filter((one: Node) => one.in === "query" && one.example !== undefined);
  return {
    id: op.operationId,
    method: method.toUpperCase(),
    path,
    summary: op.summary,
    tag: op.tags[0],
    auth,
    parameters: op.parameters.map(source.follow).map((one: Node) => parameterOf(source, one)),
    body: content && {
      ...content,
      required: op.requestBody.required,
      description: op.requestBody.description,
    },
    ...repliesOf(source, op),
    // A brace has a meaning for curl.
    curl: curlOf(
      method,
      source.baseUrl + path.replace(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase()),
      auth.find((name) => KEPT_IN[name]),
      query,
      content?.example,
    ),
  };
}

function parameterOf(source: Source, { name, in: where, required, schema, description }: Node): Parameter {
  const standard = schema.default === undefined ? [] : [`default ${schema.default}`];
  return {
    name,
    where,
    required,
    type: [typeOf(schema, source.schemaOf), ...standard].join(", "),
    description: description ?? "",
  };
}

function repliesOf(source: Source, op: Node): Pick<Operation, "answers" | "failures"> {
  const answers: Answer[] = [];
  const failures: Failure[] = [];
  for (const [status, reply] of Object.entries<Node>(op.responses)) {
    const headers = Object.keys(reply.headers ?? {});
    const bodies = Object.values<Node>(reply.content ?? {});
    if (!bodies.some(({ examples }) => examples))
      answers.push({
        status: Number(status),
        description: reply.description,
        headers,
        content: source.shown(reply.content),
      });
    for (const { schema, examples = {} } of bodies)
      for (const { summary, description, value } of Object.values<Node>(examples))
        failures.push({
          status: Number(status),
          code: summary,
          description,
          headers,
          shape: source.shapeName(schema, value),
          example: JSON.stringify(value),
        });
  }
  return { answers, failures };
}

function curlOf(
  method: string,
  url: string,
  auth: string | undefined,
  query: readonly Node[],
  body: string | undefined,
): string {
  const parts = [query.length > 0 ? `curl --get ${url}` : `curl ${url}`];
  if (auth !== undefined) parts.push(`--header "Authorization: Bearer ${KEPT_IN[auth]}"`);
  for (const { name, example } of query) parts.push(`--data-urlencode ${shellWord(`${name}=${example}`)}`);
  if (body !== undefined) parts.push("--header 'Content-Type: application/json'", `--data ${shellWord(body)}`);
  const usual = body === undefined ? "get" : "post";
  if (method !== usual) parts.splice(1, 0, `--request ${method.toUpperCase()}`);
  return parts.join(" \\\n  ");
}
