import type { Core } from "../../core.ts";
import { MAX_ERASED_ROWS } from "../../kit/erase-steps.ts";
import { newId } from "../../kit/ids.ts";
import { fail, invalid, notFound, problem } from "../../kit/problem.ts";
import { hasControls } from "../../kit/strings.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { rows, type ViewRow } from "./rows.ts";

/** Pages of which views are saved. */
export const PLACES = ["/sessions", "/errors", "/spend", "/telemetry"] as const;
export type ViewPlace = (typeof PLACES)[number];

export interface SavedView extends Omit<ViewRow, "shared" | "place"> {
  readonly place: ViewPlace;
  /** Everybody in the team sees it. */
  readonly shared: boolean;
}

const MAX_NAME = 60;
const MAX_QUERY = 2_000;
const MAX_VIEWS = 50;
/** Views of a page that are shown. */
const MAX_SHOWN = 200;

const tooManyViews = problem({
  name: "tooManyViews",
  status: 409,
  code: "too_many_views",
  message: `A person has ${MAX_VIEWS} saved views in a team at most. Delete one first.`,
});

/** Parameters for the place in a list, which mean something only for a moment. */
const MOMENTARY = ["cursor", "at"];

/** A query without momentary parameters and without empty values. */
function tidy(query: string): string {
  const kept = [...new URLSearchParams(query)].filter(([name, value]) => !MOMENTARY.includes(name) && value !== "");
  return new URLSearchParams(kept).toString();
}

/** Whether two queries ask for the same. */
export const isSameQuery = (a: string, b: string): boolean => {
  const sorted = (query: string) => [...new URLSearchParams(tidy(query))].map((one) => one.join("=")).sort();
  return sorted(a).join("&") === sorted(b).join("&");
};

const readView = ({ shared, place, ...row }: ViewRow): SavedView => ({
  ...row,
  place: place as ViewPlace,
  shared: shared === 1,
});

/** The views of a page that somebody sees: the team's, then their own. */
export const listViews = (core: Core, teamId: string, place: ViewPlace, userId: string): SavedView[] =>
  rows(core.store).ofPlace.all(teamId, place, userId, MAX_SHOWN).map(readView);

/**
 * Saves a page's query under a name; the same name of the same person is replaced. The audit records shared ones.
 * @param query of the page's address; parameters that no page knows are kept and do nothing
 * @throws Problem invalid, tooManyViews
 */
export async function saveView(
  core: Core,
  teamId: string,
  userId: string,
  { place, name, query, shared }: { place: ViewPlace; name: string; query: string; shared: boolean },
  by: Actor,
): Promise<SavedView> {
  const called = name.trim();
  if (called === "" || called.length > MAX_NAME || hasControls(called))
    fail(invalid, `Give the view a name of at most ${MAX_NAME} characters.`);
  if (query.length > MAX_QUERY) fail(invalid, "There is too much in this view to be saved.");
  const tidied = tidy(query);
  return core.store.write(() => {
    const sql = rows(core.store);
    const before = sql.named.get(userId, teamId, place, called);
    if (before === undefined && (sql.count.get(userId, teamId) ?? 0) >= MAX_VIEWS) fail(tooManyViews);
    const id = before ?? newId("view", core.clock, core.random);
    const row = { id, teamId, userId, place, name: called, query: tidied, createdAt: core.clock.now() };
    const was = before === undefined ? 0 : sql.byId.get(before, teamId)?.shared;
    sql.put.run({ ...row, shared: shared ? 1 : 0 });
    if (shared) recordView(core, "view.shared", row, by);
    else if (was === 1) recordView(core, "view.withdrawn", row, by);
    return { ...row, shared };
  });
}

/** Records an event without the view's name and query: these may name people and repositories. */
const recordView = (
  core: Core,
  action: string,
  { id, teamId, place }: Pick<ViewRow, "id" | "teamId" | "place">,
  by: Actor,
) => recordEvent(core, by, { action, teamId, target: { kind: "view", id }, detail: { place } });

/**
 * Deletes a view: the person's own, or a shared one when they manage the team.
 * @returns the deleted view
 * @throws Problem notFound, also for somebody else's
 */
export function deleteView(
  core: Core,
  teamId: string,
  userId: string,
  id: string,
  manages: boolean,
  by: Actor,
): Promise<SavedView> {
  return core.store.write(() => {
    const row = rows(core.store).byId.get(id, teamId);
    if (!row || (row.userId !== userId && !(manages && row.shared === 1))) fail(notFound, "There is no such view.");
    rows(core.store).drop.run(id);
    if (row.shared === 1) recordView(core, "view.withdrawn", row, by);
    return readView(row);
  });
}

/** Row change: erases a person's views, shared ones too. @returns how many went */
const eraseOf = (core: Core, userId: string): number => rows(core.store).eraseOf.run(userId, MAX_ERASED_ROWS).changes;

/**
 * Row change: erases views that name something, e.g. a repository.
 * @param teamIds whose; all without it
 * @returns how many went
 */
function eraseNaming(core: Core, name: string, value: string, teamIds: readonly string[] | null = null): number {
  const named = `&${new URLSearchParams({ [name]: value })}&`;
  const teams = teamIds && JSON.stringify(teamIds);
  return rows(core.store).eraseNaming.run({ named, teams, limit: MAX_ERASED_ROWS }).changes;
}

/** Erasing saved views. */
export const viewErasure = { eraseOf, eraseNaming };
