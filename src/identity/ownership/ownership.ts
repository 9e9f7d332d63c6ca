/**
 * Ownership: the people that sessions and spend belong to. One device may export for many people, and their agents name who is signed in. A
 * record's source is that address, in the form in which addresses are compared, or else its device. A person whose address changes keeps
 * the records of the former one, unless that is or was somebody else's, too.
 * Not here: what a device or a person may do (devices, members): an agent's word gives no rights.
 */
import type { Core } from "../../core.ts";
import { type Device, listDevices } from "../devices/devices.ts";
import { roleIn } from "../members/members.ts";
import { emailKey, findUser, formerAddresses, type User } from "../people/people.ts";

/** For an address that nobody in the team has, only the address is known. */
export type SourcePerson = Pick<User, "email" | "name"> & { readonly id: string | null };

/** The sources that belong to a person now. @param person id or e-mail address, also one without an account; null for devices of nobody */
export function sourcesOf(core: Core, teamId: string, person: string | null): string[] {
  if (person === null) return idsOf(listDevices(core, teamId).filter(({ personId }) => personId === null));
  const user = findUser(core, person);
  const devices = user ? idsOf(listDevices(core, teamId, user.id)) : [];
  const isOfTeam = user !== undefined && isMember(core, teamId, user);
  // The address of somebody whom the team never had is not looked up: a session under a guessed one would tell that it is theirs.
  const address = user && (isOfTeam || devices.length > 0) ? user.email : person;
  const addresses = [address, ...(isOfTeam ? formerAddresses.of(core, user.id) : [])];
  return [...devices, ...addresses.filter((one) => one.includes("@")).map(emailKey)];
}

const idsOf = (devices: readonly Device[]): string[] => devices.map(({ id }) => id);

const isMember = (core: Core, teamId: string, { id }: User): boolean => roleIn(core, teamId, id) !== undefined;

/** Makes a function that gives the person of a source; undefined for a device of nobody. @param devices those of the team, or some */
export function peopleBySource(
  core: Core,
  teamId: string,
  devices: readonly Pick<Device, "id" | "person">[] = listDevices(core, teamId),
): (source: string) => SourcePerson | undefined {
  const known = new Map<string, SourcePerson | undefined>();
  for (const { id, person } of devices) if (person) known.set(id, person);
  const personOf = (email: string): SourcePerson => {
    const user = findUser(core, email) ?? soleFormerHolder(core, email);
    return user && isMember(core, teamId, user) ? user : { id: null, email, name: null };
  };
  return (source) => {
    if (known.has(source) || !source.includes("@")) return known.get(source);
    const person = personOf(source);
    known.set(source, person);
    return person;
  };
}

function soleFormerHolder(core: Core, email: string): User | undefined {
  const [holder, ...others] = formerAddresses.holders(core, email);
  return holder === undefined || others.length > 0 ? undefined : findUser(core, holder);
}
