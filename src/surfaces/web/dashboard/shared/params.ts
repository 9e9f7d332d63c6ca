import * as v from "valibot";
import { DAY_MS } from "../../../../kit/clock.ts";
import { isDate } from "../../../../kit/date.ts";
import type { Option } from "../../ui/field.ts";
import { typed } from "../../ui/form-spec.ts";
import type { Filter } from "../../ui/list.ts";
import { number } from "../../ui/units.ts";

/** Parameters of lists in the query. A value that makes no sense counts as absent. */

type Shape = Readonly<Record<string, v.GenericSchema>>;

/** The parameters of a page. */
export type Params<S extends Shape> = { readonly [Name in keyof S]: v.InferOutput<S[Name]> };

/** Reads a query, or what a form of buttons alone sends, by a schema for each name; it is handed undefined for what is missing. */
export function readParams<const S extends Shape>(shape: S, query: URLSearchParams): Params<S> {
  const values = Object.entries(shape).map(([name, schema]) => [name, v.parse(schema, query.get(name) ?? undefined)]);
  return Object.fromEntries(values) as Params<S>;
}

/** The id of what a button acts on. */
export const ID = { id: typed };

/** The value that a switch is set to. */
export const flag = v.pipe(
  typed,
  v.transform((text) => text === "true"),
);

/** The number of a row; undefined for anything else. */
export const idIn = (text: string | null | undefined): number | undefined =>
  /^[1-9]\d{0,14}$/.test(text ?? "") ? Number(text) : undefined;

export const rowNumber = v.pipe(
  v.optional(v.string()),
  v.transform((text) => idIn(text)),
);

/** A text, bounded; `""` when there is none. */
export const text = (max: number) =>
  v.pipe(
    typed,
    v.transform((value) => value.slice(0, max)),
  );

/** Words to look for, without the space around them. */
export const words = (max: number) => v.pipe(text(max), v.trim());

/** One of the values that there are; undefined for any other. */
export const choice = <const Value extends string>(values: readonly Value[]) =>
  v.pipe(
    v.optional(v.string()),
    v.transform((text) => values.find((value) => value === text)),
  );

/** The same where a filter shows what is set: `""` for any other. */
export const chosen = <const Value extends string>(values: readonly Value[]) =>
  v.pipe(
    choice(values),
    v.transform((value) => value ?? ("" as const)),
  );

/** A box to tick. */
export const ticked = v.pipe(
  typed,
  v.transform((text) => (text === "on" ? "on" : "")),
);

const day = v.pipe(
  typed,
  v.transform((text) => (isDate(text) ? text : "")),
);

/** Days in UTC as `2026-11-21`, both included; `""` for no bound. */
export const DAYS = { from: day, to: day };
type Days = Params<typeof DAYS>;

/** Days as instants: from the first one's beginning to the last one's end. */
export const spanOf = ({ from, to }: Days) => ({
  from: from === "" ? undefined : Date.parse(from),
  to: to === "" ? undefined : Date.parse(to) + DAY_MS,
});

export const dayFilters = ({ from, to }: Days): Filter[] => [
  { kind: "date", name: "from", label: "From (UTC)", value: from },
  { kind: "date", name: "to", label: "To (UTC)", value: to },
];

/** Values in a choice, at most: a page with thousands of them would weigh more than it may. */
export const MAX_OPTIONS = 500;

/**
 * A choice among values. A value from an old link stays to be seen and taken back.
 * @param known the values; of more than `MAX_OPTIONS` the first are offered, and the number of the others is said
 * @param nameOf the name of a value that is not known
 * @param note what is said below the values
 */
export function selectFilter(
  filter: Pick<Filter, "name" | "label" | "value">,
  all: string,
  known: readonly Option[],
  nameOf: (value: string) => string = (value) => value,
  note = known.length > MAX_OPTIONS && `${number(known.length - MAX_OPTIONS)} more, from their own pages`,
): Filter {
  const { value } = filter;
  const offered = known.slice(0, MAX_OPTIONS);
  const other =
    value === "" || offered.some((option) => option.value === value)
      ? []
      : [known.find((option) => option.value === value) ?? { value, label: nameOf(value) }];
  const said = note ? [{ value: "", label: note, disabled: true }] : [];
  return { kind: "select", ...filter, options: [{ value: "", label: all }, ...offered, ...other, ...said] };
}
