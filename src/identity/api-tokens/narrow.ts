import type { Core } from "../../core.ts";
import { fail, malformed, notFound } from "../../kit/problem.ts";
import { type Device, listDevices } from "../devices/devices.ts";
import { findTeam } from "../teams/teams.ts";

/** What a program names in its queries: a team, a person. */

/**
 * The team that is read.
 * @param own the only one that may be; null for any
 * @param named what the query names, if anything; a team's name will do where any may be read
 * @throws Problem notFound (404) for another than its own, malformed (400) where it must be named
 */
export function teamRead(core: Core, own: string | null, named: string | undefined): string {
  if (own !== null) return named === undefined || named === own ? own : fail(notFound, "There is no such team.");
  if (named === undefined)
    fail(malformed, "The token reads all teams: name one with the parameter team; /api/teams lists them.");
  return findTeam(core, named)?.id ?? fail(notFound, "There is no such team.");
}

/** The devices that are a person's now; undefined where nobody is named. @param person id or e-mail address */
export function devicesOfPerson(core: Core, teamId: string, person: string | undefined): readonly string[] | undefined {
  if (person === undefined) return undefined;
  return listDevices(core, teamId)
    .filter(isOf(person))
    .map(({ id }) => id);
}

/** Tells whether a device is somebody's now. @param person id or e-mail address */
export function isOf(person: string): (device: Device) => boolean {
  const email = person.toLowerCase();
  return ({ person: owner }) => owner !== null && (owner.id === person || owner.email.toLowerCase() === email);
}
