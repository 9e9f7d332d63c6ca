import { asObject, asObjects, type Fields } from "../../formats/values.ts";
import { isObject } from "../../kit/json.ts";
import { decodeWithin } from "./protobuf.ts";
import { detailsOf, type LogRecord, type SpanRecord } from "./records.ts";

/**
 * Log records of which each is one message of a model call, beside the call's span, which then has none of its words: so OpenTelemetry's
 * own instrumentations of providers' clients tell them (semantic conventions for generative AI up to 1.36). What an agent is told first is
 * passed over.
 */
const ROLES = new Map([
  ["gen_ai.system.message", "system"],
  ["gen_ai.user.message", "user"],
  ["gen_ai.assistant.message", "assistant"],
  ["gen_ai.tool.message", "tool"],
  ["gen_ai.choice", "assistant"],
]);

interface Told {
  readonly details: SpanRecord;
  readonly given: unknown[];
  readonly gave: unknown[];
}

/** Puts messages together that records tell one by one. */
export class MessageLogs {
  readonly #calls = new Map<string, Told>();

  /** @returns whether it is a message of a call; the words of one that has any are kept */
  add(log: LogRecord, record: Fields): boolean {
    const role = ROLES.get(log.event);
    const details = role === undefined ? undefined : detailsOf(log, record);
    if (role === undefined || !details) return false;
    const isAnswer = log.event === "gen_ai.choice";
    const body = membersOf(record.body);
    const content = memberOf(isAnswer ? membersOf(memberOf(body, "message")) : body, "content");
    // Passed over are what an agent is told, and records without words: these are kept back, or a tool is called, which its span tells.
    if (role === "system" || !isObject(content) || Object.keys(content).length === 0) return true;
    const name = `${details.traceId} ${details.id}`;
    const call = this.#calls.getOrInsertComputed(name, () => ({ details, given: [], gave: [] }));
    (isAnswer ? call.gave : call.given).push({
      kvlistValue: {
        values: [
          { key: "role", value: { stringValue: role } },
          { key: "content", value: content },
        ],
      },
    });
    return true;
  }

  /** The calls, each as one record would tell of it. */
  *calls(): Generator<SpanRecord> {
    for (const { details, given, gave } of this.#calls.values())
      yield {
        ...details,
        structured: {
          ...(given.length > 0 && { "gen_ai.input.messages": listOf(given) }),
          ...(gave.length > 0 && { "gen_ai.output.messages": listOf(gave) }),
        },
      };
  }
}

const listOf = (values: readonly unknown[]) => ({ arrayValue: { values } });

const memberOf = (members: readonly Fields[], name: string) => members.find(({ key }) => key === name)?.value;

/** The members of a message in a body; some bodies have nothing but the text. */
function membersOf(wrapped: unknown): Fields[] {
  const { stringValue, kvlistValue } = asObject(wrapped);
  if (stringValue !== undefined) return [{ key: "content", value: wrapped }];
  return kvlistValue ? asObjects(decodeWithin("kvlistValue", kvlistValue).values) : [];
}
