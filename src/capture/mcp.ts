import { asObject, asText, parseJson } from "../formats/values.ts";
import { isObject } from "../kit/json.ts";
import { readServerUrl } from "../kit/reach.ts";
import { type Answer, ask } from "./client.ts";
import { agentHome, placesIn } from "./home.ts";
import { type CaptureParts, readCredentials } from "./state.ts";

/**
 * The Model Context Protocol for clients that know no HTTP: messages of the stdio transport, each a line, are passed on to the server,
 * and what it answers is passed back. What the messages mean is the server's matter.
 */

/** For another server than the one that this machine is connected to. */
export interface BridgeOptions {
  readonly url?: string | undefined;
  /** A read token, or a device's. */
  readonly token?: string | undefined;
  /** Whether the address may be plain http of another machine. */
  readonly insecure?: boolean | undefined;
}

/** Passes a message on. @returns the answer's line without its end; undefined where none is due. Never throws */
export type Bridge = (line: string) => Promise<string | undefined>;

const VERSION = "io.modelcontextprotocol/protocolVersion";

/** Makes a bridge. @throws Error when neither the options nor a connection give an address and a token */
export function openBridge({ machine }: CaptureParts, options: BridgeOptions): Bridge {
  const connectionNow = connectionOf(machine, options);
  connectionNow();
  // The protocol version that `initialize` agreed on; later messages repeat it in a header.
  let agreed: string | undefined;
  return async (line) => {
    const message = parseJson(line);
    if (!isObject(message)) return errorLine(null, -32700, "Parse error: a line must be one message of JSON-RPC 2.0.");
    const { id = null, method } = message;
    const answer = await passOn(connectionNow, line, headersOf(message, agreed));
    if (answer.kind === "ok" && method === "initialize")
      agreed = asText(asObject(asObject(parseJson(answer.text)).result).protocolVersion) ?? agreed;
    // Nobody waits for an answer to a notification, or to an answer.
    return message.id === undefined || method === undefined ? undefined : lineOf(answer, id);
  };
}

/** The address and the token for messages. @throws Error where there are none */
type Connection = () => { readonly url: string; readonly token: string };

/** Looked up with each message: the machine's token is replaced while agents run, and its server may move. */
const connectionOf =
  (machine: CaptureParts["machine"], options: BridgeOptions): Connection =>
  () => {
    const connection = options.token === undefined ? readCredentials(placesIn(agentHome(machine))) : undefined;
    const token = options.token ?? connection?.token;
    const address = options.url ?? connection?.url;
    if (address === undefined || token === undefined)
      throw new Error(
        'this machine is not connected: name --url and set RECKON_TOKEN, or run "reckon agent connect URL CODE"',
      );
    const url = readServerUrl(address, options.insecure);
    // The token of a connection is for its server alone.
    if (connection && options.url !== undefined && url !== connection.url)
      throw new Error(`this machine is connected to ${connection.url}: set RECKON_TOKEN to a token of ${url}`);
    return { url, token };
  };

async function passOn(connectionNow: Connection, body: string, headers: Record<string, string>): Promise<Answer> {
  try {
    const { url, token } = connectionNow();
    return await ask(url, "/mcp", {
      method: "POST",
      token,
      body,
      accept: "application/json, text/event-stream",
      headers,
    });
  } catch (error) {
    return { kind: "later", reason: (error as Error).message };
  }
}

/** What the transport over HTTP repeats in headers (Streamable HTTP, revisions 2025-06-18 and 2026-07-28). */
function headersOf(message: Record<string, unknown>, agreed: string | undefined): Record<string, string> {
  const params = asObject(message.params);
  const claimed = asText(asObject(params._meta)[VERSION]);
  const version = claimed ?? agreed;
  const name = asText(params.name) ?? asText(params.uri);
  return {
    ...(version === undefined ? {} : { "mcp-protocol-version": headerText(version) }),
    ...(claimed === undefined ? {} : { "mcp-method": headerText(asText(message.method) ?? "") }),
    ...(claimed === undefined || name === undefined ? {} : { "mcp-name": headerText(name) }),
  };
}

/** A header's value. Text that no header can hold goes in Base64, as the protocol says. */
const headerText = (text: string): string =>
  /^[!-~](?:[ -~]*[!-~])?$/.test(text) ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;

function lineOf(answer: Answer, id: unknown): string {
  if (answer.kind === "later") return errorLine(id, -32000, `Reckon cannot answer: ${answer.reason}.`);
  const message = answer.kind === "ok" ? asObject(parseJson(answer.text)) : answer.body;
  // A refusal that was sent before the message was read names no id.
  if (message.jsonrpc === "2.0") return JSON.stringify({ ...message, id });
  return errorLine(id, -32000, `Reckon cannot answer: ${answer.kind === "ok" ? "its reply is none" : answer.reason}.`);
}

const errorLine = (id: unknown, code: number, message: string) =>
  JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } });
