import type { Core } from "../../core.ts";
import { fail, malformed, notFound } from "../../kit/problem.ts";
import { type Device, listDevices } from "../devices/devices.ts";
import { findTeam } from "../teams/teams.ts";

/** The parts of a program's query that name a team or a person. */

/**
 * The team that a query reads.
 * @param own the only team that the token may read; null for any
 * @param named the team in the query, if any, by id or exact name
 * @throws Problem notFound (404) for a team that is not the token's own, malformed (400) when the query has to name one
 */
export function teamRead(core: Core, own: string | null, named: string | undefined): string {
  const id = named === undefined ? own : findTeam(core, named)?.id;
  if (id === null)
    fail(malformed, "The token reads all teams: name one with the parameter team; /api/teams lists them.");
  return id && (own ?? id) === id ? id : fail(notFound, "There is no such team.");
}

/** The devices that belong to a person now; undefined when no person is given. @param person id or e-mail address */
export function devicesOfPerson(core: Core, teamId: string, person: string | undefined): readonly string[] | undefined {
  if (person === undefined) return undefined;
  return listDevices(core, teamId)
    .filter(isOf(person))
    .map(({ id }) => id);
}

/** Makes a test whether a device belongs to a person now. @param person id or e-mail address */
export function isOf(person: string): (device: Device) => boolean {
  const email = person.toLowerCase();
  return ({ person: owner }) => owner !== null && (owner.id === person || owner.email.toLowerCase() === email);
}
