import type { Core } from "../../core.ts";
import { deliveryItems } from "../../kit/items.ts";
import { keepItems } from "../../log/log.ts";
import type { Intake } from "../intake/intake.ts";
import { noteText } from "./item-texts.ts";
import { type NoteRow, noteRows } from "./note-rows.ts";

/**
 * Notes of commits: which lines of one which session wrote. A team has one of a commit, the last that came; its bytes stay as they
 * were sent.
 */

/** A note on its way into the store. */
interface SentNote {
  /** Hexadecimal digits as they were sent: no two spellings are one. */
  readonly commit: string;
  /** UTF-8, free of secrets. */
  readonly content: Buffer;
  /** The sessions that it names, by their agents' ids. */
  readonly sessions: readonly string[];
}

/** How deliveries of notes are told from others of their kind. */
export const NOTES_MODE = "notes";

/** Bytes, notes and names of sessions that one transaction stores, about: everybody else waits while it does. */
const MAX_PART_BYTES = 4 * 1024 * 1024;
const MAX_PART_NOTES = 200;
const MAX_PART_NAMES = 2_000;

/**
 * Stores notes, some at a time. Whoever sends them again because the server stopped halfway finds that what was stored is not stored
 * twice: a note that a team has already leaves no mark.
 */
async function deliver(intake: Intake, notes: readonly SentNote[]): Promise<void> {
  // Only the first part says how much was withheld.
  let { withheld } = intake;
  for (const part of partsOf(notes)) {
    await intake.store((now) => storeNotes(intake, part, withheld, now));
    withheld = 0;
  }
}

/** At least one part, so that an empty delivery is noted, too. */
function* partsOf(notes: readonly SentNote[]): Generator<readonly SentNote[]> {
  let part: SentNote[] = [];
  let bytes = 0;
  let names = 0;
  for (const note of notes) {
    const isFull = part.length >= MAX_PART_NOTES || names >= MAX_PART_NAMES;
    if (part.length > 0 && (isFull || bytes + note.content.length > MAX_PART_BYTES)) {
      yield part;
      [part, bytes, names] = [[], 0, 0];
    }
    part.push(note);
    bytes += note.content.length;
    names += note.sessions.length;
  }
  yield part;
}

/** Call inside a transaction. */
function storeNotes(intake: Intake, sent: readonly SentNote[], withheld: number, now: number): void {
  const { core, device, repoKey } = intake;
  const { teamId, deviceId } = device;
  const sql = noteRows(core.store);
  const changes = [...new Map(sent.map((note) => [note.commit, note])).values()]
    .map((note) => ({ note, stored: sql.note.get(teamId, note.commit) }))
    .filter(({ note, stored }) => !stored?.content.equals(note.content));
  if (changes.length === 0) return;
  const texts = changes.map(({ note: { commit, content } }) => noteText(commit, content));
  const deliveryId = intake.record({
    mode: NOTES_MODE,
    // Counts sessions, as in every delivery of this kind.
    items: 0,
    redacted: 0,
    withheld,
    flagged: null,
    content: deliveryItems(repoKey, NOTES_MODE, texts),
  });
  keepReplaced(
    core,
    changes.flatMap(({ stored }) => stored ?? []),
  );
  for (const [i, { note }] of changes.entries()) {
    const { commit, content, sessions } = note;
    const id = sql.put.get({ teamId, deviceId, commit, content, deliveryId, item: i + 1, now }) as number;
    sql.dropNames.run(id);
    for (const session of new Set(sessions)) sql.putName.run(teamId, session, id);
  }
}

/** Keeps the hashes of notes that are about to be replaced, because the roots of earlier deliveries are made of them. */
function keepReplaced(core: Core, replaced: readonly NoteRow[]): void {
  for (const [deliveryId, of] of Map.groupBy(replaced, (note) => note.deliveryId))
    keepItems(core, deliveryId, new Map(of.map(({ item, commit, content }) => [item, noteText(commit, content)])));
}

/** Which of these commits the team has a note of, each once, as they were asked for. */
const known = (core: Core, teamId: string, commits: readonly string[]): string[] =>
  [...new Set(commits)].filter((commit) => noteRows(core.store).hasNote.get(teamId, commit) === 1);

/** The note of a commit, as it was sent; undefined where the team has none. */
const contentOf = (core: Core, teamId: string, commit: string): string | undefined =>
  noteRows(core.store).note.get(teamId, commit)?.content.toString("utf8");

/** Commits of one beginning that are looked at. */
const MAX_ALIKE = 4;

/** The commits with notes whose SHA begins so, see `contentOf`. @param sha 7 hexadecimal digits and more, lower case */
const ofCommit = (core: Core, teamId: string, sha: string) =>
  noteRows(core.store).between.all(teamId, sha, `${sha}g`, MAX_ALIKE);

/** Commits that notes say a session wrote lines of, the newest notes first. @param externalId its agent's id for it */
const commitsOf = (core: Core, teamId: string, externalId: string, limit: number) =>
  noteRows(core.store).commitsOf.all(teamId, externalId, limit);

/** The sessions that the next delivery with notes names, after a given one. @returns undefined when none follows */
function namedAfter(core: Core, deliveryId: number) {
  const sql = noteRows(core.store);
  const next = sql.nextDelivery.get(deliveryId);
  return next === undefined ? undefined : { deliveryId: next, sessions: sql.namesBetween.all(next - 1, next) };
}

/** The sessions that deliveries with notes name, after one, up to and with another. */
const namedBetween = (core: Core, after: number, upTo: number) => noteRows(core.store).namesBetween.all(after, upTo);

/** The commits whose notes replaced others, which may have named other sessions, in deliveries after one, up to and with another. */
const replacedBetween = (core: Core, after: number, upTo: number) =>
  noteRows(core.store).replacedBetween.all(after, upTo);

/** Notes of commits, stored and read. */
export const commitNotes = {
  deliver,
  known,
  contentOf,
  ofCommit,
  commitsOf,
  namedAfter,
  namedBetween,
  replacedBetween,
};
