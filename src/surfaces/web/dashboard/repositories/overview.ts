import { streamKeys } from "../../../../formats/exported.ts";
import { listDevices } from "../../../../identity/devices/devices.ts";
import { latestCommits } from "../../../../insight/causes/causes.ts";
import { freshenEntries } from "../../../../insight/defects/defects.ts";
import {
  findSessions,
  freshenSessions,
  repoDays,
  sessionTitle,
  sumSessions,
} from "../../../../insight/sessions/sessions.ts";
import { freshenSpend, spendReportInSlices } from "../../../../insight/spend/spend.ts";
import { type ClassCounts, countClasses, pageOfErrors } from "../../../../insight/triage/triage.ts";
import { DAY_MS, dateOfDay, dayNumber } from "../../../../kit/clock.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { fail, notFound } from "../../../../kit/problem.ts";
import { listRepositories } from "../../../../record/brain/brain.ts";
import { listStreams } from "../../../../record/telemetry/telemetry.ts";
import { buttonLink } from "../../ui/button.ts";
import { barChart } from "../../ui/chart.ts";
import { table } from "../../ui/list.ts";
import { anchor, badge, columns, empty, facts, pageHead, type Stat, section, stats } from "../../ui/parts.ts";
import { sparkline } from "../../ui/sparkline.ts";
import { ago, dayText, number, plural, shortDay } from "../../ui/units.ts";
import { errorHref, stateBadge } from "../errors/labels.ts";
import { frame } from "../frame.ts";
import { shareOf } from "../sessions/labels.ts";
import { sessionTable } from "../sessions/table.ts";
import type { Member } from "../shared/call.ts";
import { deviceLink, kindName, link, repoKeyIn, repoName, repoOf, repoValue } from "../shared/links.ts";
import { repoOfStream } from "../shared/repositories.ts";
import { shaText, short } from "../shared/text.ts";
import { changeText, dollars } from "../spend/labels.ts";
import { firstShown, SHOWN_DAYS, sessionsShown } from "./facts.ts";
import { share } from "./labels.ts";

type Classes = ClassCounts["classes"];

/** Everything of one repository in one place, each part leading on. */

const SESSIONS = 8;
const ERRORS = 8;
const COMMITS = 8;
const STREAMS = 10;

export async function overviewPage(call: Member): Promise<Html> {
  const { core, session } = call;
  await Promise.all([freshenSessions(core), freshenSpend(core), freshenEntries(core)]);
  const repoKey = repoOfStream(repoKeyIn(repoOf(call)) ?? "");
  const team = session.team.id;
  const streams = listStreams(core, team, { repoKeys: streamKeys(repoKey) });
  const brain = listRepositories(core, team).find((one) => one.repoKey === repoKey);
  const latest = await findSessions(core, team, { repoKey, limit: SESSIONS });
  if (streams.length === 0 && !brain && latest.rows.length === 0)
    fail(notFound, "Nothing of this repository is in the team's record.");
  const { classes } = await countClasses(core, team, { repoKey });
  const main = html`${pageHead({
    title: short(repoName(repoKey), 120),
    crumbs: [{ label: "Repositories", href: call.href("/repositories") }, { label: short(repoName(repoKey), 60) }],
  })}
<section class="section" aria-label="Figures">${stats(await tiles(call, repoKey, classes))}</section>
${outcomes(call, repoKey)}
${section({
  title: "Latest sessions",
  actions: buttonLink("All sessions", link(call, "/sessions", { repo: repoValue(repoKey) }), { small: true }),
  body: table({
    ...sessionTable(call, latest.rows, { devices: listDevices(core, team), withoutRepo: true }),
    empty: empty({ title: "No sessions yet", intro: "None of this repository's telemetry came with a session." }),
  }),
})}
${columns(await openErrors(call, repoKey, classes), commits(call, repoKey))}
${columns(brainFacts(call, brain), sources(call, streams))}`;
  return frame(call, { title: repoName(repoKey), main, wide: true });
}

/** The days shown, oldest first. */
const daysShown = (now: number) => Array.from({ length: SHOWN_DAYS }, (_, i) => dayNumber(firstShown(now)) + i);

