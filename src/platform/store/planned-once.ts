import type { Database } from "better-sqlite3";
import type { Preparer } from "./types.ts";

/** A parameter that the planner looks at: one that a column is compared with, or a LIMIT. */
const SEEN_BY_PLANNER = /([=<>]|\bLIMIT)(\s+)([?@])/g;

/**
 * Prepares statements so that they are planned once. SQLite's planner looks at bound values that could change its plan (one that a column
 * must equal, beside an order; a limit), and then plans anew for each value, which takes five times as long as finding a row. After a unary
 * plus, which changes no value, it does not look (https://www.sqlite.org/c3ref/prepare.html). Decision 45 has the measurements.
 */
export const plannedOnce = (db: Database): Preparer => {
  const prepare = (sql: string) => db.prepare(sql.replace(SEEN_BY_PLANNER, "$1$2+$3"));
  return { prepare: prepare as Preparer["prepare"] };
};
