import * as v from "valibot";
import { expect, it } from "vitest";
import { validate } from "../../../src/platform/http/read-json.ts";
import { describeIssue } from "../../../src/platform/http/validation-message.ts";

const says = (schema: v.GenericSchema, value: unknown) => {
  const { issues } = v.safeParse(schema, value, { abortEarly: true, abortPipeEarly: true });
  return describeIssue((issues as [v.BaseIssue<unknown>])[0]);
};

it.each<[v.GenericSchema, unknown, string]>([
  [v.picklist(["npm", "desktop"]), "x", 'must be one of "npm", "desktop"'],
  [v.picklist(["npm"]), 7, 'must be "npm"'],
  [v.union([v.number(), v.string()]), {}, "must be a number or a string"],
  [v.union([v.number(), v.literal("now")]), {}, "must be of another type"],
  [v.object({}), 7, "must be an object"],
  [v.strictObject({}), { typo: 1 }, "is not known"],
  [v.pipe(v.number(), v.safeInteger()), 1.5, "must be a whole number of at most 2^53 - 1"],
  [v.pipe(v.number(), v.integer()), 1.5, "must be a whole number"],
  [v.pipe(v.number(), v.minValue(1)), 0, "must be at least 1"],
  [v.pipe(v.number(), v.maxValue(100)), 101, "must be at most 100"],
  [v.pipe(v.string(), v.regex(/^a$/, "must be an a")), "b", "must be an a"],
  // Valibot's own message would repeat what was sent.
  [v.pipe(v.string(), v.regex(/^a$/)), "secret", "is not acceptable"],
])("of %#, says in the field's own terms what would fit", (schema, value, clause) => {
  expect(says(schema, value)).toBe(clause);
});

it.each([
  ["body", null, "The body must be an object."],
  ["body", { id: 1 }, 'In the body, "id" must be a string.'],
  ["query", { id: ["a", "b"] }, 'In the query, "id" stands more than once.'],
] as const)("says what is wrong with a %s of %j, and where", (what, value, told) => {
  expect(() => validate(v.object({ id: v.string() }), value, what)).toThrow(told);
});
