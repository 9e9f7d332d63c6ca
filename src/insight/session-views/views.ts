import type { Core } from "../../core.ts";
import { findUsers } from "../../identity/people/people.ts";
import { dayNumber } from "../../kit/clock.ts";
import { MAX_ERASED_ROWS } from "../../kit/erase-steps.ts";
import { rows, type ViewRow } from "./rows.ts";

/** That somebody opened a session. */
export interface SessionView extends ViewRow {
  /** How whoever opened it is called: by name, or else by e-mail address. */
  readonly viewer: string;
}

const MAX_SHOWN = 50;

/** Notes that somebody opens a session, before it is shown; once a day (UTC) is enough. @throws StoreUnavailable */
export async function noteView(core: Core, view: Omit<ViewRow, "day" | "at">): Promise<void> {
  const at = core.clock.now();
  const day = dayNumber(at);
  if (rows(core.store).has.get(view.sessionId, view.userId, day) !== undefined) return;
  await core.store.write(() => rows(core.store).note.run({ ...view, day, at }));
}

function named(core: Core, views: readonly ViewRow[]): SessionView[] {
  const ids = [...new Set(views.map(({ userId }) => userId))];
  const people = new Map((ids.length === 0 ? [] : findUsers(core, ids, "")).map((one) => [one.id, one]));
  return views.map((view) => {
    const person = people.get(view.userId);
    return { ...view, viewer: person?.name ?? person?.email ?? view.userId };
  });
}

/** Who opened a session, newest first; 50 at most. */
export const viewsOfSession = (core: Core, sessionId: number): SessionView[] =>
  named(core, rows(core.store).ofSession.all(sessionId, MAX_SHOWN));

/** Who opened what some devices sent, newest first; 50 at most. */
export const viewsOfDevices = (core: Core, deviceIds: readonly string[]): SessionView[] =>
  named(core, rows(core.store).ofDevices.all(JSON.stringify(deviceIds), MAX_SHOWN));

/** Whatever somebody opened, the oldest first. */
export const viewsBy = (core: Core, userId: string): ViewRow[] => rows(core.store).by.all(userId);

/** Row changes: forget who opened a session, what a device sent up to an instant, or what somebody opened. Each returns how many went. */
export const sessionViewErasure = {
  ofSession: (core: Core, sessionId: number): number =>
    rows(core.store).eraseOfSession.run(sessionId, MAX_ERASED_ROWS).changes,
  ofDevice: (core: Core, deviceId: string, until = Number.MAX_SAFE_INTEGER): number =>
    rows(core.store).eraseOfDevice.run(deviceId, until, MAX_ERASED_ROWS).changes,
  by: (core: Core, userId: string): number => rows(core.store).eraseBy.run(userId, MAX_ERASED_ROWS).changes,
};
