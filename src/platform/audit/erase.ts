import type { Core } from "../../core.ts";
import { type EraseStep, MAX_ERASED_ROWS } from "../../kit/erase-steps.ts";
import { isObject } from "../../kit/json.ts";
import { wholeNames } from "../../kit/whole-names.ts";
import { type EventRow, rows } from "./rows.ts";
import { type ErasureRef, removeEvents, rewriteEvents, stateUnstated } from "./stated.ts";

/** Whom an erasure removes from events that stay. */
export interface Forgotten {
  /** By the id of a person or device, the mark that replaces their label from then on. */
  readonly marks: ReadonlyMap<string, string>;
  /** Texts that name them, such as an address, wherever they stand and in any case of letters, with their replacements. */
  readonly texts: ReadonlyMap<string, string>;
  /**
   * Ids of others who were known by one of these texts: their labels stay. Where it is open whom a text means, it gets the mark of nobody.
   */
  readonly others: ReadonlySet<string>;
  /** Actions whose detail has names of the target: for a marked target these are removed, too. */
  readonly naming: ReadonlySet<string>;
  /** Texts of an event about something else that was erased, such as an entry that somebody judged. */
  gone(event: EventRow): readonly unknown[];
}

/**
 * Takes names and addresses out of events; what was done, and when, stays.
 * @param from the number of the last event that is done already
 * @returns the number of the last event
 */
export function* eraseNames(
  core: Core,
  forgotten: Forgotten,
  erasure: ErasureRef,
  from = 0,
): Generator<EraseStep, number> {
  const sql = rows(core.store);
  const { texts, others } = forgotten;
  const marked = replacer(texts);
  const unsure = others.size === 0 ? marked : replacer(new Map([...texts.keys()].map((text) => [text, "erased"])));
  let after = from;
  let isMore = true;
  while (isMore)
    yield () => {
      const events = sql.range.all(after, MAX_ERASED_ROWS);
      isMore = events.length === MAX_ERASED_ROWS;
      after = events.at(-1)?.id ?? after;
      const changed = events.flatMap((event) => {
        const isTheirs = [event.actorId, event.targetId].some((id) => forgotten.marks.has(id ?? ""));
        const next = withoutNames(event, forgotten, isTheirs ? marked : unsure);
        return isSame(event, next) ? [] : [next];
      });
      rewriteEvents(core, changed, erasure);
      return { events: changed.length };
    };
  return after;
}

function withoutNames(
  event: EventRow,
  { marks, others, naming, gone }: Forgotten,
  replaceNames: (text: string) => string,
): EventRow {
  const { actorId, actorLabel, targetId, targetLabel, ip, detail } = event;
  const members = JSON.parse(detail) as Readonly<Record<string, unknown>>;
  const texts = [...gone(event)];
  const replace = (text: string) => (texts.includes(text) ? "erased" : replaceNames(text));
  const labelOf = (id: string | null, label: string) =>
    marks.get(id ?? "") ?? (others.has(id ?? "") ? label : replace(label));
  const actor = labelOf(actorId, actorLabel);
  const target = marks.get(targetId ?? "");
  const targetNow = targetLabel === null ? null : labelOf(targetId, targetLabel);
  // The address and user agent of a tool or a machine of theirs.
  if (actor !== actorLabel || targetNow !== targetLabel) texts.push(members.ip, members.userAgent);
  return {
    ...event,
    actorLabel: actor,
    targetLabel: targetNow,
    // The address of somebody who gets another name is theirs, too.
    ip: marks.has(actorId ?? "") || actor !== actorLabel ? null : ip,
    detail: JSON.stringify(
      mapTexts(members, target !== undefined && naming.has(event.action) ? () => target : replace),
    ),
  };
}

const isSame = (a: EventRow, b: EventRow) =>
  (["actorLabel", "targetLabel", "ip", "detail"] as const).every((name) => a[name] === b[name]);

function replacer(texts: Forgotten["texts"]): (text: string) => string {
  const names = [...texts.keys()].filter((name) => name !== "");
  if (names.length === 0) return (text) => text;
  const pattern = wholeNames(names);
  const byKey = new Map([...texts].map(([name, mark]) => [name.toLowerCase(), mark]));
  return (text) => text.replace(pattern, (found) => byKey.get(found.toLowerCase()) ?? "erased");
}

function mapTexts(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === "string") return replace(value);
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, replace));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, mapTexts(one, replace)]));
}

/**
 * Removes a team's events up to an instant, in the order of the log: no event goes before an earlier one. Clocks are set back now and then,
 * so an event with an old time that came after a younger one waits for the younger one.
 */
export function* eraseOldEvents(core: Core, teamId: string, until: number, erasure: ErasureRef): Generator<EraseStep> {
  yield () => {
    stateUnstated(core, teamId, erasure);
    return {};
  };
  let isMore = true;
  while (isMore)
    yield () => {
      const events = rows(core.store).firstOfTeam.all(teamId, MAX_ERASED_ROWS);
      const ids = oldest(events, until, core.clock.now());
      isMore = ids.length > 0 && events.length === MAX_ERASED_ROWS;
      return { events: removeEvents(core, teamId, ids, erasure) };
    };
}

/**
 * The numbers of the events up to the last old one before the first young one. An event from the future has the time of a wrong clock, and
 * counts as neither.
 */
function oldest(events: readonly Pick<EventRow, "id" | "at">[], until: number, now: number): number[] {
  const young = events.findIndex(({ at }) => at > until && at <= now);
  const before = young === -1 ? events : events.slice(0, young);
  return before.slice(0, before.findLastIndex(({ at }) => at <= until) + 1).map(({ id }) => id);
}
