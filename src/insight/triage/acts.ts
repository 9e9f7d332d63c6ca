import type { Core } from "../../core.ts";
import { findMember } from "../../identity/members/members.ts";
import { DAY_MS, isoInstant } from "../../kit/clock.ts";
import { conflict, fail, invalid, notFound } from "../../kit/problem.ts";
import { grouped } from "../../kit/strings.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { type EventKind, rows, type WordRow } from "./rows.ts";
import { isSnoozed } from "./standing.ts";
import { readTracker } from "./tracker.ts";

/** What something is done to. */
export interface Subject {
  readonly teamId: string;
  /** The class: the first 8 hexadecimal digits of its entries' fingerprints. */
  readonly fingerprint: string;
  /** One entry of the class, when the act is about that entry alone; for a class with one entry it is about the class all the same. */
  readonly entryId?: number | undefined;
}

/** What somebody does. */
export type Act =
  | { readonly kind: "assign"; readonly ownerId: string | null }
  | { readonly kind: "resolve" }
  | { readonly kind: "reopen" }
  /** Until an instant, milliseconds since the epoch; null until it comes again. */
  | { readonly kind: "snooze"; readonly until: number | null }
  | { readonly kind: "comment"; readonly text: string }
  /** The HTTPS address of where it is tracked; null for none. */
  | { readonly kind: "link"; readonly url: string | null };

const MAX_COMMENT_CHARS = 4_000;
const MAX_SNOOZE_MS = 366 * DAY_MS;

/** What an act changes of a word, and how it is recorded; nothing where all is so already. */
interface Change {
  readonly event: EventKind;
  readonly word?: Partial<WordRow>;
  readonly otherId?: string | null;
  readonly body?: string | null;
}

/**
 * Does something to a class or to one of its entries, in the name of somebody who may. What is so already is not done again, whoever
 * did it.
 * @param seen the revision of what they looked at; undefined for who looked at none, such as the command line
 * @returns whether anything changed
 * @throws Problem 404 for no such class, 409 when somebody else changed it meanwhile, 400 for what will not do
 */
export async function act(core: Core, subject: Subject, what: Act, by: Actor, seen?: number): Promise<boolean> {
  const change = readAct(core, subject, what, by);
  return core.store.write(() => {
    const sql = rows(core.store);
    const { teamId, fingerprint } = subject;
    const known = sql.classOf.get(teamId, fingerprint);
    if (!known || known.occurrences === 0) fail(notFound, "This team has no such class of errors.");
    const entryId = known.occurrences === 1 ? 0 : (subject.entryId ?? 0);
    const word = sql.word.get(teamId, fingerprint, entryId) ?? blank(teamId, fingerprint, entryId);
    const done = change(word);
    if (!done) return false;
    // A comment takes nothing back.
    if (done.word && seen !== undefined && seen !== word.revision)
      fail(
        conflict,
        "Somebody else changed this meanwhile. Look at what it says now, then do it again if it still fits.",
      );
    if (done.word) sql.putWord.run({ ...word, ...done.word, revision: word.revision + 1 });
    record(core, { teamId, fingerprint, entryId }, done, by);
    if (what.kind === "resolve" || what.kind === "reopen") settle(core, { teamId, fingerprint, entryId }, what, by);
    return true;
  });
}

const blank = (teamId: string, fingerprint: string, entryId: number): WordRow => ({
  ...{ teamId, class: fingerprint, entryId, ownerId: null, state: null, stateAt: null },
  ...{ snoozed: null, snoozedUntil: null, tracker: null, revision: 0 },
});

