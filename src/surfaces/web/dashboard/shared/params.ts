import * as v from "valibot";
import { DAY_MS } from "../../../../kit/clock.ts";
import { isDate } from "../../../../kit/date.ts";
import type { Option } from "../../ui/field.ts";
import { typed } from "../../ui/form-spec.ts";
import type { Filter } from "../../ui/list.ts";

/** What lists are asked for in the query. What makes no sense asks for nothing. */

type Shape = Readonly<Record<string, v.GenericSchema>>;

/** What a page is asked for. */
export type Params<S extends Shape> = { readonly [Name in keyof S]: v.InferOutput<S[Name]> };

/** Reads a query, or what a form of buttons alone sends, by a schema for each name; it is handed undefined for what is missing. */
export function readParams<const S extends Shape>(shape: S, query: URLSearchParams): Params<S> {
  const values = Object.entries(shape).map(([name, schema]) => [name, v.parse(schema, query.get(name) ?? undefined)]);
  return Object.fromEntries(values) as Params<S>;
}

/** What a button is about. */
export const ID = { id: typed };

/** What a switch is set to. */
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

/** A choice among values. One from an old link stays to be seen and taken back. @param nameOf how such a one is called */
export function selectFilter(
  filter: Pick<Filter, "name" | "label" | "value">,
  all: string,
  known: readonly Option[],
  nameOf: (value: string) => string = (value) => value,
): Filter {
  const { value } = filter;
  const other = value === "" || known.some((option) => option.value === value) ? [] : [{ value, label: nameOf(value) }];
  return { kind: "select", ...filter, options: [{ value: "", label: all }, ...known, ...other] };
}