async function tiles(call: Member, repoKey: string, { open, again, ...others }: Classes): Promise<Stat[]> {
  const { core, session } = call;
  const team = session.team.id;
  const now = core.clock.now();
  const from = firstShown(now);
  const { sessions, ...ended } = await sumSessions(core, team, { repoKey, from });
  const succeeded = shareOf(ended);
  const spent = await spendReportInSlices(core, team, { from, to: now, by: "day", repoKey });
  const earlier = { from: from - SHOWN_DAYS * DAY_MS, to: from - 1, by: "model", repoKey } as const;
  const before = await spendReportInSlices(core, team, earlier);
  const byDay = new Map(spent.groups.map(({ key, usd }) => [key, usd]));
  const course = daysShown(now).map((day) => byDay.get(dateOfDay(day)) ?? 0);
  const { usd } = spent.total;
  const change = changeText(usd, before.total.usd);
  const repo = repoValue(repoKey);
  return [
    {
      label: `Sessions, ${SHOWN_DAYS} days`,
      value: number(sessions),
      sub: succeeded !== null && html`${share(succeeded)} succeeded`,
      href: sessionsShown(call, repoKey),
    },
    {
      label: `Spend, ${SHOWN_DAYS} days`,
      value: usd === null ? "–" : dollars(usd),
      sub:
        change === "" || change === "new" || change.startsWith("×") ? "" : `${change} to the ${SHOWN_DAYS} days before`,
      spark: usd !== null && sparkline(course, `Spend a day, ${dollars(Math.max(...course))} at most`),
      href: link(call, "/spend", { repo }),
    },
    {
      label: "Open errors",
      value: number(open + again),
      sub: `of ${plural(open + again + others.snoozed + others.resolved, "error")}`,
      href: link(call, "/errors", { repo }),
      tone: open + again > 0 ? "warn" : undefined,
    },
    {
      label: "Came again",
      value: number(again),
      sub: "of the open errors",
      href: link(call, "/errors", { repo, state: "again" }),
    },
  ];
}

/** Results of sessions with the names that the overview gives them. */
const RESULTS = [
  ["succeeded", "Succeeded", "good"],
  ["stopped", "Stopped", "warn"],
  ["failed", "Failed", "bad"],
  ["unknown", "Not said", "neutral"],
] as const;

function outcomes(call: Member, repoKey: string): Content {
  const { core, session } = call;
  const now = core.clock.now();
  const from = firstShown(now);
  const rows = repoDays(core, session.team.id, repoKey, from, from + SHOWN_DAYS * DAY_MS);
  if (rows.length === 0) return "";
  const seen = RESULTS.filter(([result]) => rows.some((row) => row.result === result));
  const counts = new Map(rows.map(({ day, result, sessions }) => [`${day} ${result}`, sessions]));
  const total = rows.reduce((sum, { sessions }) => sum + sessions, 0);
  return html`<section class="section" aria-label="Outcomes">${barChart({
    title: "Outcomes by day",
    summary: `${plural(total, "session")} in ${SHOWN_DAYS} days.`,
    unit: ["session", "sessions"],
    series: seen.map(([, name, tone]) => ({ name, tone })),
    days: daysShown(now).map((day) => {
      const iso = dateOfDay(day);
      return {
        iso,
        label: shortDay(iso),
        values: seen.map(([result]) => counts.get(`${day} ${result}`) ?? null),
        href: link(call, "/sessions", { repo: repoValue(repoKey), from: iso, to: iso }),
      };
    }),
  })}</section>`;
}

