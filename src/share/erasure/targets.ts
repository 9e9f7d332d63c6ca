import type { Core } from "../../core.ts";
import { OTLP_STREAM, streamKeys } from "../../formats/exported.ts";
import { type Device, deviceFinder, deviceIdsOf, findDeviceOf } from "../../identity/devices/devices.ts";
import { membershipsOf } from "../../identity/members/members.ts";
import { emailKey, findUser, formerAddresses, getUser, markOf } from "../../identity/people/people.ts";
import { getTeam, listTeams } from "../../identity/teams/teams.ts";
import { sha256Hex } from "../../kit/hash.ts";
import { conflict, fail, invalid, notFound } from "../../kit/problem.ts";
import { cooperative } from "../../kit/yield.ts";
import { deliveryExport, type Portion } from "../../log/log.ts";
import { leafOfAct } from "../../platform/audit/audit.ts";
import { hasPulse } from "../../record/pulses/pulses.ts";
import { telemetryErasure } from "../../record/telemetry/telemetry.ts";
import { traceErasure } from "../../record/traces/traces.ts";
import { type Erasure, readTarget, type Target } from "./journal.ts";

/** What somebody asks to be erased: one of these. */
export interface TargetRequest {
  /** E-mail address or id. */
  readonly person?: string | undefined;
  /** With a session: the one that has it, of which entries alone may tell. */
  readonly device?: string | undefined;
  /** The number of its page, or its agent's id for it. */
  readonly session?: string | undefined;
  /** The number of an entry of telemetry, as its page has it. */
  readonly entry?: string | undefined;
  readonly repo?: string | undefined;
  /** Narrows a repository to one team. */
  readonly team?: string | undefined;
}

export interface Resolved {
  readonly target: Target;
  /** The team that it concerns; null for several, or for an account. */
  readonly teamId: string | null;
  /** What it is called until it is gone; never stored. */
  readonly label: string;
}

/** Finds what is to be erased. @throws Problem when there is no such thing, or several */
export function resolveTarget(core: Core, request: TargetRequest): Resolved {
  const { person, device, session, entry, repo, team } = request;
  const ofDevice = session === undefined ? device : undefined;
  if ([person, ofDevice, session, entry, repo].filter((name) => name !== undefined).length !== 1)
    fail(invalid, "Name one thing to erase: a person, a device, a session, an entry or a repository.");
  if (person !== undefined) {
    const { id: personId, email } = getUser(core, person);
    const deviceIds = deviceIdsOf(core, { personId });
    return { target: { kind: "person", personId, deviceIds }, teamId: null, label: email };
  }
  if (ofDevice !== undefined) {
    const { id: deviceId, teamId, label } = oneDevice(core, ofDevice);
    return { target: { kind: "device", deviceId }, teamId, label: label ?? deviceId };
  }
  if (session !== undefined) {
    const { deviceId, teamId, externalId } = oneSession(core, session, device);
    const target = { kind: "session", deviceId, sessionSha256: sha256Hex(externalId) } as const;
    return { target, teamId, label: externalId };
  }
  if (entry !== undefined) {
    const place = telemetryErasure.findPlace(core, Number(entry)) ?? fail(notFound, `there is no entry ${entry}`);
    const teamId = deviceFinder(core)(place.deviceId)?.teamId ?? null;
    return { target: { kind: "entry", ...place }, teamId, label: entry };
  }
  return oneRepository(core, repo ?? "", team);
}

function oneRepository(core: Core, repoKey: string, team: string | undefined): Resolved {
  if (repoKey === OTLP_STREAM)
    fail(invalid, 'What agents export is of no repository: --repo "" erases it, with all else that names none.');
  const teams = team === undefined ? listTeams(core) : [getTeam(core, team)];
  const teamIds = teams.map(({ id }) => id);
  const teamId = teamIds.length === 1 ? (teamIds[0] as string) : null;
  return { target: { kind: "repo", teamIds, repoKey }, teamId, label: repoKey };
}

