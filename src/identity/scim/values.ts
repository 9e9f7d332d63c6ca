import { isObject } from "../../kit/json.ts";
import { fail } from "../../kit/problem.ts";
import { hasControls } from "../../kit/strings.ts";
import { invalidValue } from "./problems.ts";

/** Values as directories send them. */

const MAX_TEXT_CHARS = 256;

/** Members by their name in lower case: names of attributes are compared so (RFC 7643 section 2.1). */
export const membersOf = (value: Readonly<Record<string, unknown>>): Map<string, unknown> =>
  new Map(Object.entries(value).map(([name, one]) => [name.toLowerCase(), one]));

/** @throws Problem for what is no object */
export const objectIn = (value: unknown, what: string): Map<string, unknown> =>
  isObject(value) ? membersOf(value) : fail(invalidValue, `${what} must be an object.`);

/** @returns null for none and for an empty one */
export function textIn(value: unknown, what: string): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== "string") return fail(invalidValue, `${what} must be a string.`);
  const text = value.trim();
  if (text.length > MAX_TEXT_CHARS || hasControls(text))
    fail(invalidValue, `${what} has at most ${MAX_TEXT_CHARS} characters, on one line.`);
  return text === "" ? null : text;
}

/** What is sent as `active`: Entra ID writes booleans as "True" and "False". */
export function activeIn(value: unknown): boolean {
  if (typeof value === "boolean") return value;
  const text = typeof value === "string" ? value.toLowerCase() : "";
  return text === "true" || (text !== "false" && fail(invalidValue, "active must be true or false."));
}

/**
 * The address of a person that counts here: of work, the primary one, or one without a type. A home address never counts, nor one of
 * another type that is not primary: the account would be found by it.
 * @param value as in `emails`, a list of objects; one object or one text is accepted, too
 * @returns undefined when only other addresses are named
 */
export function emailIn(value: unknown): string | null | undefined {
  if (value === undefined || value === null || typeof value === "string") return textIn(value, "emails");
  const list = (Array.isArray(value) ? value : [value]).map((one) =>
    typeof one === "string" ? new Map<string, unknown>([["value", one]]) : objectIn(one, "emails"),
  );
  if (list.length === 0) return null;
  const kindOf = (one: Map<string, unknown>) => String(one.get("type") ?? "").toLowerCase();
  const isWork = (one: Map<string, unknown>) => kindOf(one) === "work";
  const isPrimary = (one: Map<string, unknown>) => String(one.get("primary")).toLowerCase() === "true";
  const found =
    list.find((one) => isWork(one) && isPrimary(one)) ??
    list.find((one) => isPrimary(one) && kindOf(one) !== "home") ??
    list.find(isWork) ??
    list.find((one) => kindOf(one) === "");
  return found && textIn(found.get("value"), "emails.value");
}

const MAX_MEMBERS = 10_000;

/** Ids in a list of members; objects with a value each. */
export function memberIdsIn(value: unknown): string[] {
  const list = value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];
  if (list.length > MAX_MEMBERS) fail(invalidValue, `members are ${MAX_MEMBERS} at most.`);
  return list.map((one) => {
    const id = textIn(typeof one === "string" ? one : objectIn(one, "members").get("value"), "members.value");
    return id ?? fail(invalidValue, "Each of members must have a value.");
  });
}
