import type { Core } from "../core.ts";
import { type EventRow, rows } from "./rows.ts";

export interface EventFilter {
  /** Only what concerns this team; everything when null, for who runs the installation. */
  readonly teamId: string | null;
  readonly action?: string | undefined;
  /** Part of an actor's or target's name or of an address. */
  readonly text?: string | undefined;
  /** Milliseconds since the epoch, inclusive; `to` exclusive. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export interface StoredEvent extends Omit<EventRow, "detail"> {
  readonly detail: Readonly<Record<string, unknown>>;
}

const EXPORT_PAGE = 500;

const likePattern = (text: string) => `%${text.replace(/[\\%_]/g, "\\$&")}%`;

/**
 * Events, newest first.
 * @param beforeId only what is older than this one
 * @returns one page, and the id to go on before when there is more
 */
export function listEvents(
  core: Core,
  filter: EventFilter,
  limit: number,
  beforeId?: number,
): { readonly rows: StoredEvent[]; readonly older: number | undefined } {
  const statement = filter.teamId === null ? rows(core.store).ofAll : rows(core.store).ofTeam;
  const found = statement.all({
    teamId: filter.teamId ?? "",
    beforeId: beforeId ?? Number.MAX_SAFE_INTEGER,
    action: filter.action || null,
    like: filter.text ? likePattern(filter.text) : null,
    from: filter.from ?? null,
    to: filter.to ?? null,
    limit: limit + 1,
  });
  const page = found.slice(0, limit);
  return {
    rows: page.map((row) => ({ ...row, detail: JSON.parse(row.detail) as StoredEvent["detail"] })),
    older: found.length > limit ? page.at(-1)?.id : undefined,
  };
}

/** The actions that occur, for a list to choose from. */
export function listActions(core: Core, teamId: string | null): string[] {
  return teamId === null ? rows(core.store).actions.all() : rows(core.store).actionsOfTeam.all(teamId);
}

/** All events that match, as JSON lines, newest first; page by page, so that no read stays open. */
export function* exportEvents(core: Core, filter: EventFilter): Generator<string> {
  let before: number | undefined;
  do {
    const page = listEvents(core, filter, EXPORT_PAGE, before);
    yield page.rows.map(({ at, ...row }) => `${JSON.stringify({ at: new Date(at).toISOString(), ...row })}\n`).join("");
    before = page.older;
  } while (before !== undefined);
}
