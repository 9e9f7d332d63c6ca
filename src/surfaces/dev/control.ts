import { STATUS_CODES } from "node:http";
import * as v from "valibot";
import { fail, forbidden, invalid, notFound, Problem, tooLarge } from "../../kit/problem.ts";
import { sentence } from "../../kit/strings.ts";
import { describeIssue } from "../../platform/http/validation-message.ts";
import { type ControlRoute, ROUTES } from "./routes/routes.ts";
import type { LocalInstance } from "./types.ts";

/**
 * The control routes below `/_dev`: how a test drives an instance into any state. They are no part of the API, and answer to this
 * machine alone.
 */

const MAX_BYTES = 64 * 1024;

function reply(status: number, body: object, more: Record<string, string> = {}): Response {
  const text = `${JSON.stringify(body, null, 2)}\n`;
  const headers = {
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(text)),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...more,
  };
  return new Response(text, { status, statusText: STATUS_CODES[status] ?? "", headers });
}

/** Answers a request for a control route; never throws. */
export async function answerControl(local: LocalInstance, request: Request, pathname: string): Promise<Response> {
  try {
    requireLoopback(local, request);
    const found = ROUTES.map((route) => ({ route, match: route.pattern.exec(pathname) })).filter(({ match }) => match);
    if (found.length === 0) fail(notFound, `There is no control route ${pathname}. GET /_dev lists them all.`);
    const method = request.method === "HEAD" ? "GET" : request.method;
    const one = found.find(({ route }) => route.method === method);
    if (!one) {
      const allow = found.map(({ route }) => route.method).join(", ");
      const error = `${pathname} answers ${allow}. GET /_dev lists all control routes.`;
      return reply(405, { ok: false, code: "method_not_allowed", error }, { allow });
    }
    const body = await readBody(request, one.route);
    const result = await one.route.handle({
      local,
      body,
      query: new URL(request.url).searchParams,
      id: decoded(one.match?.[1] ?? ""),
    });
    return reply(200, { ok: true, ...result });
  } catch (error) {
    if (error instanceof Problem)
      return reply(error.status, {
        ok: false,
        code: error.code,
        error: sentence(error.message),
      });
    local.core.log.error("control_failed", { cause: error instanceof Error ? String(error.stack) : String(error) });
    return reply(500, { ok: false, code: "server_error", error: "The control route failed; its log says why." });
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return fail(invalid, `"${text}" in the path is not percent-encoded as it should be.`);
  }
}

const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;
const LOCAL_HOST = /^(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])(?::\d+)?$/i;

/**
 * Lets only this machine's own programs in. The listener is on loopback, but that does not keep out a web page in a browser here: it could
 * post from another origin, or read under a name of its own that resolves to this machine.
 */
function requireLoopback({ credentials }: LocalInstance, request: Request): void {
  const socket = (request as { runtime?: { node?: { req: { socket: { remoteAddress?: string } } } } }).runtime?.node
    ?.req.socket;
  const host = request.headers.get("host") ?? new URL(request.url).host;
  const origin = request.headers.get("origin");
  const own = new URL(credentials.baseUrl);
  const foreign = origin !== null && origin !== own.origin && origin !== `http://localhost:${own.port}`;
  if ((socket && !LOOPBACK.test(socket.remoteAddress ?? "")) || !LOCAL_HOST.test(host) || foreign)
    fail(forbidden, "Control routes answer to programs on this machine only, and to no other site's pages.");
}

async function readBody(request: Request, { body: schema }: ControlRoute): Promise<unknown> {
  if (!schema) return undefined;
  const text = await readText(request);
  let value: unknown;
  try {
    value = text.trim() === "" ? {} : JSON.parse(text);
  } catch {
    fail(invalid, "The body is not valid JSON.");
  }
  if (Array.isArray(value)) fail(invalid, "The body must be a JSON object.");
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const issue = result.issues[0];
  const known = "entries" in schema ? ` Members: ${Object.keys(schema.entries as object).join(", ")}.` : "";
  fail(invalid, `In the body, ${place(issue)} ${describeIssue(issue)}.${known}`);
}

async function readText(request: Request): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) fail(tooLarge, `A body has at most ${MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function place(issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue);
  return path ? `"${path}"` : "the document";
}
