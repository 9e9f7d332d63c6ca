import { type Device, listDevices } from "../../../../identity/devices/devices.ts";
import { isQuiet } from "../../../../kit/quiet.ts";
import type { Concern, Watch } from "../../../../platform/rooms/rooms.ts";
import { violationsOf, violatorsSince } from "../../../../record/policy/policy.ts";
import { plural } from "../../ui/units.ts";
import { isAdmin } from "../shared/call.ts";
import { personName } from "../shared/people.ts";
import { short } from "../shared/text.ts";
import { deviceName } from "./list.ts";

const MAX_NAME = 60;

/** Devices that send more than the policy lets them, and those that can report and were not heard of for days. */
export const watchDevices: Watch = (call, since, most) => {
  const { core, session, href } = call;
  const devices = listDevices(core, session.team.id).filter(
    ({ status, personId }) => status === "active" && (isAdmin(call) || personId === session.userId),
  );
  const violators = violatorsSince(core, since);
  const against = devices.filter(({ id }) => violators.has(id));
  const of = violationsOf(
    core,
    against.map(({ id }) => id),
  );
  const quiet = devices.filter(({ silentSince }) => isQuiet(silentSince, core.clock.now()));
  const line = (device: Device, rest: Pick<Concern, "kind" | "what" | "at"> & { about?: string }): Concern => ({
    title: short(deviceName(device), MAX_NAME),
    ...rest,
    about: rest.about ?? (device.person ? short(personName(device.person), MAX_NAME) : undefined),
    href: href(`/devices/${device.id}`),
  });
  return [
    {
      count: against.length,
      says: `${plural(against.length, "device")} against the policy`,
      href: href("/devices"),
      list: newest(against, ({ id }) => of(id).lastAt, most).map((device) => {
        const { deliveries, lastAt } = of(device.id);
        const about = plural(deliveries, "delivery", "deliveries");
        return line(device, { kind: "warn", what: "Against policy", at: lastAt, about });
      }),
    },
    {
      count: quiet.length,
      says: `${plural(quiet.length, "device")} quiet`,
      href: href("/devices?state=quiet"),
      list: newest(quiet, ({ lastSeenAt }) => lastSeenAt, most).map((device) =>
        line(device, { kind: "info", what: "Quiet device", at: device.lastSeenAt }),
      ),
    },
  ];
};

const newest = (devices: readonly Device[], at: (device: Device) => number | null, most: number): Device[] =>
  devices.toSorted((a, b) => (at(b) ?? 0) - (at(a) ?? 0)).slice(0, most);
