import { duplicateKey, members } from "../../kit/json.ts";
import { fail, malformed } from "../../kit/problem.ts";
import { redactJson, redactText } from "../../redact/redact.ts";

/** Where the text may stand; the first that holds one is it, and the others stay in the context. */
export const NAMES = ["text", "request", "message"] as const;

type Sent = { readonly [K in (typeof NAMES)[number]]?: unknown };

/**
 * Takes a body apart into the text of the request and everything else, each redacted and otherwise as sent.
 * @param json the body's JSON text, of an object
 * @throws Problem malformed when there is no text, or a member is named twice
 */
export function readRequest(body: Sent, json: string): { text: string; context: string } {
  const top = members(json);
  if (duplicateKey(top) !== undefined) fail(malformed, "The body names a member twice.");
  const said = NAMES.filter((one) => isText(body[one]));
  if (said.length === 0) fail(malformed, 'The text of the request is missing: send it as a string in "text".');
  // SQLite keeps UTF-8, which has no spelling for half a character: it would come back as another text.
  const name = said.find((one) => (body[one] as string).isWellFormed());
  if (name === undefined) fail(malformed, `"${said[0]}" must hold no lone surrogates.`);
  const text = body[name] as string;
  const rest = top
    .filter(({ key }) => key !== name)
    .map(({ key, start, end }) => `${JSON.stringify(key)}:${json.slice(start, end)}`);
  return { text: redactText(text).text, context: redactJson(`{${rest.join(",")}}`).text };
}

const isText = (value: unknown) => typeof value === "string" && value.trim() !== "";
