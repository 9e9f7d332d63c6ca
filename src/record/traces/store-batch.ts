import type { Core } from "../../core.ts";
import { touchDevice } from "../../identity/devices/devices.ts";
import { members } from "../../kit/json.ts";
import { fail, tooLarge } from "../../kit/problem.ts";
import { recordDelivery, withdrawDelivery } from "../../log/log.ts";
import type { DevicePrincipal } from "../../platform/http/principal.ts";
import type { Part } from "./parts.ts";
import type { ReadBatch, ReadSession } from "./read-batch.ts";
import { rows } from "./rows.ts";
import { asObject, mergeMembers, readSession, spell, spelledMembers } from "./rules.ts";

/**
 * Demands that every session of a batch may grow by it, for batches that are stored in several transactions: a refusal halfway
 * would leave half of it behind.
 * @throws Problem tooLarge (413)
 */
export function requireRoom(core: Core, device: DevicePrincipal, batch: ReadBatch): void {
  for (const session of batch.sessions) {
    const held = rows(core.store).session.get(device.deviceId, session.externalId);
    if (held) grown(core, held.document, session);
  }
}

/**
 * Stores a batch or a part of one. Call inside a transaction. A session known by its id is merged, its spans added or replaced
 * by id; what changes nothing leaves no mark in the ledger.
 */
export function storePart(core: Core, device: DevicePrincipal, repoKey: string, part: Part): void {
  touchDevice(core, device, core.clock.now());
  if (part.sessions.length + part.labels.length === 0) return;
  const deliveryId = recordDelivery(core, device, {
    kind: "traces",
    repoKey,
    mode: null,
    items: part.items,
    redacted: part.redacted,
    flagged: null,
    contentSha256: part.digest,
  });
  let changes = 0;
  for (const [, parts] of Map.groupBy(part.sessions, (session) => session.externalId))
    changes += putSession(core, device, repoKey, joinParts(parts), deliveryId);
  for (const label of part.labels)
    changes += rows(core.store).putLabel.run({
      ...label,
      teamId: device.teamId,
      deviceId: device.deviceId,
      repoKey,
      deliveryId,
    }).changes;
  if (changes === 0) withdrawDelivery(core, deliveryId);
}

/** What a session that is held becomes. @throws Problem tooLarge (413) */
function grown(core: Core, held: string, session: ReadSession): string {
  const document = spell(mergeMembers(spelledMembers(held, members(held)), session.members));
  if (document.length > core.config.maxTraceBytes)
    fail(tooLarge, `The session would grow beyond ${core.config.maxTraceBytes} bytes without its spans.`);
  return document;
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
    const document = grown(core, held.document, session);
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
