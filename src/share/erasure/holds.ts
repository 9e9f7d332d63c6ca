import type { Core } from "../../core.ts";
import { getTeam } from "../../identity/teams/teams.ts";
import { newId } from "../../kit/ids.ts";
import { conflict, fail, invalid, notFound } from "../../kit/problem.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { type HoldRow, holdRows } from "./hold-rows.ts";
import { oneDevice, oneSession } from "./targets.ts";

/** Holds: what is neither erased nor let run out, whatever else is said, until it is released. */
export type Hold = HoldRow;

/** What is to be held: one of the three. */
export interface HoldRequest {
  /** A team's id or exact name. */
  readonly team?: string | undefined;
  readonly device?: string | undefined;
  /** The number of its page, or its agent's id for it. */
  readonly session?: string | undefined;
  readonly reason: string;
}

const MAX_REASON_CHARS = 500;

/** Reads why something is done. @throws Problem where that is not said, or at too great length */
export function readReason(typed: string): string {
  const reason = typed.trim();
  if (reason === "") fail(invalid, "Say why, in a few words.");
  if (reason.length > MAX_REASON_CHARS) fail(invalid, `A reason has at most ${MAX_REASON_CHARS} characters.`);
  return reason.toWellFormed();
}

/** Places a hold. @throws Problem when there is nothing of that name */
export async function placeHold(core: Core, request: HoldRequest, by: Actor): Promise<Hold> {
  const reason = readReason(request.reason);
  const id = newId("hold", core.clock, core.random);
  return core.store.write(() => {
    // Within the transaction: what is erased meanwhile can be held no more.
    const place = placeOf(core, request);
    holdRows(core.store).insert.run({ id, ...place, reason, placedBy: by.label, placedAt: core.clock.now() });
    recordHold(core, by, "hold.placed", { id, ...place }, { reason });
    return getHold(core, id);
  });
}

type Place = Pick<HoldRow, "kind" | "teamId" | "deviceId" | "session">;

function placeOf(core: Core, { team, device, session }: HoldRequest): Place {
  if (team !== undefined) return { kind: "team", teamId: getTeam(core, team).id, deviceId: null, session: null };
  if (device !== undefined) {
    const { id: deviceId, teamId } = oneDevice(core, device);
    return { kind: "device", teamId, deviceId, session: null };
  }
  const { teamId, deviceId, externalId } = oneSession(core, session ?? "");
  return { kind: "session", teamId, deviceId, session: externalId };
}

function getHold(core: Core, id: string): Hold {
  return holdRows(core.store).hold.get(id) ?? fail(notFound, `There is no hold ${id} (see: reckon hold list)`);
}

/** Ends a hold: what was to go meanwhile goes with the next nightly run, or is asked for again. @throws Problem */
export function releaseHold(core: Core, id: string, by: Actor): Promise<Hold> {
  return core.store.write(() => {
    const hold = getHold(core, id);
    if (holdRows(core.store).release.run(by.label, core.clock.now(), id).changes === 0)
      fail(conflict, `The hold ${id} was released before.`);
    recordHold(core, by, "hold.released", hold, { placedFor: hold.reason });
    return getHold(core, id);
  });
}

/** A session is not named there: what names it goes with it once it is erased. */
function recordHold(core: Core, by: Actor, action: string, hold: Place & { id: string }, detail: object): void {
  const { id, kind, teamId, deviceId } = hold;
  recordEvent(core, by, {
    action,
    teamId,
    target: { kind: "hold", id, label: kind === "team" ? "the team" : kind },
    detail: { ...detail, ...(deviceId === null ? {} : { deviceId }) },
  });
}

/** What of a team is held. */
export interface Held {
  readonly all: readonly Hold[];
  readonly team: Hold | undefined;
  /** By the device's id: of the device, or of a session of it. */
  readonly devices: ReadonlyMap<string, Hold>;
  /** Whether a session must stay. */
  isSession(deviceId: string, externalId: string): boolean;
  /** The hold for which a note of a commit must stay; undefined when it may go. @param sessions that the note names, by their agents' ids */
  ofNote(deviceId: string, sessions: readonly string[]): Hold | undefined;
}

/** What of a team is held now. */
export function heldOf(core: Core, teamId: string): Held {
  const holds = holdRows(core.store).inForce.all(teamId);
  const whole = new Set(holds.flatMap(({ kind, deviceId }) => (kind === "device" && deviceId ? [deviceId] : [])));
  const sessions = new Set(
    holds.flatMap((hold) => (hold.kind === "session" ? [nameOf(hold.deviceId, hold.session)] : [])),
  );
  return {
    all: holds,
    team: holds.find(({ kind }) => kind === "team"),
    devices: new Map(holds.flatMap((hold) => (hold.deviceId === null ? [] : [[hold.deviceId, hold]]))),
    isSession: (deviceId, externalId) => whole.has(deviceId) || sessions.has(nameOf(deviceId, externalId)),
    ofNote: (deviceId, ids) =>
      holds.find((hold) => (hold.kind === "device" ? hold.deviceId === deviceId : ids.includes(hold.session ?? ""))),
  };
}

const nameOf = (deviceId: string | null, session: string | null) => `${deviceId} ${session}`;
