import { countDevices, listDevices } from "../../../../identity/devices/devices.ts";
import { getTeam, tiersWith } from "../../../../identity/teams/teams.ts";
import { brainMetrics, countEntries, freshenEntries } from "../../../../insight/defects/defects.ts";
import { freshenSpend, spendReport } from "../../../../insight/spend/spend.ts";
import { DAY_MS, isoInstant } from "../../../../kit/clock.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { type ActivityDay, activity, type FlagRow, recentFlags } from "../../../../log/log.ts";
import { type PageCall, page } from "../../../../platform/http/page.ts";
import { listRepoKeys } from "../../../../record/telemetry/telemetry.ts";
import { buttonLink } from "../../ui/button.ts";
import { barChart } from "../../ui/chart.ts";
import { table } from "../../ui/list.ts";
import { anchor, badge, columns, empty, pageHead, section, stats } from "../../ui/parts.ts";
import { ago, dayText, number } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import type { Member } from "../shared/call.ts";
import { deviceLink, repoName } from "../shared/links.ts";
import { seatsWarning } from "../shared/seats.ts";
import { repoValue } from "../telemetry/filter.ts";
import { firstRun, isBegun } from "./first-run.ts";
import { pulsesSection } from "./pulses.ts";
import { activityTiles, DAYS, type Glance, stateTiles, sum } from "./tiles.ts";

/** The team at a glance; every figure leads to where it comes from. */

const FLAGS_SHOWN = 8;

function look({ core, session }: Member): Glance {
  const teamId = session.team.id;
  const now = core.clock.now();
  const today = Math.floor(now / DAY_MS);
  const team = getTeam(core, teamId);
  const errors = tiersWith("brain").includes(team.tier)
    ? { ...brainMetrics(core, teamId), ...countEntries(core, teamId) }
    : null;
  const all = listDevices(core, teamId);
  return {
    team,
    days: activity(core, teamId, today - DAYS + 1, today),
    devices: countDevices(core, teamId, now - DAY_MS),
    bound: all.filter(({ revokedAt }) => revokedAt === null).length,
    errors,
    labels: new Map(all.map(({ id, label }) => [id, label])),
    flags: recentFlags(core, teamId, FLAGS_SHOWN),
    spend: spendReport(core, teamId, { from: now - 6 * DAY_MS, to: now, by: "day" }),
    begun: {
      device: all.length > 0,
      telemetry: listRepoKeys(core, teamId).length > 0,
      brain: errors && errors.repositories > 0,
    },
  };
}

async function overviewPage(call: Member): Promise<Html> {
  await freshenEntries(call.core);
  await freshenSpend(call.core);
  const seen = look(call);
  const { begun, team } = seen;
  const main = html`${pageHead({
    title: "Overview",
    intro: begun.device
      ? `What ${team.name} and its agents did in the last ${DAYS} days.`
      : `${team.name} has no record yet. These steps begin one.`,
  })}
${seatsWarning(call)}
${!isBegun(begun) && firstRun(call, begun)}
${begun.device && html`<section class="section" aria-label="Figures">${stats(activityTiles(call, seen))}${stats(stateTiles(call, seen))}</section>`}
${(begun.telemetry || begun.brain) && html`${charts(seen.days)}${flags(call, seen.flags)}`}
${pulsesSection(call, seen.labels)}`;
  return frame(call, { title: "Overview", main });
}

function charts(days: readonly ActivityDay[]): Html {
  const points = (of: (day: ActivityDay) => number) =>
    days.map((one) => {
      const iso = isoInstant(one.day * DAY_MS).slice(0, 10);
      return { label: dayText(iso).replace(/ \d{4}$/, ""), iso, values: [of(one)] };
    });
  const chart = (title: string, unit: string, name: string, of: (day: ActivityDay) => number) => {
    const total = sum(days, of);
    const most = days.reduce((a, b) => (of(b) > of(a) ? b : a));
    const peak = `most on ${dayText(isoInstant(most.day * DAY_MS).slice(0, 10))} (${number(of(most))})`;
    return barChart({
      title,
      summary: `${number(total)} ${unit} in ${days.length} days${total > 0 ? `, ${peak}` : ""}.`,
      days: points(of),
      series: [{ name, tone: "accent" }],
      unit,
    });
  };
  return html`<section class="section" aria-label="Activity">${columns(
    chart("Telemetry entries per day", "entries", "Entries", ({ entries }) => entries),
    chart("Sessions per day", "sessions", "Sessions", ({ sessions }) => sessions),
  )}</section>`;
}

const KINDS = { telemetry: "telemetry", brain: "brain snapshot", traces: "traces" } as const;

function flags(call: Member, rows: readonly FlagRow[]): Html {
  const { core, href } = call;
  const now = core.clock.now();
  return section({
    title: "Latest gaps and rollbacks",
    intro:
      "A gap: numbers or versions were skipped, so something did not arrive. A rollback: something came again with other content; both are kept.",
    body: table({
      caption: "Latest gaps and rollbacks",
      columns: [
        {
          label: "What",
          heading: true,
          cell: (flag) =>
            anchor(
              href(flagPath(flag)),
              badge(flag.flagged === "gap" ? "warn" : "bad", flag.flagged === "gap" ? "Gap" : "Rollback"),
            ),
        },
        { label: "In", cell: (flag) => KINDS[flag.kind] },
        { label: "Repository", cell: (flag) => repoName(flag.repoKey) },
        {
          label: "Device",
          cell: (flag) => deviceLink(call, flag),
        },
        { label: "When", cell: (flag) => ago(flag.at, now) },
      ],
      rows,
      empty: empty({
        title: "None",
        intro: "Nothing is missing and nothing was rewritten, as far as the devices' own numbering tells.",
      }),
    }),
  });
}

/** Where a flagged delivery shows. */
function flagPath({ kind, flagged, repoKey, deviceId }: FlagRow): string {
  if (kind === "brain") return `/brain/versions?${new URLSearchParams({ repo: repoKey })}`;
  if (kind === "traces") return "/sessions";
  const stream = new URLSearchParams({ device: deviceId, repo: repoValue(repoKey) });
  return flagged === "rollback" ? `/telemetry/conflicts?${stream}` : `/telemetry?${stream}`;
}

/** Where somebody stands whom no team has invited yet. */
function noTeam(call: PageCall<"person">): Html {
  const { session, href } = call;
  const main = html`${pageHead({ title: "Overview" })}
${empty({
  title: "You are in no team yet",
  intro: "An owner or admin of a team can invite you by a link. What a team's agents did is shown to its people only.",
  actions: session.operator && buttonLink("To the settings", href("/settings")),
})}`;
  return frame(call, { title: "Overview", main });
}

export const overviewPages = [
  page({ id: "overview", method: "GET", path: "/overview", access: "person" }, (call) => {
    const { session } = call;
    return session.team ? overviewPage({ ...call, session: { ...session, team: session.team } }) : noTeam(call);
  }),
];
