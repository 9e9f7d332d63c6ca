import type { Core } from "../../../../core.ts";
import { DAY_MS } from "../../../../kit/clock.ts";
import { activity, type FlagRow, recentFlags } from "../../../../log/log.ts";
import type { Watch } from "../../../../platform/rooms/rooms.ts";
import { listStreams } from "../../../../record/telemetry/telemetry.ts";
import { plural } from "../../ui/units.ts";
import { deviceName, repoName, repoValue } from "../shared/links.ts";
import { short } from "../shared/text.ts";

const MAX_NAME = 60;
/** Flags that are looked at. */
const LOOKED_AT = 200;

const KINDS = { telemetry: "Telemetry", brain: "Brain", traces: "Sessions" } as const;

/** Those that flagged a gap which was filled later: the stream has none any more. */
function isHealed(core: Core, teamId: string): (flag: FlagRow) => boolean {
  const gapped = new Set(
    listStreams(core, teamId, { flawed: true }).flatMap(({ deviceId, repoKey, missing }) =>
      missing > 0 ? [`${deviceId} ${repoKey}`] : [],
    ),
  );
  return ({ kind, flagged, deviceId, repoKey }) =>
    kind === "telemetry" && flagged === "gap" && !gapped.has(`${deviceId} ${repoKey}`);
}

/** Deliveries before which something is missing, and those that wrote over what was delivered before. */
export const watchDeliveries: Watch = ({ core, session, href }, since, most) => {
  const team = session.team.id;
  const days = activity(core, team, since / DAY_MS, core.clock.now() / DAY_MS);
  const sum = (of: (day: (typeof days)[number]) => number) => days.reduce((total, day) => total + of(day), 0);
  const recent = recentFlags(core, team, LOOKED_AT).filter(({ at }) => at >= since);
  const healed = isHealed(core, team);
  const [gaps, rollbacks] = [sum((day) => day.gaps) - recent.filter(healed).length, sum((day) => day.rollbacks)];
  return [
    {
      count: gaps + rollbacks,
      says: [gaps > 0 && plural(gaps, "gap"), rollbacks > 0 && plural(rollbacks, "rollback")]
        .filter(Boolean)
        .join(", "),
      href: href("/telemetry/streams"),
      list: recent
        .filter((flag) => !healed(flag))
        .slice(0, most)
        .map((flag) => ({
          kind: flag.flagged === "rollback" ? "bad" : "warn",
          what: flag.flagged === "rollback" ? "Rollback" : "Gap",
          title: `${KINDS[flag.kind]} of ${short(repoName(flag.repoKey), MAX_NAME)}`,
          about: short(deviceName(flag), MAX_NAME),
          href: href(flagPath(flag)),
          at: flag.at,
        })),
    },
  ];
};

/** Where a flagged delivery shows. */
export function flagPath({ kind, flagged, repoKey, deviceId }: FlagRow): string {
  if (kind === "brain") return `/brain/versions?${new URLSearchParams({ repo: repoKey })}`;
  if (kind === "traces") return "/sessions";
  const stream = new URLSearchParams({ device: deviceId, repo: repoValue(repoKey) });
  return flagged === "rollback" ? `/telemetry/conflicts?${stream}` : `/telemetry?${stream}`;
}
