import type { Core } from "../../core.ts";
import { deviceFinder } from "../../identity/devices/devices.ts";
import { findTeam } from "../../identity/teams/teams.ts";
import { baseUrlOf } from "../../kit/base-url.ts";
import { isoInstant } from "../../kit/clock.ts";
import { visibleLine } from "../../kit/strings.ts";
import { NOTICE_TYPES, type NoticeData, type NoticeName, type StoredNotice } from "../../platform/notices/notices.ts";

/** What happened, for people: in chats and mail. Texts that were sent stand in it as they are; each format escapes them. */
export interface Said {
  readonly title: string;
  /** One line each. */
  readonly lines: readonly string[];
  readonly url: string;
}

type Words = (data: NoticeData, device: string) => string | readonly string[];

const MAX_LINES = 10;

const repoIn = ({ repo }: NoticeData) => (repo ? ` in ${repo}` : "");
const ended = ({ state }: NoticeData) => state === "ended";
const gigabytes = (bytes: unknown) => `${(Number(bytes) / 1e9).toFixed(1)} GB`;
const day = (instant: unknown) => String(instant).slice(0, 10);

const WORDS: Readonly<Record<NoticeName, Words>> = {
  gap: (data, device) => `Something is missing in the ${data.kind} of ${device}${repoIn(data)}`,
  rollback: (data, device) => `${device} sent other ${data.kind} under a number that was taken${repoIn(data)}`,
  "defect.new": (data) => `${data.title}${repoIn(data)}`,
  "defect.recurred": (data) => `${data.title}${repoIn(data)}, ${data.occurrences} times so far`,
  "error.reopened": (data) => `${data.title}${repoIn(data)}`,
  "session.failed": (data, device) =>
    `Session ${data.session}${data.agent ? ` of ${data.agent}` : ""} on ${device}${repoIn(data)}: ${data.outcome}`,
  "device.quiet": (data, device) =>
    ended(data)
      ? `${device} reports again`
      : `${device} has ${data.last_seen === null ? "never reported" : `not reported since ${day(data.last_seen)}`}`,
  "budget.reached": (data) =>
    `${data.budget}: ${data.percent} % of ${data.limit} ${data.currency}${data.ended ? `, in the ${data.period} that ended on ${data.to}` : ""}`,
  "license.due": (data) => `The paid period ends on ${day(data.until)}`,
  "key.due": (data) =>
    data.kind === "api_token"
      ? `API token ${data.name} expires on ${day(data.until)}`
      : "The signing key is a year old",
  "sign_in.refused": (data) => `${data.tries} passwords were refused within ${data.minutes} minutes`,
  "erasure.done": (data) => `Erased: a ${data.kind} (${data.erasure})`,
  "digest.weekly": digest,
  "backup.stale": (data) => {
    if (ended(data)) return "There is a new backup";
    return data.last === null ? "There is no backup" : `The last backup is of ${day(data.last)}`;
  },
  "replica.stale": (data) => {
    if (ended(data)) return "The replica was found whole again";
    const last = data.last === null ? "It never was found whole" : `It was found whole last on ${day(data.last)}`;
    return data.failing
      ? `The last check of the replica failed. ${last}`
      : `The replica is not checked any more. ${last}`;
  },
  "disk.low": (data) =>
    ended(data)
      ? `There is room again: ${gigabytes(data.free_bytes)}`
      : `${gigabytes(data.free_bytes)} left for the data`,
  test: () => "It works: notifications arrive here.",
};

function digest(data: NoticeData): string[] {
  const share = (value: unknown) => (value === null ? "–" : `${Math.round(Number(value) * 100)} %`);
  const spent = (value: unknown) => (value === null ? "–" : `$${Number(value).toFixed(2)}`);
  const titles = (name: string) => ((data[name] ?? []) as readonly NoticeData[]).map(({ title }) => `  ${title}`);
  return [
    `Sessions: ${data.sessions} (${data.sessions_before} the week before)`,
    `Success rate: ${share(data.success_rate)} (${share(data.success_rate_before)})`,
    `Spend: ${spent(data.spend_usd)} (${spent(data.spend_usd_before)})`,
    `New errors: ${data.new_errors}`,
    ...titles("newest_errors"),
    `Recurring errors: ${data.recurring_errors}`,
    ...titles("most_recurring"),
    `Gaps: ${data.gaps}, rollbacks: ${data.rollbacks}, open errors: ${data.open_errors}, quiet devices: ${data.quiet_devices}`,
  ];
}

/** A notice in words. */
export function linesOf(core: Core, { type, data }: Pick<StoredNotice, "type" | "data">): string[] {
  const label = typeof data.device === "string" ? deviceFinder(core)(data.device)?.label : undefined;
  const words = WORDS[type](data, label ?? String(data.device ?? "a device"));
  return (typeof words === "string" ? [words] : words).map((line) => visibleLine(line, 300));
}

/** Where more is told of a notice. */
const urlOf = ({ config }: Core, { path }: StoredNotice): string => baseUrlOf(config) + path;

const teamOf = (core: Core, { teamId }: StoredNotice) =>
  teamId === null ? "" : ` · ${visibleLine(findTeam(core, teamId)?.name ?? teamId, 100)}`;

/** One message for people of one or several notices. @param more how many there are beyond these */
export function say(core: Core, notices: readonly StoredNotice[], more: number): Said {
  const [first] = notices;
  if (!first) return { title: "Nothing is left to tell", lines: [], url: baseUrlOf(core.config) };
  const all = notices.length + more;
  const types = Map.groupBy(notices, ({ type }) => type);
  if (all === 1)
    return {
      title: NOTICE_TYPES[first.type].label + teamOf(core, first),
      lines: linesOf(core, first),
      url: urlOf(core, first),
    };
  const counts = [...types].map(([type, of]) => `${NOTICE_TYPES[type].label}: ${of.length}`);
  const isOne = types.size === 1;
  const sameTeam = notices.every(({ teamId }) => teamId === first.teamId);
  const title = isOne ? `${NOTICE_TYPES[first.type].label} (${all})` : `${all} notifications`;
  const lines = notices.slice(0, MAX_LINES).flatMap((notice) => {
    const [line = ""] = linesOf(core, notice);
    return isOne ? line : `${NOTICE_TYPES[notice.type].label}: ${line}`;
  });
  const left = all - Math.min(notices.length, MAX_LINES);
  return {
    title: title + (sameTeam ? teamOf(core, first) : ""),
    lines: [...(isOne ? [] : [counts.join(", ")]), ...lines, ...(left > 0 ? [`and ${left} more`] : [])],
    url: isOne ? urlOf(core, first) : `${baseUrlOf(core.config)}/overview`,
  };
}

/** What a program is told of a notice: as it was noted, with where and when. */
export function payloadOf(core: Core, notice: StoredNotice) {
  const { eventId, type, at, teamId, data } = notice;
  return {
    type,
    timestamp: isoInstant(at),
    data: { event: eventId, team: teamId, ...data, url: urlOf(core, notice) },
  };
}
