import type { Core } from "../../core.ts";
import { asObject, type Fields, parseJson } from "../../formats/values.ts";
import { sameDigest, sha256 } from "../../kit/hash.ts";
import {
  type DeliveryFacts,
  type DeliveryKind,
  deliveryErasure,
  deliveryFinder,
  isAsDelivered,
  type Report,
} from "../../log/log.ts";
import { withDocument } from "./documents.ts";
import { labelText, noteText, sessionText, spanText } from "./item-texts.ts";
import { noteRows, noteWalks } from "./note-rows.ts";
import { NOTES_MODE } from "./notes.ts";
import { type OwnerRow, rows } from "./rows.ts";
import {
  areTimesPlain,
  isEmailPlain,
  type LabelFacts,
  readLabel,
  readSession,
  readSpan,
  type SessionFacts,
  type SpanFacts,
} from "./rules.ts";
import { twinRows } from "./twin-rows.ts";

/**
 * Compares sessions, spans, labels and notes with the deliveries that they name as the last that changed them: what they hold, and whose
 * they are. Of what was delivered before there were items, content can be compared of labels alone.
 */
export const traceDeliveries: DeliveryKind = {
  kind: "traces",
  openCheck(core, _head, report) {
    /** By device, the last that it delivered: nothing can have replaced what came with that. */
    const newest = new Map<string, { readonly id: number; readonly isWhole: boolean }>();
    const items = readItems(core);
    /** Deliveries from before there were items. */
    const itemless = new Set<number>();
    return {
      check(delivery) {
        const { id, deviceId, itemCount, itemSalts } = delivery;
        if (itemCount === null) itemless.add(id);
        const texts = items.of(id);
        for (const what of items.contradicted())
          report(id, "content", `${what} is shown otherwise than what was delivered says`);
        if (isGone(delivery)) {
          // Of what came before it, it cannot be told what is to be there either.
          newest.delete(deviceId);
          return;
        }
        // Another device may have sent a newer note of each of its commits.
        const isWhole = itemCount === null || itemSalts !== null || texts.size === itemCount - 1;
        if (delivery.mode !== NOTES_MODE) newest.set(deviceId, { id, isWhole });
        if (itemCount !== null && !isAsDelivered(core, delivery, texts, () => undefined))
          report(id, "content", "its sessions, spans, labels and notes are not those that were delivered");
      },
      finish() {
        const gone = new Set([...newest.values()].map(({ id }) => id));
        checkOwners(core, report, itemless, (deliveryId) => gone.delete(deliveryId));
        for (const { id, deliveryId, document, contentSha256 } of rows(core.store).labelContents.iterate())
          if (!sameDigest(sha256(document), contentSha256))
            report(deliveryId, "content", `label ${id} is not what was delivered`);
        checkBlocks(core, report);
        for (const { id, deliveryId } of twinRows(core.store).unlistedAlone.iterate())
          report(deliveryId, "content", `session ${id} stands in no list, and nobody else tells of it`);
        for (const { id, isWhole } of newest.values())
          if (!isWhole && !gone.has(id))
            report(id, "content", "something is missing of the last that its device delivered");
        for (const deliveryId of gone)
          report(deliveryId, "content", "nothing is held of the last that its device delivered");
      },
      close: () => items.close(),
    };
  },
};

/**
 * Whether nothing is left of what a delivery brought. It counts sessions that began with it, but others may have gone on, and labels come
 * along. While anything is left of it, the salts are there.
 */
const isGone = (delivery: Parameters<ReturnType<DeliveryKind["openCheck"]>["check"]>[0]): boolean =>
  deliveryErasure.isErased(delivery) && delivery.itemKey === null && delivery.itemSalts === null;

interface ItemReader {
  of(deliveryId: number): Map<number, string | Uint8Array>;
  /** Names the columns of the last items that differ from their documents. Pages and lists show the columns. */
  contradicted(): readonly string[];
  close(): void;
}

/** Whether columns are what a document says. */
function isShown(
  { document, ...shown }: { readonly document: string },
  read: (fields: Fields) => SessionFacts | SpanFacts | LabelFacts,
): boolean {
  // Parsed as a whole: reading single members relies on valid JSON, and this text may have been altered.
  const parsed = parseJson(document);
  // Its hash reports a document that is no JSON.
  if (parsed === undefined) return true;
  const fields = asObject(parsed);
  const unread = [
    "externalId",
    ...(areTimesPlain(fields) ? [] : ["startedAt", "endedAt"]),
    ...("userEmail" in shown && isEmailPlain(fields) ? [] : ["userEmail"]),
  ];
  return Object.entries(read(fields)).every(
    ([name, value]) => unread.includes(name) || shown[name as keyof typeof shown] === value,
  );
}

