import type { Core } from "../../core.ts";
import { metadataOf } from "../../formats/metadata.ts";
import { outcomeKind } from "../../formats/outcomes.ts";
import type { DevicePrincipal } from "../../identity/devices/devices.ts";
import { DAY_MS } from "../../kit/clock.ts";
import { commitHashed, deliveryItems, type Items } from "../../kit/items.ts";
import { fail, tooLarge } from "../../kit/problem.ts";
import { cooperative } from "../../kit/yield.ts";
import { keepItems } from "../../log/log.ts";
import { notify } from "../../platform/notices/notices.ts";
import type { Intake } from "../intake/intake.ts";
import { withDocument } from "./documents.ts";
import { labelText, sessionText, spanText } from "./item-texts.ts";
import type { Part } from "./parts.ts";
import type { Head } from "./prepare.ts";
import { type ReadLabel, type ReadSession, type ReadSpan, spanOf } from "./read-batch.ts";
import { rows, type SessionRow, type StoredSession, type StoredSpan } from "./rows.ts";
import {
  mergeMembers,
  parsedMembers,
  readSession,
  refilled,
  SESSION_FACTS,
  type SessionFacts,
  SPAN_FACTS,
  spell,
  spelledMembers,
} from "./rules.ts";

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
 * by id; what changes nothing leaves no mark in the log.
 * @param merge how what is sent is laid over what is stored
 */
export function storePart(intake: Intake, part: Part, now: number, merge: Merge = WHOLE): void {
  const { core, repoKey } = intake;
  const pieces = Map.groupBy(part.sessions, (session) => session.externalId).values();
  const changes = pieces
    .map((of) => changeOf(intake, joinPieces(of), merge))
    .filter((change) => change !== undefined)
    .toArray();
  const labels = newLabels(intake, part.labels);
  if (changes.length + labels.length === 0) return;
  const { texts, sessions } = itemsOf(changes, labels);
  const deliveryId = intake.record({
    mode: null,
    items: part.items,
    redacted: part.redacted,
    withheld: part.withheld,
    flagged: null,
    content: commitHashedPart(part, changes, labels, texts) ?? deliveryItems(repoKey, null, texts),
  });
  const { teamId, deviceId } = intake.device;
  keepReplaced(core, changes);
  for (const [i, change] of changes.entries())
    apply(intake, change, { teamId, deviceId, deliveryId, now, exported: merge.exported }, sessions[i] as number);
  labels.forEach((label, i) => {
    const item = texts.length - labels.length + i + 1;
    rows(core.store).insertLabel.run({ ...label, teamId, deviceId, repoKey, deliveryId, item });
  });
}

/** How what is sent of a session is laid over what is stored. */
export interface Merge {
  session(stored: Map<string, string>, sent: Map<string, string>): Map<string, string>;
  /** Undefined where a span that comes again replaces the one before. Both are documents. */
  readonly span?: (stored: string, sent: string) => string;
  /** Whether it says nothing of a session as a whole. */
  readonly exported: 0 | 1;
}

const WHOLE: Merge = { session: mergeMembers, exported: 0 };

/** The texts of a delivery's items, and the index of each session among them; its spans follow it. */
function itemsOf(changes: readonly Change[], labels: readonly ReadLabel[]): { texts: string[]; sessions: number[] } {
  const texts: string[] = [];
  const sessions: number[] = [];
  for (const { session, document, spans } of changes) {
    sessions.push(texts.push(sessionText(session.externalId, document)));
    for (const { span } of spans) texts.push(spanText(session.externalId, span.externalId, span.document));
  }
  for (const { document } of labels) texts.push(labelText(document));
  return { texts, sessions };
}

/** Commits to a part by hashes made ahead; undefined when some of it is not stored as it was hashed. */
function commitHashedPart(
  { hashed, sessions, labels: sent }: Part,
  changes: readonly Change[],
  labels: readonly ReadLabel[],
  texts: readonly string[],
): Items | undefined {
  const isWhole = changes.length === sessions.length && labels.length === sent.length;
  if (!isWhole || !hashed) return undefined;
  const others = new Map<number, string>();
  // The first item is the delivery's own.
  let place = 1;
  for (const [i, { stored, spans }] of changes.entries()) {
    if (spans.length !== sessions[i]?.spans.length) return undefined;
    if (stored) others.set(place, texts[place - 1] as string);
    place++;
    for (const { stored: known } of spans) {
      if (known) others.set(place, texts[place - 1] as string);
      place++;
    }
  }
  return commitHashed(hashed, others);
}

