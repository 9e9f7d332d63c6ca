import type { Core } from "../core.ts";
import { isoInstant } from "../kit/clock.ts";
import { type EventFilter, type StoredEvent, stretches } from "./list.ts";

const COLUMNS = [
  "id",
  "at",
  "teamId",
  "actorKind",
  "actorId",
  "actorLabel",
  "action",
  "targetKind",
  "targetId",
  "targetLabel",
  "ip",
  "detail",
] as const satisfies readonly (keyof StoredEvent)[];

/**
 * A cell of RFC 4180, always quoted. Spreadsheets take a text that begins with one of these for a formula and run it, so it
 * gets an apostrophe before it.
 */
function cell(text: string): string {
  return `"${/^[=+\-@\t\r\n＝＋－＠]/.test(text) ? "'" : ""}${text.replaceAll('"', '""')}"`;
}

const FORMATS = {
  jsonl: {
    head: "",
    row: (event: StoredEvent) => `${JSON.stringify({ ...event, at: isoInstant(event.at) })}\n`,
  },
  csv: {
    head: `${COLUMNS.join(",")}\r\n`,
    row: (event: StoredEvent) => {
      const values = { ...event, at: isoInstant(event.at), detail: JSON.stringify(event.detail) };
      return `${COLUMNS.map((name) => cell(String(values[name] ?? ""))).join(",")}\r\n`;
    },
  },
};

export type EventFormat = keyof typeof FORMATS;

/** All events that match, newest first, as JSON lines or as CSV; read stretch by stretch, so that no transaction stays open. */
export async function* exportEvents(core: Core, filter: EventFilter, format: EventFormat): AsyncGenerator<string> {
  const { head, row } = FORMATS[format];
  if (head) yield head;
  for await (const stretch of stretches(core, filter)) yield stretch.map(row).join("");
}
