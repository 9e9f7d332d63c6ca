import type { Core } from "../../core.ts";
import type { ExportedItem } from "../../kit/items.ts";
import { noteText } from "./item-texts.ts";
import { noteRows } from "./note-rows.ts";

/**
 * The notes that a device sent last as JSON lines, with what each is checked with: `deliveryId`, and which `item` of that it is. Reads
 * in short queries.
 */
function* notes(core: Core, deviceId: string): Generator<string> {
  const sql = noteRows(core.store);
  for (const id of sql.idsOfDevice.all(deviceId)) {
    const note = sql.byId.get(id);
    if (!note) continue;
    const { commit, deliveryId, item, createdAt, content } = note;
    yield `${JSON.stringify({ type: "note", deviceId, commit, deliveryId, item, createdAt, content: content.toString("utf8") })}\n`;
  }
}

/** The item that a line of `notes` holds. */
function itemsOf(text: string): ExportedItem[] {
  const { deliveryId, item, deviceId, commit, content } = JSON.parse(text);
  return [{ deliveryId, item, text: noteText(commit, Buffer.from(content)).toString("utf8"), facts: { deviceId } }];
}

/** What an export writes of notes, and how it is read again. */
export const noteExport = { notes, itemsOf };
