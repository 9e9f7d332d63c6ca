import { type Core, slot } from "../../core.ts";
import { compareText } from "../../kit/strings.ts";
import { type DeviceRow, rows } from "./rows.ts";

/** All devices as the database has them: most pages look at all of a team's, and of machines that live for one job there are tens of thousands. */
interface Roster {
  byId: Map<string, DeviceRow>;
  /** Those whose rows changed since they were read, committed or not. */
  readonly changed: Set<string>;
  readonly hasChangedOutside: (now: number) => boolean;
}

const rosterOf = slot((core): Roster => {
  const { store } = core;
  const changed = new Set<string>();
  const note = (id: unknown) => void changed.add(id as string);
  store.onChange(["devices"], note, { column: "id", added: true });
  store.onChange(["device_tokens"], note, { column: "device_id", added: true });
  return { byId: readAll(core), changed, hasChangedOutside: store.watchOutside() };
});

const readAll = (core: Core) =>
  new Map(
    rows(core.store)
      .devices.all()
      .map((row) => [row.id, row]),
  );

/** A team's devices, or everybody's when undefined, the one bound first first. */
export function deviceRows(core: Core, teamId?: string): DeviceRow[] {
  // What a transaction did so far may be taken back.
  const byId = core.store.db.inTransaction ? readAll(core) : asItIs(core);
  const all = [...byId.values()];
  return (teamId === undefined ? all : all.filter((row) => row.teamId === teamId)).sort(
    (a, b) => compareText(a.teamId, b.teamId) || a.createdAt - b.createdAt || compareText(a.id, b.id),
  );
}

function asItIs(core: Core): ReadonlyMap<string, DeviceRow> {
  const roster = rosterOf(core);
  const { changed } = roster;
  if (roster.hasChangedOutside(core.clock.monotonic())) {
    roster.byId = readAll(core);
    changed.clear();
  }
  const { device } = rows(core.store);
  for (const id of changed) {
    const row = device.get(id);
    if (row) roster.byId.set(id, row);
    else roster.byId.delete(id);
  }
  changed.clear();
  return roster.byId;
}