/** Hands out the items' texts delivery by delivery, in ascending order of these. */
function readItems(core: Core): ItemReader {
  const sql = rows(core.store);
  let odd: string[] = [];
  const texts = {
    session(id: number): string {
      const session = sql.sessionItem.get(id);
      // A number that cannot be read exactly has no row.
      if (!session) return "";
      if (!isShown(session, readSession)) odd.push(`session ${id}`);
      return sessionText(session.externalId, session.document);
    },
    span(id: number): string {
      const row = sql.spanItem.get(id);
      const span = row && withDocument(core, row);
      if (span && !isShown(span, readSpan)) odd.push(`span ${id}`);
      return span ? spanText(span.sessionId, span.externalId, span.document) : "";
    },
    label(id: number): string {
      const label = sql.labelItem.get(id);
      if (!label) return "";
      if (!isShown(label, readLabel)) odd.push(`label ${id}`);
      return labelText(label.document);
    },
    note(id: number): Uint8Array {
      const note = noteRows(core.store).byId.get(id);
      return note ? noteText(note.commit, note.content) : Buffer.alloc(0);
    },
  };
  const walks = { ...sql.placed, note: noteWalks(core.store).placed };
  const sources = (["session", "span", "label", "note"] as const).map((kind) => {
    const iterator = walks[kind].iterate();
    return { textOf: texts[kind], iterator, next: iterator.next() };
  });
  return {
    contradicted: () => odd,
    of(deliveryId) {
      odd = [];
      const found = new Map<number, string | Uint8Array>();
      for (const source of sources)
        for (; !source.next.done && source.next.value.deliveryId <= deliveryId; source.next = source.iterator.next()) {
          const { id, item, deliveryId: own } = source.next.value;
          if (own === deliveryId) found.set(item, source.textOf(id));
        }
      return found;
    },
    close() {
      for (const { iterator } of sources) iterator.return?.();
    },
  };
}

/** Compares blocks with the spans that lie in them. */
function checkBlocks(core: Core, report: Report): void {
  const sql = rows(core.store);
  for (const { blockId, deliveryId } of sql.misplaced.all())
    report(deliveryId, "owner", `block ${blockId} of its spans says that it has those of others`);
  for (const id of sql.unused.all()) report(0, "stray", `block ${id} of spans holds none that is stored`);
  for (const { id, deliveryId } of sql.doubled.iterate())
    report(deliveryId, "stray", `span ${id} has a document beside the one in its block`);
}

/**
 * Looks at every row, and calls with the delivery of each.
 * @param itemless the deliveries whose rows are no items
 */
function checkOwners(
  core: Core,
  report: Report,
  itemless: ReadonlySet<number>,
  onDelivery: (deliveryId: number) => void,
): void {
  const sql = rows(core.store);
  const deliveryOf = deliveryFinder(core);
  const look = (
    what: string,
    list: Iterable<OwnerRow>,
    isOfRepo: (delivery: DeliveryFacts, row: OwnerRow) => boolean,
  ) => {
    for (const row of list) {
      const { id, deliveryId } = row;
      onDelivery(deliveryId);
      const delivery = deliveryOf(deliveryId);
      if (delivery?.kind !== "traces" || row.teamId === null)
        report(deliveryId, "stray", `${what} ${id} came with no trace delivery`);
      else if (row.item === null && !itemless.has(deliveryId))
        report(deliveryId, "stray", `${what} ${id} is none of what came with its delivery`);
      else if (delivery.teamId !== row.teamId || delivery.deviceId !== row.deviceId || !isOfRepo(delivery, row))
        report(deliveryId, "owner", `${what} ${id} is not of its delivery's team, device and repository`);
    }
  };
  // A batch that names no repository leaves sessions where they were; their spans follow them.
  look("session", sql.sessionOwners.iterate(), (delivery, { repoKey }) => ["", repoKey].includes(delivery.repoKey));
  look("span", sql.spanOwners.iterate(), () => true);
  look("label", sql.labelOwners.iterate(), (delivery, { repoKey }) => delivery.repoKey === repoKey);
  look("note", noteWalks(core.store).owners.iterate(), (delivery) => delivery.repoKey === "");
}
