import { type Defect, defectsOfClass, onWire, type RecurringClass } from "../../../../insight/defects/defects.ts";
import { isoInstant } from "../../../../kit/clock.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { fail, notFound } from "../../../../kit/problem.ts";
import { type Table, table } from "../../ui/list.ts";
import { occurrences } from "../../ui/occurrences.ts";
import { facts, pageHead, section } from "../../ui/parts.ts";
import { dayText, number, plural } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import type { Member } from "../shared/call.ts";
import { link, pathText, repoName } from "../shared/links.ts";
import { short } from "../shared/text.ts";
import { causeCell, entryBadges, entryLink, ruleText, titleOf } from "./labels.ts";

/** Classes of entries: what came again although there was a rule against it. */

const SHOWN = 20;
const MAX_RULE = 280;
const MAX_HEAD = 140;

const today = ({ core }: Member) => isoInstant(core.clock.now()).slice(0, 10);
const classPath = (call: Member, fingerprint: string) => call.href(`/errors/classes/${fingerprint}`);

/** The classes that came more than once, most occurrences first. */
export function recurringSection(
  call: Member,
  classes: readonly RecurringClass[],
  repoKey: string | undefined,
): Content {
  const shown = classes.slice(0, SHOWN);
  const from = [today(call), ...shown.map(({ firstSeen }) => firstSeen)].sort()[0] as string;
  const to = today(call);
  return section({
    id: "recurring",
    title: "What comes again",
    intro:
      shown.length > 0
        ? `Entries with the same prevention rule, or without one the same title, are one class. The lines run from ${dayText(from)} to today.`
        : undefined,
    body: html`${table({
      caption: "Recurring classes",
      columns: [
        {
          label: "Prevention rule",
          heading: true,
          grow: true,
          cell: ({ fingerprint, rule, titles }) =>
            html`<a href="${classPath(call, fingerprint)}">${ruleText(rule ?? titles[0] ?? fingerprint, MAX_RULE)}</a>${rule === null && html`<br><small class="muted">no rule written; the title came again</small>`}`,
        },
        { label: "Times", numeric: true, cell: ({ occurrences }) => occurrences },
        {
          label: "When",
          grow: true,
          cell: ({ fingerprint, occurrences: times }) =>
            occurrences({ days: daysOf(call, fingerprint, repoKey), from, to, summary: plural(times, "time") }),
        },
        {
          label: "Last seen",
          cell: ({ firstSeen, lastSeen }) =>
            html`<span class="nowrap">${dayText(lastSeen)}</span><br><small class="muted nowrap">since ${dayText(firstSeen)}</small>`,
        },
      ],
      rows: shown,
      empty: html`<p class="says">Nothing came twice. Two entries are of one class when their prevention rule is the same.</p>`,
    })}${classes.length > shown.length && html`<p class="says">${number(classes.length - shown.length)} more classes came again${classes.length === 100 ? ", or even more" : ""}.</p>`}`,
  });
}

/** Days on which the entries of errors files are dated; other kinds of files make no class recur. */
function daysOf({ core, session }: Member, fingerprint: string, repoKey: string | undefined): string[] {
  const all = defectsOfClass(core, session.team.id, fingerprint, repoKey);
  return all.filter(({ kind }) => kind === "error").map(({ date }) => date);
}

/** One class with all its entries. */
export function classPage(call: Member): Html {
  const { core, session, params, href } = call;
  const fingerprint = params.fingerprint ?? "";
  const all = defectsOfClass(core, session.team.id, fingerprint);
  const [newest] = all;
  const oldest = all.at(-1);
  if (!newest || !oldest) fail(notFound, "This team's brain holds no entry of such a class.");
  const repos = new Set(all.map(({ repoKey }) => repoKey));
  const main = html`${pageHead({
    title: newest.rule === null ? titleOf(newest) : ruleText(newest.rule, MAX_HEAD),
    intro:
      all.length === 1
        ? "This happened once so far."
        : `${plural(all.length, "entry has", "entries have")} this ${newest.rule === null ? "title" : "prevention rule"}${repos.size > 1 ? `, in ${number(repos.size)} repositories` : ""}.`,
    crumbs: [{ label: "Errors", href: href("/errors") }, { label: `Class ${fingerprint}` }],
  })}
${newest.rule !== null && newest.rule.length > MAX_HEAD && section({ title: "Prevention rule", body: html`<p class="rule">${ruleText(newest.rule, 4_000)}</p>` })}
${section({
  title: "When",
  framed: true,
  body: html`${occurrences({
    days: all.map(({ date }) => date),
    ...{ from: oldest.date, to: today(call), tall: true },
    summary: plural(all.length, "time"),
  })}${facts([
    { label: "First seen", value: dayText(oldest.date) },
    { label: "Last seen", value: dayText(newest.date) },
    {
      label: "Fingerprint",
      value: html`<code>${fingerprint}</code> <span class="muted">how agents name the class in pulses and briefings</span>`,
    },
  ])}`,
})}
${section({ title: "Its entries", body: table(entryTable(call, all, "Entries of the class")) })}`;
  return frame(call, { title: `Class ${fingerprint}`, main });
}

/** Other entries of an entry's class. */
export function siblingsSection(call: Member, defect: Defect): Content {
  const fingerprint = onWire(defect.fingerprint);
  const others = defectsOfClass(call.core, call.session.team.id, fingerprint).filter(({ id }) => id !== defect.id);
  if (others.length === 0) return false;
  return section({
    title: "It happened before or again",
    intro: `Entries with the same ${defect.rule === null ? "title" : "prevention rule"}.`,
    actions: html`<a class="button small" href="${classPath(call, fingerprint)}">The whole class</a>`,
    body: table(entryTable(call, others.slice(0, SHOWN), "Entries of the same class")),
  });
}

/** Entries with what they are put down to. */
export function entryTable(call: Member, rows: readonly Defect[], caption: string, empty?: Content): Table<Defect> {
  return {
    caption,
    columns: [
      {
        label: "Entry",
        heading: true,
        grow: true,
        cell: (entry) =>
          html`${entryLink(call, entry)}<br><small class="muted">${short(repoName(entry.repoKey), 60)} · <a href="${fileLink(call, entry)}">${pathText(short(entry.path, 120))}</a></small>`,
      },
      { label: "Kind", cell: entryBadges },
      { label: "Date", cell: (entry) => html`<span class="nowrap">${dayText(entry.date)}</span>` },
      { label: "Caused by", cell: (entry) => causeCell(call, entry) },
    ],
    rows,
    empty,
  };
}

/** The place of an entry in the current brain. */
export const fileLink = (call: Member, { repoKey, path, line }: Pick<Defect, "repoKey" | "path" | "line">): string =>
  `${link(call, "/brain/file", { repo: repoKey, path, line })}#L${line}`;
