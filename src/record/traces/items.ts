import type { Core } from "../../core.ts";
import { documentOf } from "./documents.ts";
import { labelText, sessionText, spanText } from "./item-texts.ts";
import { rows } from "./rows.ts";

/**
 * Where a session, as it is held, stands among the items of the delivery that changed it last.
 * @returns that delivery; and when called the items that are the session's, its own first (none where nothing changed it since deliveries
 *   have items), and the texts of all. Undefined where there is no such session
 */
export function itemsOfSession(
  core: Core,
  id: number,
): { readonly deliveryId: number; items(): { own: readonly number[]; texts: Map<number, string> } } | undefined {
  const session = rows(core.store).lastOf.get(id);
  if (!session) return undefined;
  const { deliveryId, externalId, item } = session;
  const items = () => {
    if (item === null) return { own: [], texts: new Map<number, string>() };
    const brought = [...itemsOfDelivery(core, deliveryId)];
    const own = [item, ...brought.filter(({ spanOf }) => spanOf === externalId).map((span) => span.item)];
    return { own, texts: new Map(brought.map((one) => [one.item, one.text])) };
  };
  return { deliveryId, items };
}

/** A session, span or label that a delivery brought. */
interface Item {
  readonly item: number;
  readonly text: string;
  /** The repository that it stands in now. */
  readonly repoKey: string;
  /** Of a span, its session. */
  readonly spanOf?: string;
}

/** What is held of a delivery's items; spans in their order. */
export function* itemsOfDelivery(core: Core, deliveryId: number): Generator<Item> {
  const sql = rows(core.store);
  for (const { externalId, document, ...one } of sql.sessionsOf.all(deliveryId))
    yield { ...one, text: sessionText(externalId, document) };
  for (const { item, repoKey, sessionId, externalId, ...place } of sql.spansOf.all(deliveryId))
    yield { item, repoKey, text: spanText(sessionId, externalId, documentOf(core, place)), spanOf: sessionId };
  for (const { document, ...one } of sql.labelsOf.all(deliveryId)) yield { ...one, text: labelText(document) };
}
