import { asObject, asObjects, type Fields } from "../../formats/values.ts";
import { isObject } from "../../kit/json.ts";
import { cutText } from "../../kit/strings.ts";
import { decodeWithin } from "./protobuf.ts";

/**
 * Attributes that are lists or maps, as some semantic conventions for generative AI have. Each call repeats all that was said before it, so
 * they are read only when asked for, and no further than is kept.
 */

/** Those that are asked for. */
const ASKED_FOR = new Set([
  "gen_ai.input.messages",
  "gen_ai.output.messages",
  "gen_ai.tool.call.arguments",
  "gen_ai.tool.call.result",
]);

/** Values lie within messages' parts within messages; arguments of tools somewhat deeper. */
const MAX_DEPTH = 16;
/** Characters that a value counts beside its text. */
const COST = 8;

/** Attributes that are lists or maps, by name, each as it was sent. */
export function structuredOf(attributes: unknown): Fields {
  const found: Record<string, unknown> = {};
  for (const { key, value } of asObjects(attributes))
    if (typeof key === "string" && ASKED_FOR.has(key) && isObject(value) && (value.arrayValue ?? value.kvlistValue))
      found[key] = value;
  return found;
}

/**
 * Reads a value as OTLP writes it.
 * @param most characters, about; what is cut off of a text is told at its end, and what comes after that is left out
 */
export const readValue = (wrapped: unknown, most: number): unknown => read(wrapped, { left: most }, 0);

/** The last element of a list, with what is told first of it. */
export function lastOf(wrapped: unknown): unknown {
  const { arrayValue } = asObject(wrapped);
  return arrayValue ? readValue(valuesIn("arrayValue", arrayValue).at(-1), 100 * COST) : undefined;
}

function read(wrapped: unknown, room: { left: number }, depth: number): unknown {
  const { stringValue, intValue, doubleValue, boolValue, arrayValue, kvlistValue } = asObject(wrapped);
  room.left -= COST;
  if (typeof stringValue === "string") {
    const kept = cutText(stringValue, Math.max(room.left, 0));
    room.left -= stringValue.length;
    return kept;
  }
  if (depth > MAX_DEPTH) return null;
  if (arrayValue) {
    const list: unknown[] = [];
    for (const value of valuesIn("arrayValue", arrayValue)) {
      if (room.left <= 0) break;
      list.push(read(value, room, depth + 1));
    }
    return list;
  }
  if (!kvlistValue) return numberIn(intValue) ?? doubleValue ?? boolValue ?? null;
  const members: [string, unknown][] = [];
  for (const { key, value } of asObjects(valuesIn("kvlistValue", kvlistValue))) {
    if (room.left <= 0) break;
    if (typeof key !== "string") continue;
    room.left -= key.length;
    members.push([key, read(value, room, depth + 1)]);
  }
  return Object.fromEntries(members);
}

function valuesIn(kind: "arrayValue" | "kvlistValue", value: unknown): readonly unknown[] {
  const { values } = decodeWithin(kind, value);
  return Array.isArray(values) ? values : [];
}

/** Integers of 64 bits come as text. */
const numberIn = (value: unknown) =>
  typeof value === "string" && Number.isSafeInteger(Number(value)) ? Number(value) : value;
