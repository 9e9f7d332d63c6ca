import { csvLine } from "../../kit/csv.ts";
import type { SpendGroup } from "./report.ts";
import type { Grouping } from "./rows.ts";

const COLUMNS = [
  "usd",
  "reportedUsd",
  "inputTokens",
  "outputTokens",
  "cacheWriteTokens",
  "cacheReadTokens",
  "unpricedTokens",
  "usages",
] as const;

/** Groups of a report as comma-separated values (RFC 4180), line by line, the names of the columns first. */
export function* spendCsv(by: Grouping, groups: readonly SpendGroup[]): Generator<string> {
  const bySession = by === "session";
  yield csvLine([by, ...(bySession ? ["deviceId"] : []), ...COLUMNS]);
  for (const group of groups)
    yield csvLine([group.key, ...(bySession ? [group.deviceId] : []), ...COLUMNS.map((name) => group[name])]);
}