/** What a session that is stored becomes. @throws Problem tooLarge (413) */
function grown(core: Core, stored: string, sent: Map<string, string>, merge: Merge = WHOLE): string {
  const document = spell(merge.session(spelledMembers(stored), sent));
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

/** What a session that was sent changes. */
interface Change {
  readonly session: ReadSession;
  /** Absent for a new one. */
  readonly stored: StoredSession | undefined;
  /** As it will be stored. */
  readonly document: string;
  readonly repoKey: string;
  /** New, or other than what is stored, each id once. */
  readonly spans: readonly { readonly span: ReadSpan; readonly stored: StoredSpan | undefined }[];
}

/** @returns undefined when nothing of it is new */
function changeOf(
  { core, device, repoKey, captureMode }: Intake,
  session: ReadSession,
  merge: Merge,
): Change | undefined {
  const sql = rows(core.store);
  const stored = sql.session.get(device.deviceId, session.externalId);
  const isStripped = captureMode === "metadata";
  const own = stored && isStripped && !merge.span ? refilled(stored.document, session.members) : session.members;
  const document = stored ? grown(core, stored.document, own, merge) : spell(own);
  // A later batch that names no repository leaves the session where it was.
  const place = stored && repoKey === "" ? stored.repoKey : repoKey;
  const spans = [...new Map(session.spans.map((span) => [span.externalId, span])).values()]
    .map((span) => {
      const row = stored && sql.span.get(stored.id, span.externalId);
      const known = row && withDocument(core, row);
      return {
        span: known && merge.span ? grownSpan(span, merge.span(known.document, span.document)) : span,
        stored: known,
      };
    })
    .filter(({ span, stored: known }) => {
      if (known?.document === span.document) return false;
      return !(isStripped && known && metadataOf(known.document, "span") === span.document);
    });
  const isSame = document === stored?.document && place === stored.repoKey;
  return isSame && spans.length === 0 ? undefined : { session, stored, document, repoKey: place, spans };
}

const grownSpan = ({ externalId }: ReadSpan, document: string): ReadSpan => ({
  ...spanOf(parsedMembers(document, SPAN_FACTS), document),
  externalId,
});

/** Labels that are not stored yet, each once. */
function newLabels({ core, device, repoKey }: Intake, labels: readonly ReadLabel[]): ReadLabel[] {
  const byDigest = new Map(labels.map((label) => [label.contentSha256.toString("hex"), label]));
  return [...byDigest.values()].filter(
    ({ contentSha256 }) => !rows(core.store).hasLabel.get(device.deviceId, repoKey, contentSha256),
  );
}

type Mark = Pick<SessionRow, "teamId" | "deviceId" | "deliveryId" | "now" | "exported">;

/** Keeps the hashes of what is about to be replaced, because the roots of earlier deliveries are made of them. */
function keepReplaced(core: Core, changes: readonly Change[]): void {
  const replaced = changes.flatMap(({ session: { externalId }, stored, spans }) => [
    ...(stored ? [{ ...stored, text: sessionText(externalId, stored.document) }] : []),
    ...spans.flatMap(({ span, stored: known }) =>
      known ? [{ ...known, text: spanText(externalId, span.externalId, known.document) }] : [],
    ),
  ]);
  for (const [deliveryId, of] of Map.groupBy(replaced, (one) => one.deliveryId)) {
    const texts = of.flatMap(({ item, text }): [number, string][] => (item === null ? [] : [[item, text]]));
    keepItems(core, deliveryId, new Map(texts));
  }
}

/** @param item the session's own; those of its spans follow */
function apply(
  { core }: Intake,
  { session, stored, document, repoKey, spans }: Change,
  mark: Mark,
  item: number,
): void {
  const sql = rows(core.store);
  const { externalId } = session;
  const { deliveryId } = mark;
  let sessionId = stored?.id;
  let facts: SessionFacts = session;
  if (sessionId === undefined || !stored) {
    sessionId = Number(sql.insertSession.run({ ...session, ...mark, repoKey, document, item }).lastInsertRowid);
  } else {
    facts = readSession(parsedMembers(document, SESSION_FACTS));
    sql.updateSession.run({ ...facts, ...mark, externalId, repoKey, document, item });
  }
  for (const [i, { span, stored: known }] of spans.entries()) {
    const { parentId, name, kind, startedAt, endedAt, document: own, signs } = span;
    const put = known ? sql.replaceSpan : sql.insertSpan;
    put.run(parentId, name, kind, startedAt, endedAt, own, deliveryId, item + i + 1, signs, sessionId, span.externalId);
  }
  if (outcomeKind(facts.outcome) === "failed") notifyFailed(core, facts, stored, { ...mark, repoKey, sessionId });
}

/** Sessions that ended before that are history, which agents send when they are first connected. */
const RECENT_MS = DAY_MS;

/** Row change: tells whoever wants to hear of it that a session failed, when it is first known. */
function notifyFailed(
  core: Core,
  { outcome, agent, endedAt, startedAt }: SessionFacts,
  stored: StoredSession | undefined,
  { teamId, deviceId, repoKey, sessionId, now }: Mark & { readonly repoKey: string; readonly sessionId: number },
): void {
  if ((endedAt ?? startedAt ?? now) < now - RECENT_MS) return;
  if (stored && outcomeKind(readSession(parsedMembers(stored.document, SESSION_FACTS)).outcome) === "failed") return;
  const data = { session: sessionId, outcome, agent, device: deviceId, repo: repoKey };
  notify(core, { type: "session.failed", teamId, path: `/sessions/${sessionId}`, data, deviceId, repoKey });
}
