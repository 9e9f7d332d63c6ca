import { DAY_MS } from "../../../../kit/clock.ts";
import { isDate } from "../../../../kit/date.ts";
import type { Option } from "../../ui/field.ts";
import type { Filter } from "../../ui/list.ts";

/** What lists are asked for in the query. What makes no sense asks for nothing. */

/** The number of a row; undefined for anything else. */
export const idIn = (text: string | null | undefined): number | undefined =>
  /^[1-9]\d{0,14}$/.test(text ?? "") ? Number(text) : undefined;

/** A text, bounded; `""` when there is none. */
export const textIn = (query: URLSearchParams, name: string, most: number): string =>
  (query.get(name) ?? "").slice(0, most);

/** One of the values that there are; undefined for any other. */
export const choiceIn = <Value extends string>(query: URLSearchParams, name: string, values: readonly Value[]) =>
  values.find((value) => value === query.get(name));

/** Days in UTC as `2026-11-21`, both included; `""` for no bound. */
export type Days = Readonly<Record<"from" | "to", string>>;

export function daysIn(query: URLSearchParams): Days {
  const day = (name: string) => (isDate(query.get(name) ?? "") ? (query.get(name) as string) : "");
  return { from: day("from"), to: day("to") };
}

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
