import * as v from "valibot";
import { DATE_TIME } from "../../kit/date.ts";
import { isObject } from "../../kit/json.ts";
import { hasControls } from "../../kit/strings.ts";

/** Schemas of members that several endpoints share. Messages begin with "must", as the error text continues from the name. */

const openObjects = new WeakSet<object>();

/** Whether a schema was made by `openObject`; the documents then say that more members are welcome. */
export const isOpenObject = (schema: object): boolean => openObjects.has(schema);

/**
 * An object of which some members are declared and all are welcome. Unlike valibot's loose object it copies only the declared
 * ones: the others are kept as text (see kit/json.ts), and there may be very many.
 */
export function openObject<E extends v.ObjectEntries>(entries: E) {
  const schema = v.object(entries);
  openObjects.add(schema);
  // To valibot alone an array would be an object too.
  return v.pipe(v.unknown(), v.check(isObject, "must be an object"), schema);
}

/** An object whose members are the client's own; kept as sent. */
export const FreeObject = openObject({});

/**
 * One line for readers of JSON Schema: no C0, DEL, C1. It says nothing of halves of surrogate pairs, which not every language can
 * name in a pattern; the document's introduction does.
 */
export const ONE_LINE = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";

/** Text of at most so many characters, as JSON Schema counts them: one of two UTF-16 units counts once. */
const atMost = (most: number) =>
  v.check<string, string>(
    (text) => text.length <= most || (text.length <= 2 * most && [...text].length <= most),
    `must have at most ${most} characters`,
  );

/** One line of text of at most so many characters; no control characters. */
export function line(most: number) {
  return v.pipe(
    v.string(),
    atMost(most),
    v.check((text) => !hasControls(text), "must hold no control characters or lone surrogates"),
    v.metadata({ maxLength: most, pattern: ONE_LINE }),
  );
}

/** What `identifier` says in JSON Schema, for where a schema is written by hand. */
export const identifierSchema = (most: number) => ({
  type: "string",
  minLength: 1,
  maxLength: most,
  pattern: ONE_LINE,
});

/** One line of text that names something: 1 to `most` characters, no control characters. */
export const identifier = (most: number) => v.pipe(line(most), v.minLength(1, "must not be empty"));

export const RepoKey = v.pipe(
  identifier(512),
  v.description("The repository this belongs to, in the client's own naming, e.g. its remote's host and path."),
);

/** A commit as git abbreviates it, or whole. */
export const commit = (description: string) =>
  v.pipe(
    v.string(),
    v.regex(/^[0-9a-fA-F]{7,64}$/, "must have 7 to 64 hexadecimal digits"),
    v.description(description),
  );

/** An RFC 3339 date-time; kept as sent. Seconds may be missing: the document asks for more than the server does. */
export const DateTime = v.pipe(
  v.string(),
  v.check((text) => DATE_TIME.test(text), "must be an RFC 3339 date-time such as 2026-11-21T08:00:00Z"),
  v.metadata({ format: "date-time" }),
);

/** An instant in a reply. */
export const Instant = v.pipe(v.string(), v.isoTimestamp());

/** A non-negative integer that JSON readers agree on (RFC 8259 section 6). */
export const Counter = v.pipe(
  v.number(),
  v.safeInteger("must be an integer of at most 2^53 - 1"),
  v.minValue(0, "must not be negative"),
);

/** A whole number in JSON Schema: generators of clients take any other for one of 32 bits, too few for the tokens of a month. */
export const WHOLE = { type: "integer", format: "int64" } as const;

/** A whole number of a query, which is text like all of it; documents call it a number, as do the clients that are made of them. */
export const whole = (least: number, most: number, says: string, { orEmpty = false } = {}) =>
  v.pipe(
    v.string(),
    v.check(
      (text) => (orEmpty && text === "") || (/^(?:0|[1-9]\d*)$/.test(text) && +text >= least && +text <= most),
      `must be a whole number from ${least} to ${most}`,
    ),
    v.metadata({ ...WHOLE, minimum: least, maximum: most }),
    v.description(says),
  );

/**
 * In JSON Schema: one of two members must be there. Generators of clients make of an `anyOf` a model without the members beside it; what
 * is denied they pass over.
 */
export const either = (one: string, other: string) => ({
  not: { properties: { [one]: { not: {} }, [other]: { not: {} } } },
});

/** A count in a reply. */
export const Count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** What is stored for a client that named no repository. */
export const NO_REPO = "";

/** A stored key as replies have it: null for a client that named no repository. */
export const repoKeyOf = (repoKey: string): string | null => (repoKey === NO_REPO ? null : repoKey);
