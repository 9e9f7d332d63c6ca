import type { Core } from "../../core.ts";
import { conflict, fail, invalid, notFound } from "../../kit/problem.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { type RequestRow, rows, type Status } from "./rows.ts";

export const MAX_NOTE_CHARS = 2_000;
const MAX_LABEL_CHARS = 80;

/** A request by its id. */
export const findRequest = (core: Core, id: string): RequestRow | undefined => rows(core.store).byId.get(id);

/** The newest of the requests merged into one. */
export const duplicatesOf = (core: Core, id: string, max: number): readonly RequestRow[] =>
  rows(core.store).mergedInto.all(id, max);

/** The beginning of a request on one line, to name it by. */
export function titleOf({ text }: Pick<RequestRow, "text">, max = MAX_LABEL_CHARS): string {
  const line = text
    .slice(0, max * 4)
    .trim()
    .replace(/[\s\p{Cc}]+/gu, " ");
  const chars = [...line];
  return chars.length > max ? `${chars.slice(0, max).join("").trimEnd()}…` : line.toWellFormed();
}

/** What to change of a request; absent members stay. A blank note takes the note away. */
export interface RequestChange {
  readonly status?: Status | undefined;
  readonly note?: string | undefined;
}

/**
 * Sets a request's status or note.
 * @throws Problem 404 for an unknown id, 409 for the status of a merged request, 400 for a note that is too long
 */
export function changeRequest(core: Core, id: string, { status, note }: RequestChange, by: Actor): Promise<RequestRow> {
  const text = note?.replaceAll("\r\n", "\n").trim().toWellFormed();
  if (text !== undefined && text.length > MAX_NOTE_CHARS)
    fail(invalid, `A note has at most ${MAX_NOTE_CHARS} characters.`);
  return core.store.write(() => {
    const before = known(core, id);
    const after = {
      ...before,
      status: status ?? before.status,
      note: text === undefined ? before.note : text || null,
    };
    if (after.status !== before.status && before.mergedInto !== null)
      fail(
        conflict,
        `${id} is merged into ${before.mergedInto} and has its status. Change that one, or take the merge back.`,
      );
    return store(core, by, before, after, "request.changed", {
      ...(after.status === before.status ? {} : { from: before.status, to: after.status }),
      ...(after.note === before.note ? {} : { note: after.note === null ? "removed" : "changed" }),
    });
  });
}

/**
 * Marks a request as a repetition of another one, whose status it has from then on. When the other one is itself merged, it goes
 * where that one went; no chain can come back to where it began.
 * @throws Problem 404 for an unknown id, 409 when the other one is this one or merged into it
 */
export function mergeRequest(core: Core, id: string, into: string, by: Actor): Promise<RequestRow> {
  return core.store.write(() => {
    const before = known(core, id);
    const root = rows(core.store).root.get(into);
    if (!root) fail(notFound, `There is no request ${into}.`);
    if (into === id) fail(conflict, "A request cannot be merged into itself.");
    if (root.id === id) fail(conflict, `${into} is itself merged into ${id}. Take that back first.`);
    return store(core, by, before, { ...before, mergedInto: root.id }, "request.merged", { into: root.id });
  });
}

/** Takes a merge back: the request has its own status again. @throws Problem 404 for an unknown id */
export function unmergeRequest(core: Core, id: string, by: Actor): Promise<RequestRow> {
  return core.store.write(() => {
    const before = known(core, id);
    return store(core, by, before, { ...before, mergedInto: null }, "request.unmerged", { from: before.mergedInto });
  });
}

function known(core: Core, id: string): RequestRow {
  const request = findRequest(core, id);
  if (!request) fail(notFound, `There is no request ${id}.`);
  return request;
}

/** Stores a change and its event; nothing when nothing changes. */
function store(
  core: Core,
  by: Actor,
  before: RequestRow,
  after: RequestRow,
  action: string,
  detail: Readonly<Record<string, unknown>>,
): RequestRow {
  if (after.status === before.status && after.note === before.note && after.mergedInto === before.mergedInto)
    return before;
  const { id, status, note, mergedInto } = after;
  const updatedAt = core.clock.now();
  rows(core.store).update.run({ id, status, note, mergedInto, updatedAt });
  recordEvent(core, by, { action, teamId: null, target: { kind: "request", id, label: titleOf(before) }, detail });
  return { ...after, updatedAt };
}
