import { deliveryItems } from "../../kit/items.ts";
import type { Intake } from "../intake/intake.ts";
import { appendBatch } from "./append.ts";
import { pack, textsIn } from "./packed.ts";
import { rows } from "./rows.ts";
import type { Entry } from "./rules.ts";

/**
 * Appends entries that came without numbers: they get the next ones of their stream, which nobody else numbers. Call inside a
 * transaction. Whether they came before is for the caller to know.
 * @param entries ready to be stored @param redacted in how many a secret was replaced
 */
export function appendUnnumbered(
  intake: Intake,
  entries: readonly Omit<Entry, "seq">[],
  redacted: number,
  now: number,
): void {
  if (entries.length === 0) return;
  const { core, device, repoKey } = intake;
  const last = rows(core.store).stream.get(device.deviceId, repoKey)?.maxSeq ?? 0;
  const packed = pack(
    entries.map(({ clientTimestamp, payload }, i) => ({ seq: last + 1 + i, clientTimestamp, payload })),
  );
  appendBatch(intake, { mode: null, packed, content: deliveryItems(repoKey, null, textsIn(packed)), redacted }, now);
}
