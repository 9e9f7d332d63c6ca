import { countDevices } from "../../../../identity/devices/devices.ts";
import { judgeSubscription } from "../../../../identity/license/license.ts";
import { getTeam, type Team } from "../../../../identity/teams/teams.ts";
import type { Concern, Watch } from "../../../../platform/rooms/rooms.ts";
import { dayOf, number } from "../../ui/units.ts";
import { isAdmin } from "../shared/call.ts";
import { dueConcerns } from "../shared/due.ts";

const ENDED = {
  suspended: "Suspended: no licence is signed",
  canceled: "Cancelled: no licence is signed",
  none: "No subscription: no licence is signed",
  grace_over: "Ended: no licence is signed",
} as const;

/** A subscription that ended or is about to, and more devices than seats. */
export const watchLicense: Watch = (call) => {
  const { core, session, href } = call;
  const now = core.clock.now();
  const team = getTeam(core, session.team.id);
  const { active } = countDevices(core, team.id, now);
  const own = { href: href("/license"), at: null };
  const trouble = troubleOf(team, now);
  const list: Concern[] = [
    ...(trouble ? [{ what: "Licence", ...trouble, ...own }] : dueConcerns(call, team, "/license")),
    ...(isAdmin(call) && active > team.seats
      ? [
          {
            ...own,
            kind: "warn" as const,
            what: "Seats",
            title: `${number(active)} of ${number(team.seats)} are taken`,
          },
        ]
      : []),
  ];
  return [{ count: list.length, says: "licence", href: own.href, list }];
};

function troubleOf(team: Team, now: number): Pick<Concern, "kind" | "title"> | undefined {
  const entitled = judgeSubscription(team, now);
  if (!entitled.licensed) return { kind: "bad", title: ENDED[entitled.because] };
  const { status, until } = entitled;
  if (status !== "past_due") return undefined;
  const end = until === null ? "" : `: works until ${dayOf(until)}`;
  return { kind: "warn", title: `Past due${end}` };
}
