import { touchDevice } from "../connect/connect.ts";
import type { Core } from "../core.ts";
import { refuse, tooLarge } from "../http/faults.ts";
import type { DevicePrincipal } from "../http/principal.ts";
import { members } from "../kit/json.ts";
import { recordDelivery, withdrawDelivery } from "../ledger/ledger.ts";
import type { ReadBatch, ReadSession } from "./read-batch.ts";
import { rows } from "./rows.ts";
import { asObject, mergeMembers, readSession, spell, spelledMembers } from "./rules.ts";

export interface StoredCounts {
  readonly sessions: number;
  readonly spans: number;
  readonly labels: number;
}

/**
 * Stores a batch. Call inside a transaction. A session known by its id is merged, its spans added or replaced by id; a
 * batch that changes nothing leaves no mark in the ledger.
 * @returns what the batch held, new or not
 */
export function storeBatch(core: Core, device: DevicePrincipal, repoKey: string, batch: ReadBatch): StoredCounts {
  touchDevice(core, device, core.clock.now());
  const spans = batch.sessions.reduce((sum, session) => sum + session.spans.length, 0);
  const counts = { sessions: batch.sessions.length, spans, labels: batch.labels.length };
  if (counts.sessions + counts.labels === 0) return counts;
  const deliveryId = recordDelivery(core, device, {
    kind: "traces",
    repoKey,
    mode: null,
    items: counts.sessions,
    redacted: batch.redacted,
    flagged: null,
    contentSha256: batch.digest,
  });
  let changes = 0;
  for (const [, parts] of Map.groupBy(batch.sessions, (session) => session.externalId))
    changes += putSession(core, device, repoKey, joinParts(parts), deliveryId);
  for (const label of batch.labels)
    changes += rows(core.store).putLabel.run({
      ...label,
      teamId: device.teamId,
      deviceId: device.deviceId,
      repoKey,
      deliveryId,
    }).changes;
  if (changes === 0) withdrawDelivery(core, deliveryId);
  return counts;
}

/** A session that stands several times in one batch, as one: later members over earlier ones, spans in order. */
function joinParts(parts: readonly ReadSession[]): ReadSession {
  const [first, ...more] = parts as [ReadSession, ...ReadSession[]];
  if (more.length === 0) return first;
  const members = new Map(parts.flatMap((part) => [...part.members]));
  const facts = readSession(asObject(JSON.parse(spell(members))));
  return { ...facts, externalId: first.externalId, members, spans: parts.flatMap((part) => part.spans) };
}

/** @returns how many rows it changed */
function putSession(
  core: Core,
  device: DevicePrincipal,
  repoKey: string,
  session: ReadSession,
  deliveryId: number,
): number {
  const sql = rows(core.store);
  const held = sql.session.get(device.deviceId, session.externalId);
  const common = {
    teamId: device.teamId,
    deviceId: device.deviceId,
    externalId: session.externalId,
    deliveryId,
    now: core.clock.now(),
  };
  let changes = 0;
  let sessionId = held?.id;
  if (!held) {
    sessionId = Number(
      sql.insertSession.run({ ...session, ...common, repoKey, document: spell(session.members) }).lastInsertRowid,
    );
    changes++;
  } else {
    const document = spell(mergeMembers(spelledMembers(held.document, members(held.document)), session.members));
    if (document.length > core.config.maxTraceBytes)
      refuse(tooLarge, {
        error: `The session would grow beyond ${core.config.maxTraceBytes} bytes without its spans.`,
      });
    // A later batch that names no repository leaves the session where it was.
    const place = repoKey === "" ? held.repoKey : repoKey;
    if (document !== held.document || place !== held.repoKey) {
      sql.updateSession.run({ ...readSession(asObject(JSON.parse(document))), ...common, repoKey: place, document });
      changes++;
    }
  }
  let spans = 0;
  for (const span of session.spans)
    spans += sql.putSpan.run({ ...span, sessionId: sessionId as number, deliveryId }).changes;
  // What follows sessions finds those that only their spans changed by the same mark.
  if (spans > 0 && changes === 0) sql.markSession.run(deliveryId, core.clock.now(), sessionId as number);
  return changes + spans;
}
