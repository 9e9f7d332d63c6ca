import type { Core } from "../../core.ts";
import { cutPage, type Page } from "../../kit/page.ts";
import { soughtText } from "../../kit/strings.ts";
import { wholeNames } from "../../kit/whole-names.ts";
import { cooperative } from "../../kit/yield.ts";
import { type EventRow, type ListedRow, rows, type Selection } from "./rows.ts";

export interface EventFilter {
  /** Only events of this team; null for all events, as operators see them. */
  readonly teamId: string | null;
  readonly action?: string | undefined;
  /** Part of an actor's or target's name or of an address. */
  readonly text?: string | undefined;
  /** Only what somebody did, or was done to. */
  readonly about?: Somebody | undefined;
  /** Milliseconds since the epoch, inclusive; `to` exclusive. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/**
 * A person whose events are wanted: by id, and by addresses, which must stand whole in labels. Labels of others who had one of these
 * addresses before do not count.
 */
interface Somebody {
  readonly id: string;
  readonly addresses: readonly string[];
  /** By id. */
  readonly others: ReadonlySet<string>;
}

export interface StoredEvent extends Omit<ListedRow, "detail"> {
  readonly detail: Readonly<Record<string, unknown>>;
}

/** The event that a page begins after, towards older or newer ones. */
export interface EventCursor {
  readonly before?: number | undefined;
  readonly after?: number | undefined;
}

/** Ids looked at in one go. A filter that nothing matches walks everything, and others want their turn meanwhile. */
const BATCH_IDS = 1_000;

/**
 * One page of events. The work is bounded by what is looked through, and lets other requests in between.
 * Going newer and arriving at the top gives the first page, whole.
 */
export async function listEvents(
  core: Core,
  filter: EventFilter,
  limit: number,
  cursor: EventCursor = {},
): Promise<Page<StoredEvent, number>> {
  const { before, after } = cursor;
  const upward = after !== undefined;
  const events: StoredEvent[] = [];
  for await (const chunk of chunks(core, filter, cursor)) {
    events.push(...(upward ? chunk.reverse() : chunk));
    if (events.length > limit) break;
  }
  const came = upward ? "newer" : before === undefined ? undefined : "older";
  return cutPage(events, limit, came, ({ id }) => id) ?? listEvents(core, filter, limit);
}

/** Matching events a chunk of ids at a time, each newest first; upward from a cursor's `after`, else downward. */
export async function* chunks(
  core: Core,
  filter: EventFilter,
  { before, after }: EventCursor = {},
): AsyncGenerator<StoredEvent[]> {
  const yieldNow = cooperative(core.clock);
  const lastId = rows(core.store).lastId.get() ?? 0;
  const statement = filter.teamId === null ? rows(core.store).ofAll : rows(core.store).ofTeam;
  const narrowed: Omit<Selection, "low" | "high"> = {
    teamId: filter.teamId ?? "",
    action: filter.action || null,
    ...soughtText(filter.text ?? ""),
    from: filter.from ?? null,
    to: filter.to ?? null,
  };
  const isMeant = filter.about ? isAbout(filter.about) : () => true;
  const sign = after === undefined ? -1 : 1;
  let at = after === undefined ? Math.min((before ?? lastId + 1) - 1, lastId) : Math.max(after + 1, 1);
  while (at >= 1 && at <= lastId) {
    const end = at + sign * (BATCH_IDS - 1);
    const found = statement.all({ ...narrowed, low: Math.min(at, end), high: Math.max(at, end) }).filter(isMeant);
    if (found.length > 0)
      yield found.map((row) => ({ ...row, detail: JSON.parse(row.detail) as StoredEvent["detail"] }));
    at = end + sign;
    await yieldNow();
  }
}

function isAbout({ id, addresses, others }: Somebody): (event: EventRow) => boolean {
  const names = wholeNames(addresses);
  const isTheirs = (of: string | null, label: string | null) =>
    of === id || (label !== null && !others.has(of ?? "") && label.search(names) >= 0);
  return ({ actorId, actorLabel, targetId, targetLabel }) =>
    isTheirs(actorId, actorLabel) || isTheirs(targetId, targetLabel);
}
