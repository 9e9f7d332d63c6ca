import type { Core } from "../../core.ts";
import { metadataOf } from "../../formats/metadata.ts";
import type { DevicePrincipal } from "../../identity/devices/devices.ts";
import { members } from "../../kit/json.ts";
import { fail, tooLarge } from "../../kit/problem.ts";
import { cooperative } from "../../kit/yield.ts";
import { withdrawDelivery } from "../../log/log.ts";
import type { Intake } from "../intake/intake.ts";
import type { Part } from "./parts.ts";
import type { Head } from "./prepare.ts";
import type { ReadSession } from "./read-batch.ts";
import { rows, type SessionRow } from "./rows.ts";
import { mergeMembers, parsedMembers, readSession, refilled, SESSION_FACTS, spell, spelledMembers } from "./rules.ts";

/**
 * Demands that every session of a batch may grow by it, for batches that are stored in several transactions: a refusal halfway
 * would leave half of it behind.
 * @throws Problem tooLarge (413)
 */
export async function requireRoom(core: Core, device: DevicePrincipal, heads: Iterable<Head>): Promise<void> {
  const yieldNow = cooperative(core.clock);
  for (const { externalId, members } of heads) {
    const stored = rows(core.store).session.get(device.deviceId, externalId);
    if (stored) grown(core, stored.document, members);
    await yieldNow();
  }
}

/**
 * Stores a batch or a part of one. Call inside a transaction. A session known by its id is merged, its spans added or replaced
 * by id; what changes nothing leaves no mark in the ledger.
 */
export function storePart(intake: Intake, part: Part, now: number): void {
  const { core, device, repoKey } = intake;
  const { teamId, deviceId } = device;
  if (part.sessions.length + part.labels.length === 0) return;
  const deliveryId = intake.record({
    mode: null,
    items: part.items,
    redacted: part.redacted,
    withheld: part.withheld,
    flagged: null,
    contentSha256: part.digest,
  });
  let changes = 0;
  for (const [, pieces] of Map.groupBy(part.sessions, (session) => session.externalId))
    changes += putSession(intake, joinPieces(pieces), { teamId, deviceId, deliveryId, now });
  for (const label of part.labels)
    changes += rows(core.store).putLabel.run({ ...label, teamId, deviceId, repoKey, deliveryId }).changes;
  if (changes === 0) withdrawDelivery(core, deliveryId);
}

/** What a session that is stored becomes. @throws Problem tooLarge (413) */
function grown(core: Core, stored: string, sent: Map<string, string>): string {
  const document = spell(mergeMembers(spelledMembers(stored, members(stored)), sent));
  if (document.length > core.config.maxTraceBytes)
    fail(tooLarge, `The session would grow beyond ${core.config.maxTraceBytes} bytes without its spans.`);
  return document;
}

/** A session that stands several times in one batch, as one: later members over earlier ones, spans in order. */
function joinPieces(pieces: readonly ReadSession[]): ReadSession {
  const [first, ...more] = pieces as [ReadSession, ...ReadSession[]];
  if (more.length === 0) return first;
  const members = new Map(pieces.flatMap((piece) => [...piece.members]));
  const facts = readSession(parsedMembers(spell(members), SESSION_FACTS));
  return { ...facts, externalId: first.externalId, members, spans: pieces.flatMap((piece) => piece.spans) };
}

type Mark = Pick<SessionRow, "teamId" | "deviceId" | "deliveryId" | "now">;

/** @returns how many rows it changed */
function putSession({ core, repoKey, captureMode }: Intake, session: ReadSession, mark: Mark): number {
  const sql = rows(core.store);
  const { externalId } = session;
  const { deliveryId, now } = mark;
  const stored = sql.session.get(mark.deviceId, externalId);
  const isStripped = captureMode === "metadata";
  let changes = 0;
  let sessionId: number;
  if (!stored) {
    const document = spell(session.members);
    sessionId = Number(sql.insertSession.run({ ...session, ...mark, repoKey, document }).lastInsertRowid);
    changes++;
  } else {
    sessionId = stored.id;
    const own = isStripped ? refilled(stored.document, session.members) : session.members;
    const document = grown(core, stored.document, own);
    // A later batch that names no repository leaves the session where it was.
    const place = repoKey === "" ? stored.repoKey : repoKey;
    if (document !== stored.document || place !== stored.repoKey) {
      const facts = readSession(parsedMembers(document, SESSION_FACTS));
      sql.updateSession.run({ ...facts, ...mark, externalId, repoKey: place, document });
      changes++;
    }
  }
  let spans = 0;
  for (const span of session.spans) {
    const known = isStripped && stored ? sql.span.get(sessionId, span.externalId) : undefined;
    if (known !== undefined && metadataOf(known, "span") === span.document) continue;
    spans += sql.putSpan.run({ ...span, sessionId, deliveryId }).changes;
  }
  // What follows sessions finds those that only their spans changed by the same mark.
  if (spans > 0 && changes === 0) sql.markSession.run(deliveryId, now, sessionId);
  return changes + spans;
}
