import type { Core } from "../../core.ts";
import { eraseRows } from "./erase-rows.ts";
import { exportRows } from "./export-rows.ts";

const BATCH_SPANS = 100;

/**
 * The sessions of a device with their spans and labels as JSON lines, each `{type, …, document}` with the document as it is stored.
 * Reads in short queries.
 * @param repoKey only of this repository; null for all
 */
export function* exportSessions(core: Core, deviceId: string, repoKey: string | null): Generator<string> {
  const sql = exportRows(core.store);
  const until = Number.MAX_SAFE_INTEGER;
  for (const { id } of eraseRows(core.store).sessions.all({ deviceId, repoKey, until })) {
    const session = sql.session.get(id);
    if (!session) continue;
    const { document, ...facts } = session;
    yield line({ type: "session", deviceId, ...facts }, document);
    for (let after = 0; ; ) {
      const spans = sql.spans.all(id, after, BATCH_SPANS);
      for (const span of spans)
        yield line({ type: "span", deviceId, session: facts.externalId, deliveryId: span.deliveryId }, span.document);
      if (spans.length < BATCH_SPANS) break;
      after = spans.at(-1)?.id ?? after;
    }
  }
  for (const { document, ...facts } of sql.labels.all({ deviceId, repoKey }))
    yield line({ type: "label", deviceId, ...facts }, document);
}

/** The document is JSON as it was sent; line breaks between its tokens, which JSON Lines does not allow, become spaces. */
const line = (facts: object, document: string): string =>
  `${JSON.stringify(facts).slice(0, -1)},"document":${document.replace(/[\r\n]/g, " ")}}\n`;
