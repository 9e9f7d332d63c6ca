import type { Device } from "../../../../identity/devices/devices.ts";
import type { Filter } from "../../ui/list.ts";
import { selectFilter } from "./params.ts";

/** Narrowing lists to the machines of one person, as they are assigned now. */

export type Owned = Pick<Device, "id" | "person">;

/** Stands for no person at all where an empty value means "all"; no id looks so. */
export const NOBODY = "nobody";

/** How the person is called whose a device is. */
export const personName = ({ name, email }: Pick<NonNullable<Device["person"]>, "name" | "email">): string =>
  name ?? email;

/** Those of some devices that are a person's. @param person as the address has it: `""` for all, `nobody` */
export const devicesOf = <D extends Owned>(devices: readonly D[], person: string): D[] =>
  devices.filter((device) => person === "" || (device.person?.id ?? NOBODY) === person);

/** A choice among the people whose some devices are; none where they are nobody's. */
export function personFilter(devices: readonly Owned[], value: string): Filter[] {
  const people = new Map(devices.flatMap(({ person }) => (person ? [[person.id, person] as const] : [])));
  if (people.size === 0 && value === "") return [];
  const options = Array.from(people.values(), (person) => ({ value: person.id, label: personName(person) })).sort(
    (a, b) => a.label.localeCompare(b.label, "en"),
  );
  return [
    selectFilter({ name: "person", label: "Person", value }, "all", [{ value: NOBODY, label: "nobody’s" }, ...options]),
  ];
}