/** Judges an act before the transaction. @returns what it changes of a word as that is by then */
function readAct(core: Core, { teamId }: Subject, what: Act, by: Actor): (word: WordRow) => Change | undefined {
  const now = core.clock.now();
  const awake = { snoozed: null, snoozedUntil: null };
  switch (what.kind) {
    case "assign": {
      const { ownerId } = what;
      if (ownerId !== null && findMember(core, teamId, ownerId)?.disabledAt !== null)
        fail(invalid, "An owner is one of the team's people, with an account that is open.");
      const event = ownerId === null ? "unassigned" : "assigned";
      return (word) => (word.ownerId === ownerId ? undefined : { event, word: { ownerId }, otherId: ownerId });
    }
    case "resolve":
    case "reopen": {
      const [state, event] =
        what.kind === "resolve" ? (["resolved", "resolved"] as const) : (["open", "reopened"] as const);
      return (word) =>
        word.state === state && !isSnoozed(word, now) ? undefined : { event, word: { ...awake, state, stateAt: now } };
    }
    case "snooze":
      return readSnooze(what.until, now);
    case "comment": {
      const body = readComment(what.text);
      return (word) => (isLast(core, word, body, by) ? undefined : { event: "commented", body });
    }
    case "link": {
      const tracker = what.url === null ? null : readTracker(what.url);
      const event = tracker === null ? "unlinked" : "linked";
      return (word) => (word.tracker === tracker ? undefined : { event, word: { tracker }, body: tracker });
    }
  }
}

function readSnooze(until: number | null, now: number): (word: WordRow) => Change | undefined {
  if (until !== null && !(until > now && until <= now + MAX_SNOOZE_MS))
    fail(invalid, "Snooze until a day that is to come, within a year.");
  const snoozed = until === null ? "again" : "until";
  return (word) =>
    word.snoozed === snoozed && word.snoozedUntil === until
      ? undefined
      : {
          event: "snoozed",
          // The instant is needed when the error comes again.
          word: { snoozed, snoozedUntil: until, ...(word.state === "resolved" ? {} : { stateAt: now }) },
          body: until === null ? null : isoInstant(until),
        };
}

/** Whether it was said last, and by the same: clicked twice, or sent once more because no answer came. */
function isLast(core: Core, word: WordRow, body: string, by: Actor): boolean {
  const last = rows(core.store).events.get(word.teamId, word.class, null, 1);
  return last?.body === body && last.entryId === word.entryId && last.actorId === by.id;
}

function readComment(typed: string): string {
  const text = typed.replace(/\r\n?/g, "\n").trim();
  if (text === "" || text.length > MAX_COMMENT_CHARS)
    fail(invalid, `A comment has 1 to ${grouped(MAX_COMMENT_CHARS)} characters.`);
  if (/[^\P{Cc}\n\t]/u.test(text) || !text.isWellFormed())
    fail(invalid, "A comment is text without control characters.");
  return text;
}

type Place = Required<Pick<Subject, "teamId" | "fingerprint">> & { readonly entryId: number };

function record(core: Core, { teamId, fingerprint, entryId }: Place, done: Change, by: Actor): void {
  const { event, otherId = null, body = null } = done;
  rows(core.store).insertEvent.run({
    ...{ teamId, class: fingerprint, entryId, at: core.clock.now(), kind: event },
    ...{ actorKind: by.kind, actorId: by.id, actorLabel: by.label, otherId, body },
  });
  const id = entryId === 0 ? fingerprint : `${fingerprint}/${entryId}`;
  recordEvent(core, by, {
    action: `error.${event}`,
    teamId,
    target: { kind: "error", id, label: id },
    // What was written stays with the error, where it can be erased.
    detail: { ...(otherId === null ? {} : { to: otherId }), ...(event === "snoozed" ? { until: body } : {}) },
  });
}

/**
 * Row change: keeps a class and its entries consistent. What is said of the class is said of all of them; the last entry that is resolved
 * resolves the class, and one that is opened again opens it.
 */
function settle(core: Core, { teamId, fingerprint, entryId }: Place, { kind }: Act, by: Actor): void {
  const sql = rows(core.store);
  if (entryId === 0) {
    sql.clearStates.run(teamId, fingerprint);
    return;
  }
  const word = sql.word.get(teamId, fingerprint, 0) ?? blank(teamId, fingerprint, 0);
  const known = sql.classOf.get(teamId, fingerprint);
  const isLast = kind === "resolve" && (sql.resolvedEntries.get(teamId, fingerprint) ?? 0) >= (known?.occurrences ?? 0);
  const isReopened = kind === "reopen" && word.state === "resolved";
  if (!isReopened && (!isLast || word.state === "resolved")) return;
  const state = isReopened ? "open" : "resolved";
  const stateAt = core.clock.now();
  sql.putWord.run({ ...word, state, stateAt, snoozed: null, snoozedUntil: null, revision: word.revision + 1 });
  record(core, { teamId, fingerprint, entryId: 0 }, { event: isReopened ? "reopened" : "resolved" }, by);
}
