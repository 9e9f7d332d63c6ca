import type { Database } from "better-sqlite3";
import type { Preparer } from "./types.ts";

/** A parameter that a column is compared with, or that bounds how many rows are wanted. */
const SEEN_BY_PLANNER = /([=<>]|\bLIMIT)(\s+)([?@])/g;

/**
 * Prepares statements so that they are planned once. SQLite's planner looks at what is bound where that could decide something (a column
 * that equals it, beside an order; a limit), and then plans anew for each value: that takes five times as long as to find a row. Behind a
 * unary plus, which changes no value, it does not look (https://www.sqlite.org/c3ref/prepare.html). What was measured is in decision 45.
 */
export const plannedOnce = (db: Database): Preparer => {
  const prepare = (sql: string) => db.prepare(sql.replace(SEEN_BY_PLANNER, "$1$2+$3"));
  return { prepare: prepare as Preparer["prepare"] };
};
