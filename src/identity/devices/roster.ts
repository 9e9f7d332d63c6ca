import { type Core, slot } from "../../core.ts";
import { finish, inSlices, type Slices } from "../../kit/slices.ts";
import { compareText } from "../../kit/strings.ts";
import { cooperative } from "../../kit/yield.ts";
import { type DeviceRow, rows } from "./rows.ts";

/** Devices read by one statement. */
const PORTION = 100;
/**
 * Devices that are read at once after they changed, or after another process changed some. When there are more, all are read anew beside
 * other work, and lists show the former state until that is done.
 */
const MAX_AT_ONCE = 2_000;

/** Devices by team, in the order in which they were bound. */
type Teams = Map<string, DeviceRow[]>;

/** All devices, kept in memory: most pages need all of a team's, and with machines that live for one job there are tens of thousands. */
interface Roster {
  /** Undefined before they are read for the first time. */
  teams: Teams | undefined;
  /** Devices whose rows changed since they were read, committed or not. */
  readonly changed: Set<string>;
  readonly hasChangedOutside: (now: number) => boolean;
  /** Devices that change while all are read anew. */
  meanwhile: Set<string> | undefined;
  /** Another process made a change that is not read yet. */
  isOld: boolean;
}

const rosterOf = slot((core): Roster => {
  const { store } = core;
  const hasChangedOutside = store.watchOutside();
  const roster: Roster = { teams: undefined, changed: new Set(), hasChangedOutside, meanwhile: undefined, isOld: true };
  const note = (id: unknown) => {
    const before = roster.changed.size;
    roster.changed.add(id as string);
    roster.meanwhile?.add(id as string);
    if (roster.changed.size > before && roster.changed.size % MAX_AT_ONCE === 0) setImmediate(readChanged, core);
  };
  store.onChange(["devices"], note, { column: "id", added: true });
  store.onChange(["device_tokens"], note, { column: "device_id", added: true });
  return roster;
});

/** The place of a device in the list of its team, or the place where it belongs. */
function placeOf(list: readonly DeviceRow[], { createdAt, id }: DeviceRow): number {
  let [from, to] = [0, list.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    const one = list[middle] as DeviceRow;
    if ((one.createdAt - createdAt || compareText(one.id, id)) < 0) from = middle + 1;
    else to = middle;
  }
  return from;
}

function put(teams: Teams, row: DeviceRow): void {
  const list = teams.get(row.teamId) ?? [];
  const place = placeOf(list, row);
  list.splice(place, list[place]?.id === row.id ? 1 : 0, row);
  teams.set(row.teamId, list);
}

/** Removes a device that is not there any more, because the transaction that added it was rolled back. */
function drop(teams: Teams, deviceId: string): void {
  for (const list of teams.values()) {
    const place = list.findIndex(({ id }) => id === deviceId);
    if (place >= 0) list.splice(place, 1);
  }
}

function* readAll(core: Core): Slices<Teams> {
  const teams: Teams = new Map();
  for (let after = ""; ; ) {
    const some = rows(core.store).devicesAfter.all(after, PORTION);
    for (const row of some) put(teams, row);
    const last = some.at(-1);
    if (!last) return teams;
    after = last.id;
    yield;
  }
}

const isLarge = (teams: Teams) => [...teams.values()].reduce((sum, { length }) => sum + length, 0) > MAX_AT_ONCE;

/** Reads all devices anew, beside other work. */
async function readBeside(core: Core, roster: Roster): Promise<void> {
  const meanwhile = new Set<string>();
  Object.assign(roster, { meanwhile, isOld: false });
  try {
    roster.teams = await inSlices(readAll(core), cooperative(core.clock));
    for (const id of meanwhile) roster.changed.add(id);
  } catch {
    // The next look tries again.
    roster.isOld = true;
  } finally {
    roster.meanwhile = undefined;
  }
}

/** Begins to read all devices; part of starting, so that the first page finds them read. */
export function watchDevices(core: Core): void {
  void readBeside(core, rosterOf(core));
}

/** Reads changed devices before anybody asks: the first page of a morning must not wait until a large fleet is read. */
function readChanged(core: Core): void {
  if (!core.store.db.open || rosterOf(core).teams === undefined) return;
  try {
    asTheyAre(core);
  } catch {
    // The next look tries again.
  }
}

function asTheyAre(core: Core): Teams {
  const roster = rosterOf(core);
  roster.isOld = roster.hasChangedOutside(core.clock.monotonic()) || roster.isOld;
  if (roster.teams === undefined || (roster.isOld && !isLarge(roster.teams))) {
    roster.teams = finish(readAll(core));
    roster.isOld = false;
  } else if (roster.isOld && roster.meanwhile === undefined) void readBeside(core, roster);
  const { device } = rows(core.store);
  for (const id of roster.changed) {
    const row = device.get(id);
    if (row) put(roster.teams, row);
    else drop(roster.teams, id);
  }
  // An open transaction may still be rolled back: then its devices are read again.
  if (!core.store.db.inTransaction) roster.changed.clear();
  return roster.teams;
}

/** The devices of a person with more than this are looked for in memory. */
const FEW = 500;

/** A person's devices, in whatever team, in the order in which they were bound. */
export function rowsOfPerson(core: Core, personId: string): readonly DeviceRow[] {
  const { devicesOfPerson, hasMore } = rows(core.store);
  if (!hasMore.get(personId, FEW) || rosterOf(core).teams === undefined) return devicesOfPerson.all(personId);
  const theirs = deviceRows(core).filter((one) => one.personId === personId);
  return theirs.sort((a, b) => a.createdAt - b.createdAt || compareText(a.id, b.id));
}

/** A team's devices, or those of all teams, in the order in which they were bound. */
export function deviceRows(core: Core, teamId?: string): readonly DeviceRow[] {
  const teams = asTheyAre(core);
  if (teamId !== undefined) return teams.get(teamId) ?? [];
  return [...teams].sort(([a], [b]) => compareText(a, b)).flatMap(([, list]) => list);
}
