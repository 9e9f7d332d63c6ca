import { countDevices } from "../../../../identity/devices/devices.ts";
import { DAY_MS, dayNumber } from "../../../../kit/clock.ts";
import { activity } from "../../../../log/log.ts";
import type { Stat } from "../../ui/parts.ts";
import { sparkline } from "../../ui/sparkline.ts";
import { number } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";

/** How the machines report: what came of them, what was erased or ran out since included. */

/** How far it looks back, today included. */
const DAYS = 14;

/** @param bound how many of the team's devices are not revoked */
export function reporting({ core, session, href }: Member, bound: number): Stat[] {
  const now = core.clock.now();
  const today = dayNumber(now);
  const days = activity(core, session.team.id, today - DAYS + 1, today);
  const { seen } = countDevices(core, session.team.id, now - DAY_MS);
  const sum = (of: (day: (typeof days)[number]) => number) => days.reduce((total, day) => total + of(day), 0);
  const flawed = sum(({ gaps, rollbacks }) => gaps + rollbacks);
  const course = (what: string, values: readonly number[]) =>
    sparkline(values, `${what} a day: ${Math.min(...values)} to ${Math.max(...values)}, ${values.at(-1)} today`);
  return [
    { label: "Reporting", value: `${number(seen)} of ${number(bound)}`, sub: "seen in the last 24 hours" },
    {
      label: "Entries",
      value: number(sum(({ entries }) => entries)),
      sub: `received in ${DAYS} days, ${number(days.at(-1)?.entries ?? 0)} today (UTC)`,
      spark: course(
        "Entries",
        days.map(({ entries }) => entries),
      ),
      href: href("/telemetry"),
    },
    {
      label: "Brain snapshots",
      value: number(sum(({ snapshots }) => snapshots)),
      sub: `received in ${DAYS} days`,
      spark: course(
        "Snapshots",
        days.map(({ snapshots }) => snapshots),
      ),
      href: href("/brain"),
    },
    {
      label: "Gaps and rollbacks",
      value: number(flawed),
      sub: flawed === 0 ? `none in ${DAYS} days` : `deliveries in ${DAYS} days`,
      href: href("/telemetry/streams"),
      tone: flawed > 0 ? "warn" : undefined,
    },
  ];
}