/** @throws Problem when there is no such device */
export function oneDevice(core: Core, id: string): Device {
  const device = findDeviceOf(core, deviceFinder(core)(id)?.teamId ?? "", id);
  return device ?? fail(notFound, `there is no device with the id "${id}" (see: reckon device list)`);
}

/**
 * @param device the one that has it: then it may be one that entries alone tell of
 * @throws Problem when there is no such session, or there are several
 */
export function oneSession(core: Core, named: string, device?: string) {
  const all = traceErasure.findSessions(core, named);
  if (device !== undefined) {
    const { id: deviceId, teamId } = oneDevice(core, device);
    return all.find((session) => session.deviceId === deviceId) ?? { deviceId, teamId, externalId: named };
  }
  const [session, ...more] = all;
  if (!session)
    fail(
      notFound,
      `there is no session "${named}": give the number of its page, or its agent's id for it; where entries alone tell of it, erase it with --device, or hold its device`,
    );
  if (more.length > 0)
    fail(
      conflict,
      `several devices have a session "${named}": give the number of its page, one of ${[session, ...more].map(({ id }) => id).join(", ")}`,
    );
  return session;
}

type Extent = Pick<Portion, "until" | "through">;

/** Whenever it came. */
export const EVERYTHING: Extent = { until: Number.MAX_SAFE_INTEGER, through: Number.MAX_SAFE_INTEGER };

/**
 * What had come when an erasure was asked for, by what the log has of that: a clock may have been set back, or ahead. Where a restored
 * copy does not have it, what came up to then is all that can be told; a session is sent to it again.
 */
export function extentOf(core: Core, { id, requestedAt, target }: Erasure): Extent {
  const through = leafOfAct(core, "erasure.requested", id);
  if (through !== undefined) return { ...EVERYTHING, through };
  return target.kind === "session" ? EVERYTHING : { ...EVERYTHING, until: requestedAt };
}

/**
 * Everything delivered that a target is of, or a part of it. Of a device and of a person's it is all, whenever it came: their bindings
 * end, so nothing that comes later is another's. Of a repository it is what devices sent that have anything of it: of the team's there may
 * be very many, which are looked at in slices.
 * @param extent of the others what comes later is new
 */
export async function portionsOf(core: Core, target: Target, extent: Extent, erasureId: string): Promise<Portion[]> {
  const { until, through } = target.kind === "device" || target.kind === "person" ? EVERYTHING : extent;
  const repoKeys =
    target.kind === "repo" ? streamKeys(target.repoKey) : [target.kind === "entry" ? target.repoKey : null];
  const deviceOf = deviceFinder(core);
  const yieldNow = cooperative(core.clock);
  const portions: Portion[] = [];
  for (const deviceId of devicesOf(core, target)) {
    await yieldNow();
    if (!hasOf(core, target, deviceId)) continue;
    const teamId = deviceOf(deviceId)?.teamId;
    // A backup from before it was connected does not know a device.
    if (teamId === undefined) continue;
    for (const repoKey of repoKeys) portions.push({ teamId, deviceId, repoKey, until, through, erasureId });
  }
  return portions;
}

/** The devices that a target is of. */
export function devicesOf(core: Core, target: Target): readonly string[] {
  if (target.kind === "person") {
    // A restored backup may know of devices that were taken from the person since.
    return [...new Set([...target.deviceIds, ...deviceIdsOf(core, { personId: target.personId })])];
  }
  if (target.kind === "repo") return target.teamIds.flatMap((teamId) => deviceIdsOf(core, { teamId }));
  return [target.deviceId];
}

