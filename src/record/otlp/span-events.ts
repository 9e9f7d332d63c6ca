import { readAttributes } from "../../formats/usage.ts";
import { asText, type Fields, parseJson } from "../../formats/values.ts";
import { decodeWithin } from "./protobuf.ts";
import { structuredOf } from "./structured.ts";

/** What a span says by events: what its call was given and gave back, as `gen_ai.client.inference.operation.details` or, as the conventions had it before, message by message; and what was thrown. */
export interface ToldByEvents {
  readonly attributes: Fields;
  /** See `structuredOf`. */
  readonly structured: Fields;
  readonly thrown: { readonly type?: string | undefined; readonly message?: string | undefined };
}

/** The event, of a span or a log record, that tells what a call was given and gave back. */
export const DETAILS = "gen_ai.client.inference.operation.details";

const NOTHING: ToldByEvents = { attributes: {}, structured: {}, thrown: {} };

/** Reads a span's events as they were sent. */
export function readEvents(events: unknown): ToldByEvents {
  if (!Array.isArray(events)) return NOTHING;
  const structured: Record<string, unknown> = {};
  let attributes: Fields = {};
  let thrown: ToldByEvents["thrown"] = {};
  const [given, gave]: unknown[][] = [[], []];
  for (const event of events) {
    const { name, attributes: own } = decodeWithin("event", event);
    if (name === DETAILS) {
      attributes = { ...attributes, ...readAttributes(own) };
      Object.assign(structured, structuredOf(own));
      continue;
    }
    const about = readAttributes(own);
    if (name === "exception")
      thrown = { type: asText(about["exception.type"]), message: asText(about["exception.message"]) };
    else if (name === "gen_ai.user.message") given?.push({ role: "user", content: contentOf(about.content) });
    else if (name === "gen_ai.choice") gave?.push({ role: "assistant", content: contentOf(about.message) });
  }
  const before = { "gen_ai.input.messages": textOf(given), "gen_ai.output.messages": textOf(gave) };
  return { attributes: { ...before, ...attributes }, structured, thrown };
}

/** Text, or blocks as JSON. */
const contentOf = (value: unknown): unknown => (typeof value === "string" ? (parseJson(value) ?? value) : undefined);

const textOf = (messages: readonly unknown[] = []) => (messages.length > 0 ? JSON.stringify(messages) : undefined);
