import { linksOfEntry } from "../../../../insight/causes/causes.ts";
import { type Defect, defectsOfClass, onWire, wholeClass } from "../../../../insight/defects/defects.ts";
import { standingOfClass, standingOfEntry, timelineOf } from "../../../../insight/triage/triage.ts";
import { isoDate } from "../../../../kit/clock.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { fail, notFound } from "../../../../kit/problem.ts";
import type { FormError } from "../../ui/form-spec.ts";
import { type Table, table } from "../../ui/list.ts";
import { occurrences } from "../../ui/occurrences.ts";
import { facts, pageHead, section } from "../../ui/parts.ts";
import { dayText, number, plural, time } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import type { Member } from "../shared/call.ts";
import { link, repoName } from "../shared/links.ts";
import { short } from "../shared/text.ts";
import { causeCell, causeLink, entryLink, ruleText, stateBadge, titleOf } from "./labels.ts";
import { type Triaged, triagePanel, whoOf } from "./triage.ts";

/** Classes of entries: what came again although there was a rule against it. */

const SHOWN = 50;
const SIBLINGS = 10;

const today = ({ core }: Member) => isoDate(core.clock.now());
const classPath = (fingerprint: string) => `/errors/classes/${fingerprint}` as const;

/** A class with its entries, the newest first. @throws Problem (404) */
function classOf(call: Member): {
  readonly triaged: Triaged;
  readonly shown: readonly Defect[];
  readonly newest: Defect;
  readonly sums: ReturnType<typeof wholeClass.sums>;
} {
  const teamId = call.session.team.id;
  const fingerprint = call.params.fingerprint ?? "";
  const shown = defectsOfClass(call.core, teamId, fingerprint, { most: SHOWN });
  const standing = standingOfClass(call.core, teamId, fingerprint);
  const [newest] = shown;
  if (!newest || !standing) fail(notFound, "This team's brain holds no entry of such a class.");
  const sums = wholeClass.sums(call.core, teamId, fingerprint);
  const { open } = sums;
  const fileSays =
    sums.occurrences > 1
      ? open > 0
        ? `${plural(open, "entry says", "entries say")} open`
        : "by its entries"
      : "its entry says so";
  return {
    triaged: { subject: { teamId, fingerprint }, path: classPath(fingerprint), standing, fileSays },
    shown,
    newest,
    sums,
  };
}

export const triagedClass = (call: Member): Triaged => classOf(call).triaged;

/** One class with all its entries. */
export async function classPage(call: Member, error?: FormError): Promise<Html> {
  const { triaged, shown, newest, sums } = classOf(call);
  const { teamId, fingerprint } = triaged.subject;
  const { occurrences: count, repos } = sums;
  const days = wholeClass.days(call.core, teamId, fingerprint);
  const first = days.toSorted()[0] ?? newest.date;
  const title = titleOf(newest);
  const main = html`${pageHead({
    title,
    intro: html`${stateBadge(triaged.standing.state)} ${plural(count, "entry", "entries")} with this ${newest.rule === null ? "title" : "prevention rule"}${repos.length > 1 ? `, in ${number(repos.length)} repositories` : ` in ${short(repoName(newest.repoKey), 120)}`}`,
    crumbs: [{ label: "Errors", href: call.href("/errors") }, { label: short(title, 60) }],
  })}
<div class="issue"><div class="issue-main">${cameAgainNote(call, fingerprint)}
${newest.rule !== null && section({ title: "Prevention rule", body: html`<p class="rule">${ruleText(newest.rule, 4_000)}</p>` })}
${section({
  title: "When",
  framed: true,
  body: html`${occurrences({
    days,
    ...{ from: first, to: today(call), tall: true },
    summary: plural(count, "time"),
  })}${facts([
    { label: "First seen", value: dayText(first) },
    { label: "Last seen", value: dayText(newest.date) },
    {
      label: "Fingerprint",
      value: html`<code>${fingerprint}</code> <span class="muted">in pulses, briefings and the API</span>`,
    },
  ])}`,
})}
${section({
  title: "Entries",
  body: html`${table(entryTable(call, shown, "Entries of the class"))}${count > SHOWN && html`<p class="says">${number(count - SHOWN)} older ones are not shown.</p>`}`,
})}</div>${await triagePanel(call, triaged, error)}</div>`;
  return frame(call, { title: short(title, 80), main, wide: true });
}

/** `Resolved by Ada on 18 Nov, came again on 21 Nov in “Write the login page”.` */
export function cameAgainNote(call: Member, fingerprint: string): Content {
  const events = timelineOf(call.core, call.session.team.id, fingerprint);
  const at = events.findIndex(({ kind }) => kind === "came-again");
  const came = events[at];
  // Whatever people said after that was said knowing that it came again.
  if (
    !came ||
    events.slice(0, at).some(({ kind, entryId }) => entryId === 0 && (kind === "resolved" || kind === "snoozed"))
  )
    return false;
  const before = events.slice(at).find(({ kind }) => kind === "resolved" || kind === "snoozed");
  const now = call.core.clock.now();
  const entryId = Number(came.otherId);
  const [cause] = linksOfEntry(call.core, call.session.team.id, { id: entryId }).filter(({ counts }) => counts);
  return html`<p class="came-again">${
    before &&
    html`${before.kind === "resolved" ? "Resolved" : "Snoozed"} by ${whoOf(call, before)}, ${time(before.at, now)}. `
  }<a href="${call.href(`/errors/${entryId}`)}">Came again on ${dayText(came.body ?? "")}</a>${cause && html` in “${causeLink(call, cause)}”`}.</p>`;
}

/** Other entries of an entry's class. @param times how many it has with this one */
export function siblingsSection(call: Member, defect: Defect, times: number): Content {
  if (times === 1) return false;
  const fingerprint = onWire(defect.fingerprint);
  const newest = defectsOfClass(call.core, call.session.team.id, fingerprint, { most: SIBLINGS + 1 });
  const others = newest.filter(({ id }) => id !== defect.id);
  return section({
    title: "It happened before or again",
    intro: `Entries with the same ${defect.rule === null ? "title" : "prevention rule"}.`,
    actions: html`<a class="button small" href="${call.href(classPath(fingerprint))}">All ${number(times)}</a>`,
    body: table(entryTable(call, others.slice(0, SIBLINGS), "Entries of the same class")),
  });
}

/** Entries with the sessions that they are put down to. */
function entryTable(call: Member, rows: readonly Defect[], caption: string): Table<Defect> {
  const { core, session } = call;
  return {
    caption,
    dense: true,
    columns: [
      {
        label: "Entry",
        heading: true,
        grow: true,
        cell: (entry) =>
          html`${entryLink(call, entry)} <small class="muted">${short(repoName(entry.repoKey), 60)}</small>`,
      },
      { label: "Date", cell: (entry) => dayText(entry.date) },
      {
        label: "State",
        cell: (entry) => stateBadge(standingOfEntry(core, session.team.id, onWire(entry.fingerprint), entry).state),
      },
      { label: "Caused by", grow: true, cell: (entry) => causeCell(call, entry) },
    ],
    rows,
  };
}

/** The place of an entry in the current brain. */
export const fileLink = (call: Member, { repoKey, path, line }: Pick<Defect, "repoKey" | "path" | "line">): string =>
  `${link(call, "/brain/file", { repo: repoKey, path, line })}#L${line}`;
