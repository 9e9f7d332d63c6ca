import type { Core } from "../../core.ts";
import { baseUrlOf } from "../../kit/base-url.ts";
import { conflict, fail, invalid, notFound, problem } from "../../kit/problem.ts";
import { readServerUrl } from "../../kit/reach.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { movedTeams, rows, type Team } from "./rows.ts";

/** The body names the new address as `movedTo`, if the shape of the endpoint's refusals has that member. */
const moved = problem({
  name: "teamMoved",
  status: 401,
  code: "unauthorized",
  message: "The team moved to another server, and this one takes nothing for it any more.",
});

/** @throws Problem teamMoved (401) once another instance serves the team */
function requireNotMoved(movedTo: string | null | undefined): void {
  if (movedTo)
    fail(moved, {
      message: `The team moved to ${movedTo}, and this server takes nothing for it any more. Send it there, with the same token.`,
      members: { movedTo },
    });
}

/** As `requireNotMoved`, inside a transaction that stores something of the team. @throws Problem teamMoved (401) */
const requireHere = (core: Core, teamId: string): void => requireNotMoved(rows(core.store).movedTo.get(teamId));

/**
 * Marks a team as served by another instance from now on: nothing is accepted for it here any more.
 * @param address https, or http on this machine
 * @param insecure whether http to other machines is allowed
 * @throws Problem when it has moved already, or the address is not possible
 */
function begin(core: Core, team: string, address: string, by: Actor, insecure = false): Promise<Team> {
  const to = readAddress(address, insecure);
  // Devices would be sent back to where they are refused.
  if (to === readServerUrl(baseUrlOf(core.config), true))
    fail(invalid, `${to} is the address of this server: name the one that serves the team from now on.`);
  return core.store.write(() => {
    const before = teamOf(core, team);
    if (before.moveConfirmedAt !== null)
      fail(conflict, `${before.name} moved to ${before.movedTo}, which is confirmed.`);
    if (before.movedTo === to) return before;
    const after = { ...before, movedTo: to, movedAt: core.clock.now() };
    return store(core, by, "team.moved", after, { to });
  });
}

/** Cancels a move: the team is served here as before. @throws Problem when it has not moved, or the move is confirmed */
function cancel(core: Core, team: string, by: Actor): Promise<Team> {
  return core.store.write(() => {
    const before = teamOf(core, team);
    if (before.movedTo === null) fail(conflict, `${before.name} has not moved.`);
    if (before.moveConfirmedAt !== null)
      fail(
        conflict,
        `${before.name} moved to ${before.movedTo}, which is confirmed: what came there since is not here.`,
      );
    const after = { ...before, movedTo: null, movedAt: null };
    return store(core, by, "team.move_cancelled", after, { from: before.movedTo });
  });
}

/** Confirms that the other instance has the team: from then on the move cannot be cancelled. @throws Problem when it has not moved */
function confirm(core: Core, team: string, by: Actor): Promise<Team> {
  return core.store.write(() => {
    const before = teamOf(core, team);
    if (before.movedTo === null) fail(conflict, `${before.name} has not moved.`);
    if (before.moveConfirmedAt !== null) return before;
    const after = { ...before, moveConfirmedAt: core.clock.now() };
    return store(core, by, "team.move_confirmed", after, { to: before.movedTo });
  });
}

/** Teams that another instance serves from now on. */
export const teamMoves = { moved, requireNotMoved, requireHere, begin, cancel, confirm, of: movedTeams };

/** Row change, on the record. */
function store(core: Core, by: Actor, action: string, team: Team, detail: Readonly<Record<string, unknown>>): Team {
  const { id, name } = team;
  rows(core.store).setMoved.run(team);
  recordEvent(core, by, { action, teamId: id, target: { kind: "team", id, label: name }, detail });
  return team;
}

const teamOf = ({ store }: Core, idOrName: string): Team =>
  rows(store).teamById.get(idOrName) ??
  rows(store).teamByName.get(idOrName) ??
  fail(notFound, `There is no team "${idOrName}".`);

function readAddress(text: string, insecure: boolean): string {
  try {
    return readServerUrl(text, insecure);
  } catch (error) {
    return fail(invalid, (error as Error).message);
  }
}
