import * as v from "valibot";
import { isoInstant } from "../../kit/clock.ts";
import { Count, Instant, repoKeyOf } from "../../platform/http/fields.ts";
import type { EntryRow } from "../../record/telemetry/telemetry.ts";
import { Id, RepoKey, Text } from "./fields.ts";

/** What lists and single replies tell of a telemetry entry alike. */
export const EntryFacts = v.object({
  id: Id,
  deviceId: v.string(),
  deviceLabel: Text,
  repoKey: RepoKey,
  seq: Count,
  receivedAt: Instant,
  clientTimestamp: v.pipe(Text, v.description("As the client wrote it.")),
  type: v.pipe(Text, v.description("The payload's own.")),
  sessionId: v.pipe(Text, v.description("The payload's own, as `sessionId` or `session_id`.")),
  flagged: v.pipe(v.nullable(v.picklist(["gap", "rollback"])), v.description("How its delivery was flagged.")),
  conflict: v.pipe(v.boolean(), v.description("Whether other content came under the same seq.")),
  missingBefore: v.pipe(
    v.nullable(v.object({ from: Count, to: Count })),
    v.description("Sequence numbers just below it that never arrived."),
  ),
  payloadBytes: v.pipe(Count, v.description("Of the payload's JSON, UTF-8.")),
});

export function factsOf(row: EntryRow) {
  const { id, deviceId, deviceLabel, repoKey, seq, clientTimestamp, type, sessionId, conflict } = row;
  return {
    ...{ id, deviceId, deviceLabel, repoKey: repoKeyOf(repoKey), seq },
    receivedAt: isoInstant(row.receivedAt),
    ...{ clientTimestamp, type, sessionId },
    flagged: row.deliveryFlag,
    conflict,
    missingBefore: row.missingBefore ?? null,
    payloadBytes: Buffer.byteLength(row.payload),
  };
}

export const EXAMPLE_ENTRY = {
  id: 11,
  deviceId: "dev_06a15c9c007x7v3w3nbxrw2s5m",
  deviceLabel: "ada-laptop",
  repoKey: "github.com/acme/shop",
  seq: 4,
  receivedAt: "2026-11-21T08:12:31.000Z",
  clientTimestamp: "2026-11-21T08:12:30Z",
  type: "tool",
  sessionId: "b7c0a1",
  flagged: null,
  conflict: false,
  missingBefore: null,
  payloadBytes: 54,
};
