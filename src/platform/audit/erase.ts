import type { Core } from "../../core.ts";
import { type EraseStep, MAX_ERASED_ROWS, portions } from "../../kit/erase-steps.ts";
import { itemUnder } from "../../kit/items.ts";
import { isObject } from "../../kit/json.ts";
import { wholeNames } from "../../kit/whole-names.ts";
import { eventText } from "./leaf.ts";
import { type EventRow, rows } from "./rows.ts";

/** Whoever is to be forgotten, in events that stay. */
export interface Forgotten {
  /** What stands for a person or device from then on, by id: it becomes the label of theirs. */
  readonly marks: ReadonlyMap<string, string>;
  /** Texts that name them, such as an address, wherever they stand, with what replaces them. In any case of letters. */
  readonly texts: ReadonlyMap<string, string>;
  /** Actions whose detail tells by what names a target went: of marked ones they go, too. */
  readonly naming: ReadonlySet<string>;
}

/** Takes names and addresses out of events; that something was done, and when, stays. */
export function* eraseNames(core: Core, forgotten: Forgotten): Generator<EraseStep> {
  const sql = rows(core.store);
  const replace = replacer(forgotten.texts);
  let after = 0;
  let isMore = true;
  while (isMore)
    yield () => {
      const events = sql.range.all(after, MAX_ERASED_ROWS);
      isMore = events.length === MAX_ERASED_ROWS;
      after = events.at(-1)?.id ?? after;
      const changed = events.flatMap((event) => {
        const next = withoutNames(event, forgotten, replace);
        return isSame(event, next) ? [] : [next];
      });
      for (const { id, actorLabel, targetLabel, ip, detail } of changed) {
        forgetEvent(core, id);
        sql.rewrite.run({ id, actorLabel, targetLabel, ip, detail });
      }
      return { events: changed.length };
    };
}

function withoutNames(event: EventRow, { marks, naming }: Forgotten, replace: (text: string) => string): EventRow {
  const { actorId, actorLabel, targetId, targetLabel, ip, detail } = event;
  const actor = actorId === null ? undefined : marks.get(actorId);
  const target = targetId === null ? undefined : marks.get(targetId);
  return {
    ...event,
    actorLabel: actor ?? replace(actorLabel),
    targetLabel: targetLabel === null ? null : (target ?? replace(targetLabel)),
    // Where somebody was who is named otherwise, is theirs, too.
    ip: actor !== undefined || replace(actorLabel) !== actorLabel ? null : ip,
    detail: JSON.stringify(
      mapTexts(JSON.parse(detail), target !== undefined && naming.has(event.action) ? () => target : replace),
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

/** Leaves of an event that is about to change what its leaf is made of; with the key, what was in it could be guessed. */
function forgetEvent(core: Core, id: number): void {
  const row = rows(core.store).asLeaf.get(id);
  if (row?.itemKey) rows(core.store).keepHash.run(itemUnder(row.itemKey, 0, eventText(row)), id);
}

/** Removes a team's events up to an instant, oldest first. */
export function* eraseOldEvents(core: Core, teamId: string, until: number): Generator<EraseStep> {
  const sql = rows(core.store);
  for (let after = 0; ; ) {
    const events = sql.firstOfTeam.all(teamId, after, MAX_ERASED_ROWS);
    const old = events.filter(({ at }) => at <= until);
    for (const some of portions(old))
      yield () => ({
        events: some.reduce((sum, { id }) => {
          sql.noteErased.run(id);
          return sum + sql.remove.run(id).changes;
        }, 0),
      });
    // Clocks are set back now and then; what follows an event that is young enough is young as well, but for that.
    if (old.length === 0 || events.length < MAX_ERASED_ROWS) return;
    after = events.at(-1)?.id ?? after;
  }
}
