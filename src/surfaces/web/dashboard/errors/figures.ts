import type { Attribution } from "../../../../insight/causes/causes.ts";
import { errorCalendar } from "../../../../insight/defects/defects.ts";
import type { ClassCounts } from "../../../../insight/triage/triage.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { type Stat, stats } from "../../ui/parts.ts";
import { sparkline } from "../../ui/sparkline.ts";
import { number, plural } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";
import { link, pathText, type Query, repoName } from "../shared/links.ts";
import { short } from "../shared/text.ts";
import { type Course, courseWords, lately } from "./trend.ts";

/** The figures above the list: all of the same entries and their classes. */

/** Files named, of those with headings that are no entry. */
const UNDATED_SHOWN = 3;

interface Shown {
  readonly counts: ClassCounts;
  readonly course: Course;
  readonly causes: Attribution;
  /** What stays in the addresses that the figures lead to. */
  readonly kept: Query;
}

export function figures(call: Member, { counts, course, causes, kept }: Shown): Html {
  const { classes, unassigned } = counts;
  const open = classes.open + classes.again;
  const { fresh, again } = lately(course);
  const to = (query: Query) => `${link(call, "/errors", { ...kept, ...query })}#entries`;
  const tiles: Stat[] = [
    {
      label: "Open",
      value: number(open),
      sub: classes.again > 0 ? `${number(classes.again)} came again` : "none came again",
      href: open > 0 ? to({ state: classes.again > 0 ? "again" : "open" }) : undefined,
      tone: classes.again > 0 ? "bad" : open > 0 ? "warn" : undefined,
    },
    {
      label: "Unassigned",
      value: number(unassigned),
      sub: open === 0 ? "nothing is open" : `of ${number(open)} open`,
      href: unassigned > 0 ? to({ owner: "nobody" }) : undefined,
      tone: unassigned > 0 ? "warn" : undefined,
    },
    {
      label: "Last 7 days",
      value: number(fresh + again),
      sub: `entries: ${number(fresh)} new, ${number(again)} came again`,
      spark: sparkline(
        course.spans.map((span) => span.fresh + span.again),
        `Entries per ${course.unit}. ${courseWords(course)}`,
      ),
    },
    {
      label: "Caused by a session",
      value: `${number(causes.ofSessions)} of ${number(course.entries)}`,
      sub:
        causes.defects > causes.ofSessions
          ? `entries; ${number(causes.defects - causes.ofSessions)} more by a commit`
          : "entries",
      href: causes.defects > 0 ? "#causes" : undefined,
    },
  ];
  return html`<section class="section" aria-label="Figures">${stats(tiles)}</section>`;
}

/** Headings without a date, which no figure counts, with the files they stand in. */
export function undatedNote(call: Member, repoKey: string | undefined): Content {
  const files = errorCalendar.undatedFiles(call.core, call.session.team.id, repoKey);
  const all = files.reduce((sum, { skipped }) => sum + skipped, 0);
  if (all === 0) return false;
  return html`<p class="says">${plural(all, "heading has", "headings have")} no date, so nothing counts ${all === 1 ? "it" : "them"}: ${files
    .slice(0, UNDATED_SHOWN)
    .map(
      ({ repoKey: repo, path }, i) =>
        html`${i > 0 && ", "}<a href="${link(call, "/brain/file", { repo, path })}">${pathText(short(path, 120))}</a> in ${short(repoName(repo), 80)}`,
    )}${files.length > UNDATED_SHOWN && ` and ${plural(files.length - UNDATED_SHOWN, "more file")}`}. An entry begins with <code>## YYYY-MM-DD</code>.</p>`;
}
