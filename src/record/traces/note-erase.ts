import type { Core } from "../../core.ts";
import { type EraseStep, MAX_ERASED_ROWS } from "../../kit/erase-steps.ts";
import { wholeNames } from "../../kit/whole-names.ts";
import { deliveryErasure, type Portion } from "../../log/log.ts";
import { eraseRows } from "./erase-rows.ts";
import { noteText } from "./item-texts.ts";
import { type NoteRow, noteRows, type SizedNote } from "./note-rows.ts";

type OnErased = (sessions: readonly string[], commit: string) => void;

/** Bytes of notes that one transaction removes at most: they are read once more for their hashes. */
const MAX_STEP_BYTES = 8 * 1024 * 1024;

/**
 * Erases the notes that a device sent, if the portion covers all repositories, because notes name none.
 * @param isKept told the sessions that a note names
 * @param onErased told the commit of a note and the sessions that it named, in the transaction that removes it
 */
function* eraseNotes(
  core: Core,
  portion: Portion,
  isKept: (sessions: readonly string[]) => boolean,
  onErased: OnErased,
): Generator<EraseStep> {
  if (portion.repoKey !== null) return;
  const sql = noteRows(core.store);
  const notes = sql.ofDevice
    .all(portion.deviceId, portion.until, portion.through)
    .filter(({ id }) => !isKept(sql.names.all(id)));
  yield* dropped(core, notes, portion.erasureId, onErased);
}

/**
 * Erases the notes that name a session, whoever sent them: its id stands in their texts.
 * @param isKept told who sent a note, and the sessions that it names
 */
function* eraseNotesOf(
  core: Core,
  { teamId, externalId }: { readonly teamId: string; readonly externalId: string },
  erasureId: string,
  isKept: (deviceId: string, sessions: readonly string[]) => boolean,
  onErased: OnErased,
): Generator<EraseStep> {
  const notes = noteRows(core.store)
    .ofSession.all(teamId, externalId)
    .filter(({ id }) => {
      const { deviceId, sessions } = factsOfNote(core, id);
      return !isKept(deviceId, sessions);
    });
  yield* dropped(core, notes, erasureId, onErased);
}

/** Who sent a note, and the sessions that it names, by its number. */
function factsOfNote(core: Core, id: number): { readonly deviceId: string; readonly sessions: readonly string[] } {
  const { senderOf, names } = noteRows(core.store);
  return { deviceId: senderOf.get(id) ?? "", sessions: names.all(id) };
}

/** Notes looked through at once for a text. */
const MAX_SEARCHED = 200;

/** Erases the notes of a team in which a text stands whole, such as a person's e-mail address. */
function* eraseNotesNaming(
  core: Core,
  { teamId, text }: { readonly teamId: string; readonly text: string },
  erasureId: string,
  onErased: OnErased,
): Generator<EraseStep> {
  for (const notes of naming(core, teamId, text)) {
    yield* dropped(core, notes, erasureId, onErased);
    // Others get their turn between two steps.
    yield () => ({});
  }
}

/** The notes of a team in which a text stands whole. Yielded in stretches, so that others get their turn. */
function* naming(core: Core, teamId: string, text: string): Generator<readonly SizedNote[]> {
  const sql = noteRows(core.store);
  const whole = wholeNames([text]);
  const names = ({ id }: SizedNote) => plain(sql.byId.get(id)?.content).search(whole) !== -1;
  const last = sql.last.get() ?? 0;
  for (let after = 0; after < last; after += MAX_SEARCHED)
    yield sql.naming.all({ teamId, text, after, upTo: after + MAX_SEARCHED }).filter(names);
}

/** A note's text without the escapes of its JSON: the letter of an escaped line break is no part of the address after it. */
const plain = (content: Buffer | undefined) =>
  (content?.toString("utf8") ?? "").replace(/\\(?:u[\da-f]{4}|[\s\S])/gi, " ");

/** The same by their numbers. */
function* notesNaming(core: Core, teamId: string, text: string): Generator<readonly number[]> {
  for (const notes of naming(core, teamId, text)) yield notes.map(({ id }) => id);
}

function* dropped(
  core: Core,
  notes: readonly SizedNote[],
  erasureId: string,
  onErased: OnErased,
): Generator<EraseStep> {
  let some: number[] = [];
  let bytes = 0;
  for (const [i, note] of notes.entries()) {
    some.push(note.id);
    bytes += note.bytes;
    if (bytes < MAX_STEP_BYTES && some.length < MAX_ERASED_ROWS && i < notes.length - 1) continue;
    const ids = some;
    some = [];
    bytes = 0;
    yield () => ({ notes: drop(core, ids, erasureId, onErased) });
  }
}

/** @returns how many there were */
function drop(core: Core, ids: readonly number[], erasureId: string, onErased: OnErased): number {
  const sql = noteRows(core.store);
  const notes = ids.flatMap((id) => sql.byId.get(id) ?? []);
  for (const [deliveryId, of] of Map.groupBy(notes, (note) => note.deliveryId)) {
    deliveryErasure.forgetItems(core, deliveryId, textsOf(of));
    for (const { id, commit } of of) {
      const sessions = sql.names.all(id);
      sql.dropNames.run(id);
      sql.drop.run(id);
      onErased(sessions, commit);
    }
    if (!isHeld(core, deliveryId)) deliveryErasure.markErased(core, deliveryId, erasureId);
  }
  return notes.length;
}

const textsOf = (notes: readonly NoteRow[]) =>
  new Map(notes.map(({ item, commit, content }) => [item, noteText(commit, content)]));

/** Whether anything is left that a delivery brought or changed last: earlier deliveries brought spans of a session that goes on. */
export const isHeld = (core: Core, deliveryId: number): boolean =>
  eraseRows(core.store).isHeld.get({ id: deliveryId }) === 1;

/** The notes that would go with a device's portion, or only with some sessions of it, by their numbers. */
function notesOf(
  core: Core,
  { deviceId, repoKey, until, through }: Omit<Portion, "erasureId">,
  sessions: readonly { readonly teamId: string; readonly externalId: string }[],
  isWhole: boolean,
): number[] {
  const sql = noteRows(core.store);
  const own = isWhole && repoKey === null ? sql.ofDevice.all(deviceId, until, through) : [];
  return [...own.map(({ id }) => id), ...notesOfSessions(core, sessions)];
}

/** The notes that name some sessions, by their numbers. */
const notesOfSessions = (
  core: Core,
  sessions: readonly { readonly teamId: string; readonly externalId: string }[],
): number[] =>
  sessions.flatMap(({ teamId, externalId }) =>
    noteRows(core.store)
      .ofSession.all(teamId, externalId)
      .map(({ id }) => id),
  );

/** Erasing notes of commits. */
export const noteErasure = {
  eraseNotes,
  eraseNotesOf,
  eraseNotesNaming,
  notesOf,
  notesOfSessions,
  notesNaming,
  factsOfNote,
};
