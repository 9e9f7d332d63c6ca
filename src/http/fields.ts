import * as v from "valibot";
import { isObject } from "../kit/json.ts";
import { hasControls } from "../kit/text.ts";

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

/** One line of text that names something: 1 to `most` characters, no control characters. */
export function identifier(most: number) {
  return v.pipe(
    v.string(),
    v.minLength(1, "must not be empty"),
    v.maxLength(most, `must have at most ${most} characters`),
    v.check((text) => !hasControls(text), "must hold no control characters or lone surrogates"),
  );
}

export const RepoKey = v.pipe(
  identifier(512),
  v.description("The repository this belongs to, in the client's own naming, e.g. its remote's host and path."),
);

const RFC3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:?\d\d)$/;

/** An RFC 3339 date-time; kept as sent. */
export const DateTime = v.pipe(
  v.string(),
  v.check(
    (text) => RFC3339.test(text) && !Number.isNaN(Date.parse(text)),
    "must be an RFC 3339 date-time such as 2026-11-21T08:00:00Z",
  ),
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

/** A count in a reply. */
export const Count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** What is stored for a client that named no repository. */
export const NO_REPO = "";
