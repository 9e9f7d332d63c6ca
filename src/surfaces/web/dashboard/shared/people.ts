import type { Device } from "../../../../identity/devices/devices.ts";
import { countMembers, MAX_LISTED } from "../../../../identity/members/members.ts";
import type { SourcePerson } from "../../../../identity/ownership/ownership.ts";
import type { Option } from "../../ui/field.ts";
import type { Filter } from "../../ui/list.ts";
import { number } from "../../ui/units.ts";
import type { Member } from "./call.ts";
import { MAX_OPTIONS, selectFilter } from "./params.ts";

/** People to choose from, and narrowing lists to the machines of one, as they are assigned now. */

export type Owned = Pick<Device, "id" | "person">;
type Seen = Pick<Device, "lastSeenAt">;

const seenAt = ({ lastSeenAt }: Seen): number => lastSeenAt ?? 0;

/** Machines: first as many as a choice offers, the one heard of last first; then all others, of which there may be very many. */
export function seenLastFirst<D extends Seen>(devices: readonly D[]): D[] {
  const least = Float64Array.from(devices, seenAt).sort().at(-MAX_OPTIONS) ?? 0;
  const first = devices.filter((one) => seenAt(one) >= least).sort((a, b) => seenAt(b) - seenAt(a));
  return first.length === devices.length ? first : [...first, ...devices.filter((one) => seenAt(one) < least)];
}

/** The value for no person at all, where an empty value means "all". No id has this form. */
export const NOBODY = "nobody";

/** The name of a device's owner. */
export const personName = ({ name, email }: Pick<SourcePerson, "name" | "email">): string => name ?? email;

/** How a URL names somebody: by id, or by the e-mail address where there is no account. */
export const personParam = ({ id, email }: Pick<SourcePerson, "id" | "email">): string => id ?? email;

/** Says in a choice that it lists only some of a large team's people. @param command takes the others by their addresses */
export function moreMembers({ core, session }: Member, command: string): Option[] {
  const more = countMembers(core, session.team.id) - MAX_LISTED;
  return more > 0 ? [{ value: "", label: `${number(more)} more, by ${command}`, disabled: true }] : [];
}

/** Of some devices, those of a person. @param person as the address has it: `""` for all, `nobody` */
export const devicesOf = <D extends Owned>(devices: readonly D[], person: string): D[] =>
  devices.filter((device) => person === "" || (device.person?.id ?? NOBODY) === person);

/** A choice among the owners of some devices, and others; none where there is nobody. */
export function personFilter(
  devices: readonly (Owned & Seen)[],
  value: string,
  others: readonly SourcePerson[] = [],
): Filter[] {
  const owners = new Map<string, Seen & { readonly person: SourcePerson }>();
  for (const { person, lastSeenAt } of devices)
    if (person && (lastSeenAt ?? 0) >= (owners.get(person.id)?.lastSeenAt ?? 0))
      owners.set(person.id, { person, lastSeenAt });
  const heard = [...owners.values()].sort((a, b) => seenAt(b) - seenAt(a)).map(({ person }) => person);
  const people = new Map([...heard, ...others].map((person) => [personParam(person), person]));
  if (people.size === 0 && value === "") return [];
  const all = Array.from(people, ([param, person]) => ({ value: param, label: personName(person) }));
  // One less than may be offered, for nobody's. People who were not heard of for longest are left out.
  const options = [
    ...all.slice(0, MAX_OPTIONS - 1).sort((a, b) => a.label.localeCompare(b.label, "en")),
    ...all.slice(MAX_OPTIONS - 1),
  ];
  return [
    selectFilter({ name: "person", label: "Person", value }, "all", [{ value: NOBODY, label: "nobody’s" }, ...options]),
  ];
}
