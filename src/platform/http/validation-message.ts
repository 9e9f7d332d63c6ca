import type * as v from "valibot";

/**
 * Says why a value does not fit a schema, as a clause that follows the name of its place: `must be one of "a", "b"`. It never
 * repeats the value: that may be a secret.
 */
export function describeIssue(issue: v.BaseIssue<unknown>): string {
  if (issue.expected === "never") return "is not known";
  if (issue.received === "undefined") return "is missing";
  if (issue.kind === "schema") return `must be ${expected(issue.expected ?? "")}`;
  // Messages of our own schemas are written by us; valibot's defaults may quote the value, so they are not shown.
  return issue.message.startsWith("must ") ? issue.message : bound(issue);
}

const TYPES: Readonly<Record<string, string>> = {
  Object: "an object",
  Array: "an array",
  string: "a string",
  number: "a number",
  boolean: "a boolean",
  null: "null",
};

/** @param types as valibot writes them: `Object`, `"a"`, `("a" | "b")`, `(number | string)` */
function expected(types: string): string {
  const all = types.replace(/^\((.*)\)$/s, "$1").split(" | ");
  if (all.every((type) => type.startsWith('"'))) return all.length === 1 ? types : `one of ${all.join(", ")}`;
  const known = all.map((type) => TYPES[type]);
  return known.every((name) => name !== undefined) ? known.join(" or ") : "of another type";
}

const BOUNDS: Readonly<Record<string, (most: unknown) => string>> = {
  integer: () => "must be a whole number",
  safe_integer: () => "must be a whole number of at most 2^53 - 1",
  min_value: (least) => `must be at least ${least}`,
  max_value: (most) => `must be at most ${most}`,
};

/** The bound that a value exceeds. Only those of numbers are named; others have messages of their own. */
function bound({ type, requirement }: v.BaseIssue<unknown> & { readonly requirement?: unknown }): string {
  return BOUNDS[type]?.(requirement) ?? "is not acceptable";
}
