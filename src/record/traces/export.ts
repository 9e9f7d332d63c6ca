import type { Core } from "../../core.ts";
import type { ExportedItem } from "../../kit/items.ts";
import { exactly, exactMember, inOneLine } from "../../kit/json.ts";
import { fail, invalid } from "../../kit/problem.ts";
import type { DocumentPlace } from "./document-rows.ts";
import { withDocument } from "./documents.ts";
import { traceErasure } from "./erase.ts";
import { exportRows, type SpanRow } from "./export-rows.ts";
import { labelText, sessionText, spanText } from "./item-texts.ts";
import { itemsOfDelivery } from "./items.ts";
import { noteExport } from "./note-export.ts";

const BATCH_SPANS = 100;

/**
 * The sessions of a device with their spans and labels as JSON lines, each `{type, …, document}` with the document as it is stored, and
 * what it is checked with: `deliveryId`, which `item` of that it is, and `exact`, the document as a text, where line breaks became
 * spaces. Reads in short queries.
 * @param repoKey only of this repository; null for all
 */
function* exportSessions(core: Core, deviceId: string, repoKey: string | null): Generator<string> {
  const sql = exportRows(core.store);
  const [until, through] = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
  const found = traceErasure.sessionsOfPortion(core, { teamId: "", deviceId, repoKey, until, through });
  for (const { id } of found.flatMap((some) => some.values())) {
    const session = sql.session.get(id);
    if (!session) continue;
    const { document, ...facts } = session;
    yield line({ type: "session", deviceId, ...facts }, document);
    for (let after = 0; ; ) {
      // With their documents: until the next session is asked for, their blocks may be rewritten.
      const spans = sql.spans.all(id, after, BATCH_SPANS).map((span) => withDocument(core, span));
      for (const span of spans)
        yield line({ type: "span", deviceId, session: facts.externalId, ...placeOf(span) }, span.document);
      if (spans.length < BATCH_SPANS) break;
      after = spans.at(-1)?.id ?? after;
    }
  }
  for (const { document, ...facts } of sql.labels.all({ deviceId, repoKey }))
    yield line({ type: "label", deviceId, ...facts }, document);
}

const placeOf = ({ externalId, deliveryId, item }: Omit<SpanRow, keyof DocumentPlace>) => ({
  externalId,
  deliveryId,
  item,
});

const line = (facts: object, document: string): string =>
  `${JSON.stringify({ ...facts, exact: exactly(document) }).slice(0, -1)},"document":${inOneLine(document)}}\n`;

/**
 * The item that a line of `exportSessions` holds; none where it was delivered before there were items. The repository that a session
 * stands in is not compared: a later delivery may have named none.
 * @throws Problem where it says two things
 */
function itemsOf(text: string): ExportedItem[] {
  const line = JSON.parse(text) as ExportedLine;
  const { deliveryId, item, deviceId } = line;
  if (item === null) return [];
  const document =
    exactMember(text, "document", line.exact) ??
    fail(invalid, `a ${line.type} of delivery ${deliveryId} says two things`);
  return [{ deliveryId, item, text: itemText(line, document), facts: { deviceId } }];
}

interface ExportedLine extends Omit<SpanRow, "id" | keyof DocumentPlace> {
  readonly type: string;
  readonly session: string;
  readonly deviceId: unknown;
  readonly exact?: string;
}

function itemText({ type, session, externalId }: ExportedLine, document: string): string {
  if (type === "session") return sessionText(externalId, document);
  return type === "span" ? spanText(session, externalId, document) : labelText(document);
}

/**
 * What is held of a delivery, by where it stands now: a session may have moved to another repository since, or grown by a delivery that
 * named none.
 * @returns whether anything is of a repository, and the texts of the other items by their places
 */
function besideRepo(core: Core, deliveryId: number, repoKey: string): { isAny: boolean; others: Map<number, string> } {
  const found = [...itemsOfDelivery(core, deliveryId)];
  const others = found.filter((one) => one.repoKey !== repoKey);
  return { isAny: others.length < found.length, others: new Map(others.map(({ item, text }) => [item, text])) };
}

/** What an export writes of sessions and notes, and how it is read again. */
export const traceExport = {
  besideRepo,
  sessions: exportSessions,
  itemsOf,
  notes: noteExport.notes,
  itemsOfNotes: noteExport.itemsOf,
};
