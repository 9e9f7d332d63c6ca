import { problem } from "../../kit/problem.ts";

/** Problems in SCIM's terms (RFC 7644 section 3.12, table 9). */

export const invalidFilter = problem({
  name: "invalidFilter",
  status: 400,
  code: "invalid_filter",
  message: 'The only supported filter is ATTRIBUTE eq "VALUE".',
});
export const invalidPath = problem({
  name: "invalidPath",
  status: 400,
  code: "invalid_path",
  message: "There is no such attribute.",
});
export const invalidValue = problem({
  name: "invalidValue",
  status: 400,
  code: "invalid_value",
  message: "A value is missing or not valid.",
});
export const mutability = problem({
  name: "mutability",
  status: 400,
  code: "mutability",
  message: "This attribute cannot be changed.",
});
export const noTarget = problem({
  name: "noTarget",
  status: 400,
  code: "no_target",
  message: "The operation names no target.",
});
export const uniqueness = problem({
  name: "uniqueness",
  status: 409,
  code: "uniqueness",
  message: "There is one already.",
});