/** Whether a device of a target has anything of it: others of its team may have sent what there is of a repository. */
export const hasOf = (core: Core, target: Target, deviceId: string): boolean =>
  target.kind !== "repo" ||
  streamKeys(target.repoKey).some(
    (repoKey) =>
      deliveryExport.hasDelivered(core, deviceId, repoKey) ||
      hasPulse(core, deviceId, repoKey) ||
      traceErasure
        .sessionsOfPortion(core, { teamId: "", deviceId, repoKey, ...EVERYTHING })
        .some((some) => some.length > 0),
  );

/** The teams that a target concerns: those of its devices, and of the person. */
export function teamsOf(core: Core, target: Target): readonly string[] {
  if (target.kind === "repo") return target.teamIds;
  const ofPerson = target.kind === "person" ? membershipsOf(core, target.personId).map(({ id }) => id) : [];
  const deviceOf = deviceFinder(core);
  const ofDevices = [...devicesOf(core, target), ...namedOn(target)].flatMap(
    (deviceId) => deviceOf(deviceId)?.teamId ?? [],
  );
  return [...new Set([...ofDevices, ...ofPerson])];
}

export type NamedSession = Yielded<ReturnType<typeof traceErasure.sessionsNaming>>[number];
type Yielded<Of> = Of extends Generator<infer One> ? One : never;

/** The sessions that name a person as theirs, as exporters do, on devices that are not theirs: some at a time. */
export function* sessionsNaming(core: Core, target: Target): Generator<readonly NamedSession[]> {
  const user = target.kind === "person" ? findUser(core, target.personId) : undefined;
  const known = new Set(user && addressesOf(core, user).map(emailKey));
  if (known.size === 0) return;
  const own = new Set(devicesOf(core, target));
  for (const some of traceErasure.sessionsNaming(core, (email) => known.has(emailKey(email))))
    yield some.filter(({ deviceId }) => !own.has(deviceId));
}

/** The devices of others that a target reaches, where sessions name the person. */
export const namedOn = (target: Target): readonly string[] => (target.kind === "person" && target.namedOn) || [];

/** A target with those, looked for in slices. */
export async function withNamed(core: Core, target: Target): Promise<Target> {
  const yieldNow = cooperative(core.clock);
  const found = new Set<string>();
  for (const some of sessionsNaming(core, target)) {
    for (const { deviceId } of some) found.add(deviceId);
    await yieldNow();
  }
  return target.kind === "person" && found.size > 0 ? { ...target, namedOn: [...found] } : target;
}

interface Reached {
  readonly teamId: string;
  readonly deviceId: string;
  readonly kind: string;
  readonly repoKey: string;
  /** As the delivery counts them. */
  readonly items: number;
  readonly mode: string | null;
}

/** The addresses by which records know somebody: theirs, and those that were theirs alone before. */
export const addressesOf = (core: Core, { id, email }: { readonly id: string; readonly email: string }): string[] =>
  [email, ...formerAddresses.of(core, id)].filter((one) => one !== markOf(id));

/**
 * Tells what deliveries a target reaches, as far as their rows tell. Notes of commits go with whom or what they name, whoever sent them; a
 * session may have moved from one repository to another.
 * @param stored as it is stored
 */
export function reachOf(core: Core, stored: string): (delivery: Reached) => boolean {
  const target = readTarget(stored);
  if (!target) return () => false;
  const deviceIds = new Set(target.kind === "repo" ? [] : devicesOf(core, target));
  const named = new Set(namedOn(target));
  return (delivery) => {
    if (traceErasure.isOfNotes(delivery)) return true;
    const { teamId, deviceId, kind, repoKey } = delivery;
    if (target.kind === "repo")
      return target.teamIds.includes(teamId) && (kind === "traces" || streamKeys(target.repoKey).includes(repoKey));
    if (named.has(deviceId)) return kind !== "brain";
    if (!deviceIds.has(deviceId)) return false;
    if (target.kind === "entry") return kind === "telemetry" && repoKey === target.repoKey;
    return target.kind !== "session" || kind !== "brain";
  };
}
