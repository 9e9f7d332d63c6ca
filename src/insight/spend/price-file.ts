import * as v from "valibot";
import { isDate } from "../../kit/date.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { BREAKPOINTS } from "./context-tier.ts";

/** How prices are written: those that ship and those of a data directory's `prices.json`. */

/** Six decimals of a dollar a million tokens are whole trillionths of a dollar a token, in which all sums are made. */
const Price = v.pipe(
  v.number("must be a number of US dollars per million tokens"),
  v.minValue(0, "must not be negative"),
  v.maxValue(1_000_000, "must be at most 1000000"),
  v.check((usd) => Math.abs(usd * 1e6 - Math.round(usd * 1e6)) < 1e-4, "must have at most six decimals"),
);
const Day = v.pipe(v.string("must be a date such as 2026-11-21"), v.check(isDate, "must be a date such as 2026-11-21"));
const Name = v.pipe(v.string("must be text"), v.minLength(1, "must not be empty"));

const PRICES = {
  input: Price,
  output: Price,
  cacheWrite: v.optional(Price),
  cacheWrite1h: v.optional(Price),
  cacheRead: v.optional(Price),
};
const SIZES = BREAKPOINTS.join(", ");
const Above = v.record(
  v.picklist(BREAKPOINTS.map(String), `must be one of the sizes that usage is kept by: ${SIZES}`),
  v.strictObject(PRICES),
);
const Version = v.strictObject({
  ...PRICES,
  above: v.optional(Above),
  from: v.optional(Day),
  aliases: v.optional(v.array(Name)),
});
const Versions = v.pipe(v.array(Version), v.minLength(1, "must not be empty"));
// Chosen by the kind of the value, so that an error is named where it is.
const Model = v.lazy(
  (input) => (Array.isArray(input) ? Versions : Version) as v.GenericSchema<ModelPrice | ModelPrice[]>,
);

export interface Prices {
  readonly input: number;
  readonly output: number;
  readonly cacheWrite?: number | undefined;
  readonly cacheWrite1h?: number | undefined;
  readonly cacheRead?: number | undefined;
}

export interface ModelPrice extends Prices {
  /** Prices of requests with more tokens than the name says. */
  readonly above?: Readonly<Record<string, Prices>> | undefined;
  /** The first day on which it holds; without it, from the beginning. */
  readonly from?: string | undefined;
  /** Other names of the model. */
  readonly aliases?: readonly string[] | undefined;
}

export interface PriceFile {
  /** When the prices were looked up. */
  readonly date: string;
  /** Prices by model; several where they changed. */
  readonly models: Readonly<Record<string, ModelPrice | readonly ModelPrice[]>>;
}

const Schema = v.strictObject({ date: Day, models: v.record(Name, Model) });

/**
 * Reads the text of a price file.
 * @throws Error whose message names the place and what is wrong there
 */
export function readPriceFile(text: string): PriceFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    fail(invalid, `is not JSON: ${(error as Error).message}`);
  }
  const { issues, output, success } = v.safeParse(Schema, value);
  if (success) return output;
  const [issue] = issues;
  const place = (issue.path ?? []).reduce((at, { key }) => `${at}[${JSON.stringify(key)}]`, "");
  const message = issue.message.startsWith("must") ? issue.message : messageOf(issue);
  fail(invalid, place === "" ? `must be an object with "date" and "models": ${message}` : `${place} ${message}`);
}

function messageOf({ expected, received }: v.BaseIssue<unknown>): string {
  if (expected === "never") return "is not a member that is known";
  return received === "undefined" ? "is missing" : `is ${received} where ${expected} is expected`;
}