async function openErrors(call: Member, repoKey: string, { open, again }: Classes): Promise<Html> {
  const { core, session } = call;
  const states = ["open", "again"] as const;
  const query = { repoKey, states, sort: "last", ascending: false, limit: ERRORS } as const;
  const { rows } = await pageOfErrors(core, session.team.id, query);
  const more = open + again - rows.length;
  return section({
    title: "Errors",
    actions: buttonLink("All errors", link(call, "/errors", { repo: repoValue(repoKey) }), { small: true }),
    body: html`${table({
      caption: "Open and recurring errors",
      dense: true,
      columns: [
        {
          label: "Error",
          heading: true,
          grow: true,
          cell: (row) => anchor(errorHref(call, row), short(row.title, 110)),
        },
        { label: "Entries", numeric: true, named: true, cell: ({ occurrences }) => occurrences },
        { label: "State", cell: ({ state }) => stateBadge(state) },
        { label: "Last seen", numeric: true, cell: ({ lastSeen }) => dayText(lastSeen) },
      ],
      rows,
      empty: empty({ title: "No open errors", intro: "And none that came again." }),
    })}${more > 0 && html`<p class="says">${number(more)} more are open.</p>`}`,
  });
}

function commits(call: Member, repoKey: string): Html {
  const { core, session, href } = call;
  const now = core.clock.now();
  return section({
    title: "Latest commits",
    body: table({
      caption: "Latest commits of agents",
      dense: true,
      columns: [
        {
          label: "Session",
          heading: true,
          grow: true,
          cell: ({ sessionId }) =>
            anchor(href(`/sessions/${sessionId}`), short(sessionTitle(core, sessionId) ?? `${sessionId}`, 90)),
        },
        { label: "Commit", cell: ({ sha }) => html`<code>${shaText(sha)}</code>` },
        { label: "Made", numeric: true, cell: ({ at }) => ago(at, now) },
      ],
      rows: latestCommits(core, session.team.id, repoKey, COMMITS),
      empty: empty({ title: "No commits", intro: "No session of this repository names one." }),
    }),
  });
}

function brainFacts(call: Member, brain: ReturnType<typeof listRepositories>[number] | undefined): Html {
  const now = call.core.clock.now();
  if (!brain)
    return section({ title: "Brain", body: empty({ title: "No brain", intro: "No snapshot of it was sent." }) });
  const kinds = Object.entries(brain.kinds) as [Parameters<typeof kindName>[0], number][];
  return section({
    title: "Brain",
    actions: buttonLink("Open", link(call, "/brain/repository", { repo: brain.repoKey }), { small: true }),
    framed: true,
    body: facts([
      { label: "Files", value: number(kinds.reduce((sum, [, files]) => sum + files, 0)) },
      ...kinds.map(([kind, files]) => ({
        label: kindName(kind),
        value: anchor(link(call, "/brain/repository", { repo: brain.repoKey, kind }), number(files)),
      })),
      {
        label: "Version",
        value: html`${anchor(link(call, "/brain/versions", { repo: brain.repoKey }), number(brain.version))} · ${ago(brain.receivedAt, now)} from ${deviceLink(call, brain)}`,
      },
    ]),
  });
}

function sources(call: Member, streams: ReturnType<typeof listStreams>): Html {
  const { core } = call;
  const now = core.clock.now();
  const to = (path: `/${string}`, { deviceId, repoKey }: (typeof streams)[number]) =>
    link(call, path, { device: deviceId, repo: repoValue(repoKey) });
  return section({
    title: "Devices",
    body: html`${table({
      caption: "Devices that send telemetry of it",
      dense: true,
      columns: [
        { label: "Device", heading: true, grow: true, cell: (stream) => deviceLink(call, stream) },
        {
          label: "Entries",
          numeric: true,
          named: true,
          cell: (stream) => anchor(to("/telemetry", stream), number(stream.entryCount)),
        },
        {
          label: "State",
          cell: (stream) =>
            stream.missing > 0
              ? badge("warn", plural(stream.missing, "missing entry", "missing entries"))
              : stream.conflictCount > 0
                ? anchor(to("/telemetry/conflicts", stream), badge("bad", plural(stream.conflictCount, "conflict")))
                : badge("good", "complete"),
        },
        { label: "Last entry", numeric: true, cell: (stream) => ago(stream.updatedAt, now) },
      ],
      rows: streams.slice(0, STREAMS),
      empty: empty({ title: "No telemetry", intro: "Its sessions came without entries of telemetry." }),
    })}${streams.length > STREAMS && html`<p class="says">${number(streams.length - STREAMS)} more send telemetry of it.</p>`}`,
  });
}
