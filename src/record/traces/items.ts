import type { Core } from "../../core.ts";
import { withDocument } from "./documents.ts";
import { labelText, sessionText, spanText } from "./item-texts.ts";
import { rows } from "./rows.ts";

/**
 * Where a session, as it is held, stands among the items of the delivery that changed it last.
 * @returns that delivery, the items that are the session's, its own first (none where nothing changed it since deliveries have
 *   items), and the texts of all; undefined where there is no such session
 */
export function itemsOfSession(
  core: Core,
  id: number,
): { readonly deliveryId: number; readonly own: readonly number[]; readonly texts: Map<number, string> } | undefined {
  const sql = rows(core.store);
  const session = sql.lastOf.get(id);
  if (!session) return undefined;
  const { deliveryId, externalId, item } = session;
  if (item === null) return { deliveryId, own: [], texts: new Map() };
  const spans = sql.spansOf.all(deliveryId).map((one) => withDocument(core, one));
  const texts = new Map<number, string>();
  for (const one of sql.sessionsOf.iterate(deliveryId)) texts.set(one.item, sessionText(one.externalId, one.document));
  for (const one of spans) texts.set(one.item, spanText(one.sessionId, one.externalId, one.document));
  for (const one of sql.labelsOf.iterate(deliveryId)) texts.set(one.item, labelText(one.document));
  const own = [item, ...spans.filter(({ sessionId }) => sessionId === externalId).map((span) => span.item)];
  return { deliveryId, own, texts };
}
