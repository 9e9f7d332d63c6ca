import type { Core } from "../../core.ts";
import { peopleBySource } from "../../identity/ownership/ownership.ts";
import { dateOfDay, dayNumber } from "../../kit/clock.ts";
import { sha256Hex } from "../../kit/hash.ts";
import { type Days, stretchOf } from "../../kit/kept-by-day.ts";
import { currentPrices } from "./current-prices.ts";
import { keptDays } from "./kept-days.ts";
import { type Grouping, type GroupRow, type ReadBy, rows } from "./rows.ts";
import { type Group, Sum, type Summed, type Summings, Sums } from "./sums.ts";

/** Reads sums of days, a stretch at a time; sums of days in which nothing changed are kept. */

/** Which sums of a team's spend. */
export interface SpendQuery {
  /** The first and the last day (UTC), each whole: any instant of it, in milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  readonly by: Grouping;
  readonly repoKey?: string | undefined;
  /** Only of these devices. */
  readonly deviceIds?: readonly string[] | undefined;
  /** Only of these, as `sourcesOf` names them. */
  readonly sources?: readonly string[] | undefined;
  /** `byDayAndModel` will be read: what can be, is summed from the same rows. */
  readonly daily?: boolean | undefined;
}

/** Cells summed in one go, of sessions: each is a group. */
const CELLS_AT_ONCE = 1_000;

interface Part {
  readonly parts: number;
  readonly part: number;
}

/** The sums of the days that are asked for, stretch by stretch; a day's are by model. */
export function* readDays(
  core: Core,
  teamId: string,
  { from, to, repoKey: repo, ...query }: SpendQuery,
  by: ReadBy,
): Generator<Summings> {
  const { table } = currentPrices(core);
  const sql = rows(core.store);
  const repoKey = repo ?? null;
  const deviceIds = query.deviceIds ? JSON.stringify(query.deviceIds) : null;
  const sources = query.sources ? JSON.stringify(query.sources) : null;
  const ofTeam = repoKey === null && deviceIds === null && sources === null;
  const read = ([first, last]: Days, part: Part): GroupRow[] => {
    if (by === "day" && ofTeam) return sql.daysOfTeam.all({ teamId, from: first, to: last });
    const { [by]: sums } = ofTeam ? sql.sums : sql.narrowedSums;
    return sums.all({ teamId, from: first, to: last, repoKey, deviceIds, sources, ...part });
  };
  const compute = (days: Days, part: Part): Summings => {
    const sums = new Sums();
    // A stretch ends where prices change.
    for (const row of read(days, part))
      sums.of(groupOf(row, by)).add(row, table.cost(row.model, days[0], row.context, row));
    const groups = sums.all();
    const total = new Sum();
    for (const { sum } of groups) total.merge(sum);
    return { groups, total };
  };
  const name = sha256Hex(JSON.stringify([by, repoKey, deviceIds, sources, table.version])).slice(0, 32);
  const all: Days = [dayNumber(from), dayNumber(to)];
  const next = (day: number) => sql.nextDay.get(teamId, day, all[1]) ?? undefined;
  for (let day = next(all[0]); day !== undefined; ) {
    // A session is mostly of one day.
    const days = stretchOf(day, all, table.changes, by === "session" ? 1 : undefined);
    const parts = by === "session" ? Math.ceil((sql.cellsOfDay.get(teamId, day) ?? 0) / CELLS_AT_ONCE) : 1;
    for (let part = 0; part < parts; part++) {
      const ofPart = parts === 1 ? name : `${name} ${part}/${parts}`;
      yield keptDays(core).get(core.store.outsideVersion(), teamId, days, ofPart, () => compute(days, { parts, part }));
    }
    day = next(days[1] + 1);
  }
}

function groupOf({ key, ofDevice, model }: GroupRow, by: ReadBy): Group {
  const text = typeof key === "number" ? dateOfDay(key) : key;
  const of = by === "day" ? model : ofDevice;
  return { name: JSON.stringify([text, of]), key: text, of };
}

/** Turns groups of sources into groups of their present owners; leaves them alone unless `by` is `person`. */
export function personOf(core: Core, teamId: string, by: Grouping): (one: Summed) => Summed {
  if (by !== "person") return (one) => one;
  const personOfSource = peopleBySource(core, teamId);
  return ({ key: source, sum }) => {
    const person = personOfSource(source);
    return { name: person?.id ?? person?.email ?? "", key: person?.email ?? "", of: person?.id ?? "", sum };
  };
}
