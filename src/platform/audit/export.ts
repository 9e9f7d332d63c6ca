import type { Core } from "../../core.ts";
import { isoInstant } from "../../kit/clock.ts";
import { csvLine } from "../../kit/csv.ts";
import { chunks, type EventFilter, type StoredEvent } from "./list.ts";

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
  "leaf",
] as const satisfies readonly (keyof StoredEvent)[];

const FORMATS = {
  jsonl: {
    head: "",
    row: (event: StoredEvent) => `${JSON.stringify({ ...event, at: isoInstant(event.at) })}\n`,
  },
  csv: {
    head: csvLine(COLUMNS),
    row: (event: StoredEvent) => {
      const values = { ...event, at: isoInstant(event.at), detail: JSON.stringify(event.detail) };
      return csvLine(COLUMNS.map((name) => values[name]));
    },
  },
};

export type EventFormat = keyof typeof FORMATS;

/** All events that match, newest first, as JSON lines or as CSV; read chunk by chunk, so that no transaction stays open. */
export async function* exportEvents(core: Core, filter: EventFilter, format: EventFormat): AsyncGenerator<string> {
  const { head, row } = FORMATS[format];
  if (head) yield head;
  for await (const chunk of chunks(core, filter)) yield chunk.map(row).join("");
}
