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

/** A field of RFC 4180. What a spreadsheet would take for a formula begins with an apostrophe: agents name models and branches. */
function field(value: string | number | null | undefined): string {
  if (typeof value !== "string") return value === null || value === undefined ? "" : String(value);
  const text = /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Groups of a report as comma-separated values (RFC 4180), line by line, the names of the columns first. */
export function* spendCsv(by: Grouping, groups: readonly SpendGroup[]): Generator<string> {
  const line = (fields: readonly (string | number | null | undefined)[]) => `${fields.map(field).join(",")}\r\n`;
  const bySession = by === "session";
  yield line([by, ...(bySession ? ["deviceId"] : []), ...COLUMNS]);
  for (const group of groups)
    yield line([group.key, ...(bySession ? [group.deviceId] : []), ...COLUMNS.map((name) => group[name])]);
}
