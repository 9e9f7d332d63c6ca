import { hasHumanVerdict, type Link, linksOfEntry } from "../../../../insight/causes/causes.ts";
import type { Defect } from "../../../../insight/defects/defects.ts";
import type { pageOfErrors, Standing, State } from "../../../../insight/triage/triage.ts";
import { dayNumber } from "../../../../kit/clock.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { plainText } from "../../../../kit/markdown-blocks.ts";
import { oneLine } from "../../../../kit/strings.ts";
import { anchor, badge, type Kind, none } from "../../ui/parts.ts";
import { agoText, dayText, utcText } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";
import { shaText, short } from "../shared/text.ts";

/** How entries and what they are put down to are named and addressed, on every page that shows them. */

type Row = Awaited<ReturnType<typeof pageOfErrors>>["rows"][number];

const MAX_TITLE = 160;
const MAX_SESSION = 72;

/** What an entry is called. */
export const titleOf = ({ title, heading }: Pick<Defect, "title" | "heading">): string =>
  short(title || heading, MAX_TITLE);

/** A prevention rule as people read it, without the marks of markdown. */
export const ruleText = (rule: string, most: number): string => short(plainText(rule), most);

export const entryLink = ({ href }: Member, defect: Pick<Defect, "id" | "title" | "heading">): Html =>
  anchor(href(`/errors/${defect.id}`), titleOf(defect));

/** Where an error is: the only entry of a class is its page. */
export const errorHref = (
  { href }: Pick<Member, "href">,
  { fingerprint, occurrences, newestId }: Pick<Row, "fingerprint" | "occurrences" | "newestId">,
): string => href(occurrences === 1 ? `/errors/${newestId}` : `/errors/classes/${fingerprint}`);

/** How sure a link is: in words, and in how loudly they are said. */
export function bandBadge(link: Link): Html {
  if (link.verdict === "rejected") return badge("neutral", "Not caused by");
  if (hasHumanVerdict(link)) return badge("good", link.label);
  return badge(link.band === "weak" ? "neutral" : "info", link.label);
}

/** Who did it: the session by its agent, or a commit that no session made. */
export function causeName(call: Member, link: Link): Html {
  const { sessionNumber, sessionId, agent, model, commit } = link;
  const made = commit !== null && html`commit <code>${shaText(commit)}</code>`;
  if (sessionNumber === null) return html`${made || "something that is gone"}`;
  const name = [agent, model].filter((one) => one !== null && one !== "").map((one) => short(one as string, 60));
  const said = name.length > 0 ? name.join(", ") : "an agent that is not named";
  return html`<a href="${call.href(`/sessions/${sessionNumber}`)}">session ${short(sessionId ?? String(sessionNumber), 60)}</a> <span class="muted">(${said})</span>${made && html`, ${made}`}`;
}

/** What an entry is put down to, most certain first; nothing that somebody rejected. */
function causesOf({ core, session }: Member, defect: Defect): Link[] {
  return linksOfEntry(core, session.team.id, defect).filter(({ verdict }) => verdict !== "rejected");
}

/** The session of a cause by what its agent was asked, or the commit. */
export function causeLink(call: Member, { sessionNumber, sessionId, promptExcerpt, commit }: Link): Html {
  if (sessionNumber === null) return html`commit <code>${shaText(commit ?? "")}</code>`;
  const title = promptExcerpt === null ? `session ${short(sessionId ?? "", 40)}` : oneLine(promptExcerpt, MAX_SESSION);
  return anchor(call.href(`/sessions/${sessionNumber}`), title);
}

/** What an entry is put down to, in the cell of a table: the first cause, and how many more there are. */
export function causeCell(call: Member, defect: Defect): Content {
  const [first, ...more] = causesOf(call, defect);
  if (!first) return none;
  return html`${bandBadge(first)} ${causeLink(call, first)}${more.length > 0 && html` <span class="muted">and ${more.length} more</span>`}`;
}

/** How each state is called, and how loudly. */
const STATE_LOOKS: Readonly<Record<State, readonly [Kind, string]>> = {
  again: ["bad", "Came again"],
  open: ["warn", "Open"],
  snoozed: ["neutral", "Snoozed"],
  resolved: ["good", "Resolved"],
};

export const stateBadge = (state: State): Html => badge(...STATE_LOOKS[state]);

/** How a person is called. */
export const nameOf = ({ name, email }: NonNullable<Standing["owner"]>): string => name ?? email;

/** A day relative to today: `today`, `yesterday`, `3 days ago`. */
export function sinceDay(day: string, now: number): Html {
  const at = Date.parse(day);
  const days = dayNumber(now) - dayNumber(at);
  // Where it is tomorrow already, entries say so.
  const words = days <= 0 ? "today" : days === 1 ? "yesterday" : agoText(at, now);
  return html`<time datetime="${day}" title="${dayText(day)}">${words}</time>`;
}

/** Until when something is snoozed. */
export const snoozeText = ({ snoozedUntil }: Pick<Standing, "snoozedUntil">): string =>
  snoozedUntil === null ? "until it comes again" : `until ${utcText(snoozedUntil)}`;
