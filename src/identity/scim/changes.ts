import { isObject } from "../../kit/json.ts";
import { fail } from "../../kit/problem.ts";
import { type Path, pathIn } from "./paths.ts";
import { invalidValue, mutability, noTarget } from "./problems.ts";
import { membersOf, objectIn } from "./values.ts";

/** One thing that a PATCH changes (RFC 7644 section 3.5.2). */
export interface Change extends Path {
  readonly op: "add" | "replace" | "remove";
  readonly value: unknown;
}

const MAX_CHANGES = 1_000;
const OPS = ["add", "replace", "remove"] as const;
/** Attributes that only the server sets. */
const READ_ONLY = new Set(["id", "meta", "groups"]);

/**
 * The changes of a PATCH, one for each attribute. Okta sends objects without a path, Entra ID paths with "Add" and "Replace", and both send
 * paths as names of members.
 * @throws Problem
 */
export function changesIn(body: Readonly<Record<string, unknown>>): Change[] {
  const operations = membersOf(body).get("operations");
  if (!Array.isArray(operations) || operations.length === 0) return fail(invalidValue, "Operations must be a list.");
  if (operations.length > MAX_CHANGES) fail(invalidValue, `A request has ${MAX_CHANGES} operations at most.`);
  const changes = operations.flatMap((one) => operationIn(objectIn(one, "Operations")));
  if (changes.length > MAX_CHANGES) fail(invalidValue, `Operations change ${MAX_CHANGES} attributes at most.`);
  return changes;
}

function operationIn(operation: Map<string, unknown>): Change[] {
  const name = operation.get("op");
  const op = OPS.find((one) => typeof name === "string" && name.toLowerCase() === one);
  if (op === undefined) return fail(invalidValue, "op must be add, replace or remove.");
  const value = operation.get("value");
  const text = operation.get("path");
  if (typeof text === "string" && text.trim() !== "") return changeAt(op, text, value);
  if (op === "remove") return fail(noTarget, "remove must have a path.");
  if (!isObject(value)) return fail(invalidValue, "An operation without a path must have an object for its value.");
  return Object.entries(value).flatMap(([member, one]) =>
    READ_ONLY.has(member.toLowerCase()) || member.toLowerCase() === "schemas" ? [] : changeAt(op, member, one),
  );
}

function changeAt(op: Change["op"], text: string, value: unknown): Change[] {
  const path = pathIn(text);
  if (!path) return [];
  if (READ_ONLY.has(path.attribute)) fail(mutability, `${path.attribute} is the server's own.`);
  return [{ ...path, op, value }];
}
