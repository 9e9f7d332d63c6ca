import { OUTCOME_KINDS } from "../../../../formats/outcomes.ts";
import { dateOfDay } from "../../../../kit/clock.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import type { Stat } from "../../ui/parts.ts";
import { sparkline } from "../../ui/sparkline.ts";
import { number, plural } from "../../ui/units.ts";
import { percent, shareOf } from "../sessions/labels.ts";
import type { Member } from "../shared/call.ts";
import { link } from "../shared/links.ts";
import { dollars } from "../spend/labels.ts";
import type { Attention } from "./attention.ts";
import { type Course, change, type Period } from "./period.ts";
import type { Seen } from "./seen.ts";

/** The four figures of the overview; each leads to what it counts. */

export function figures(call: Member, period: Period, seen: Seen, attention: Attention): Stat[] {
  return [
    sessionsTile(call, period, seen),
    spendTile(call, period, seen),
    errorsTile(call, period, seen),
    attentionTile(seen, attention),
  ];
}

/** Parts of a line under a figure; those without anything to say are left out. */
const line = (...parts: Content[]): Content =>
  parts.filter(Boolean).map((part, i) => html`${i > 0 && html` <span aria-hidden="true">·</span> `}${part}`);

const course = (what: string, { values }: Course, spell = number) =>
  sparkline(
    values,
    `${what} a day: ${spell(Math.min(...values))} to ${spell(Math.max(...values))}, ${spell(values.at(-1) ?? 0)} on the last day`,
  );

/** All sessions, however they ended. */
export const allOf = ({ sessions }: Seen): Course => summed(OUTCOME_KINDS.map((kind) => sessions[kind]));

const summed = (all: readonly Course[]): Course => ({
  values: all[0]?.values.map((_, i) => all.reduce((sum, { values }) => sum + (values[i] ?? 0), 0)) ?? [],
  total: all.reduce((sum, { total }) => sum + total, 0),
  before: all.reduce((sum, { before }) => sum + before, 0),
});

function sessionsTile(call: Member, period: Period, seen: Seen): Stat {
  const all = allOf(seen);
  const { succeeded, failed, stopped } = seen.sessions;
  const share = (when: "total" | "before") =>
    shareOf({ succeeded: succeeded[when], failed: failed[when], stopped: stopped[when] });
  const [now, before] = [share("total"), share("before")];
  return {
    label: "Sessions",
    value: number(all.total),
    sub: line(
      change(period, all),
      now !== null &&
        html`${number(succeeded.total)} succeeded, ${percent(now)}${before !== null && betterOrWorse(period, now, before)}`,
    ),
    spark: course("Sessions", all),
    href: link(call, "/sessions", { from: dateOfDay(period.first), to: dateOfDay(period.last) }),
  };
}

/** A share against that of the days before, said and not only shown: `better than 48 % in the 7 days before`. */
function betterOrWorse({ days }: Period, now: number, before: number): Html {
  const [was, is] = [percent(before), percent(now)];
  const looks = was === is ? "" : now > before ? "good" : "bad";
  const words = { "": "as", good: `better than ${was}`, bad: `worse than ${was}` }[looks];
  return html` <span class="delta words ${looks}">${words} in the ${days} days before</span>`;
}

/** Usage without a price is never shown as $0. */
function spendTile(call: Member, period: Period, seen: Seen): Stat {
  const { course: cost, priced, perSession, reported, prices } = seen.spend;
  const known = priced.some((usd) => usd !== null);
  return {
    label: "Spend",
    value: known ? dollars(cost.total) : "–",
    sub: line(
      known && change(period, cost, undefined, dollars),
      prices.problem ??
        (known ? perSession !== null && `${dollars(perSession)} a session` : "nothing that has a price"),
      !known && reported !== null && `agents say ${dollars(reported)}`,
    ),
    spark: course("Dollars", cost, dollars),
    href: link(
      call,
      "/spend",
      period.isPast
        ? { from: dateOfDay(period.first), to: dateOfDay(period.last) }
        : { days: period.days === 30 ? undefined : period.days },
    ),
    tone: prices.problem === null ? undefined : "warn",
  };
}

function errorsTile(call: Member, period: Period, { errors }: Seen): Stat {
  // Only entries of errors files, as `errorDays` counts.
  const own = { label: "Error entries", href: link(call, "/errors", { kind: "error", state: "all" }) };
  if (!errors) return { ...own, value: "–", sub: "no brain published" };
  const { all, again } = errors;
  return {
    ...own,
    value: number(all.total),
    sub: line(change(period, all, "fewer"), `${number(again.total)} came again`),
    spark: course("Entries", all),
  };
}

const NAMED = 2;

/** What needs attention now; its course is what came up each day, since nothing tells how long it took somebody to see to it. */
function attentionTile({ sessions, errors, flagged }: Seen, { count, all }: Attention): Stat {
  const cameUp = summed([sessions.failed, flagged, ...(errors ? [errors.all] : [])]);
  const most = all.toSorted((a, b) => b.count - a.count).slice(0, NAMED);
  return {
    label: "Needs attention",
    value: number(count),
    sub: count === 0 ? "nothing at the moment" : line(...most.map(({ says }) => says)),
    spark: course("Failed sessions, errors, gaps and rollbacks", cameUp),
    href: "#attention",
    tone: count > 0 ? "warn" : "good",
  };
}

/** For charts: `21 sessions in 30 days`. */
export const inDays = (count: number, one: string, { days }: Period): string => `${plural(count, one)} in ${days} days`;
