import * as v from "valibot";
import { READ_LIMITS } from "../../insight/ask/ask.ts";
import { baseUrlOf } from "../../kit/base-url.ts";
import { isObject } from "../../kit/json.ts";
import { fail, forbidden } from "../../kit/problem.ts";
import { endpoint, Reply } from "../../platform/http/endpoint.ts";
import { sizeOf } from "./answer.ts";
import { loadProtocol } from "./load-protocol.ts";
import { readerToken } from "./reader.ts";

/** A call of a tool is a few hundred bytes; the longest, an error written up, some thousand. */
const MAX_BODY_BYTES = 64 * 1024;
/** Of an id, which is sent back within a reply of 8 KiB, in bytes of JSON. */
const MAX_ID_BYTES = 258;
/** Length of a method's name. */
const MAX_NAME_CHARS = 256;

/** Headers that the protocol knows (Streamable HTTP, revision 2026-07-28). */
const HEADERS = ["accept", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name"] as const;

const Message = v.pipe(
  v.unknown(),
  v.description("One message of JSON-RPC 2.0, as the Model Context Protocol has them; no batch."),
);
const MessageReply = v.pipe(
  v.looseObject({ jsonrpc: v.literal("2.0"), id: v.union([v.string(), v.number(), v.null()]) }),
  v.description("The response of JSON-RPC 2.0 to it."),
);
const Refused = v.looseObject({
  jsonrpc: v.literal("2.0"),
  error: v.looseObject({ code: v.pipe(v.number(), v.integer()), message: v.string() }),
});

/** The Model Context Protocol over Streamable HTTP: what agents may ask of the record, as tools, resources and prompts. */
export const mcpMessage = endpoint(
  {
    id: "mcpMessage",
    method: "POST",
    path: "/mcp",
    summary: "Speak the Model Context Protocol: tools, resources and prompts of the record",
    tag: "MCP",
    auth: readerToken,
    body: { schema: Message, maxBytes: () => MAX_BODY_BYTES },
    ok: MessageReply,
    also: [
      { status: 202, description: "A notification was taken." },
      {
        status: 404,
        description: "The revision 2026-07-28: there is no such method. A JSON-RPC error.",
        schema: Refused,
      },
      {
        status: 406,
        description: "Accept must name application/json and text/event-stream, or be */*. A JSON-RPC error.",
        schema: Refused,
      },
      { status: 415, description: "The body must be application/json. A JSON-RPC error.", schema: Refused },
    ],
    errorShape: "jsonRpc",
    faults: [forbidden],
    // A device's reads are not counted against the limit of a day.
    limits: READ_LIMITS,
    example: {
      body: {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "brain_search", arguments: { query: "login cookie" } },
      },
      ok: { jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text: "Nothing was found." }] } },
    },
  },
  async ({ core, principal: reader, body, header, ip }) => {
    requireOwnOrigin(header("origin"), baseUrlOf(core.config));
    const wrong = wrongIn(body);
    if (wrong !== undefined) return refusal(400, -32600, wrong);
    // An open stream would be for news of changes, and this server sends none.
    if (methodOf(body) === "subscriptions/listen") return refusal(404, -32601, "Method not found", idOf(body));
    const headers = new Headers();
    for (const name of HEADERS) {
      const value = header(name);
      if (value !== null) headers.set(name, value);
    }
    // What curl sends means both, which the protocol's reader wants by name.
    if (headers.get("accept") === "*/*") headers.set("accept", "application/json, text/event-stream");
    const request = new Request(`${baseUrlOf(core.config)}/mcp`, { method: "POST", headers });
    const answerMessage = await loadProtocol(core);
    const { status, body: answer } = await answerMessage({ core, reader, ip }, request, body);
    return answer === undefined ? new Reply<never>(null, { status }) : new Reply(answer, { status });
  },
);

/**
 * A page of another site must not reach a server through its reader's browser (Streamable HTTP, "Security Warning"). Programs send no
 * origin, or one with a scheme of their own, which no site has.
 */
function requireOwnOrigin(origin: string | null, baseUrl: string): void {
  if (origin === null || origin === new URL(baseUrl).origin) return;
  if (origin === "null" || /^https?:/i.test(origin)) fail(forbidden, "Pages of other sites may not call this.");
}

const methodOf = (body: unknown): unknown => (isObject(body) ? body.method : undefined);
const idOf = (body: unknown): string | number | null => {
  const id = isObject(body) ? body.id : null;
  return typeof id === "string" || typeof id === "number" ? id : null;
};

/** Why a value is no message that is answered here; undefined for a message that is. */
function wrongIn(body: unknown): string | undefined {
  if (Array.isArray(body)) return "Invalid Request: send messages one by one.";
  if (!isObject(body) || body.jsonrpc !== "2.0") return "Invalid Request: this is no message of JSON-RPC 2.0.";
  const { id, method } = body;
  if (typeof id === "string" ? sizeOf(id) > MAX_ID_BYTES : id !== undefined && !Number.isSafeInteger(id))
    return `Invalid Request: an id is a whole number, or a text of ${MAX_ID_BYTES} bytes of JSON at most.`;
  if (method !== undefined && (typeof method !== "string" || method.length > MAX_NAME_CHARS))
    return "Invalid Request: this is no name of a method.";
  return undefined;
}

const refusal = (status: number, code: number, message: string, id: string | number | null = null) =>
  new Reply({ jsonrpc: "2.0" as const, id, error: { code, message } }, { status });
