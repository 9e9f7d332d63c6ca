import * as v from "valibot";
import { listMembers } from "../../../../identity/members/members.ts";
import {
  type Act,
  act,
  type Owner,
  ownersOf,
  type Standing,
  type Subject,
  type TimelineEntry,
  timelineOf,
} from "../../../../insight/triage/triage.ts";
import { isDate } from "../../../../kit/date.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { conflict, invalid } from "../../../../kit/problem.ts";
import { type PageReply, redirect } from "../../../../platform/http/page.ts";
import { actButton } from "../../ui/confirm.ts";
import { wrongFlash } from "../../ui/form.ts";
import { type FormError, formSpec, trimmed } from "../../ui/form-spec.ts";
import { type Kind, timeline } from "../../ui/parts.ts";
import { ago, dayText } from "../../ui/units.ts";
import { by, type Member } from "../shared/call.ts";
import { handleForm } from "../shared/forms.ts";
import { choice, readParams, rowNumber } from "../shared/params.ts";
import { moreMembers } from "../shared/people.ts";
import { short } from "../shared/text.ts";
import { nameOf, snoozeText, stateBadge } from "./labels.ts";

/** What people do of an error, or of one of its entries: its panel, and what its forms send. */

const MAX_COMMENT_CHARS = 4_000;
const MAX_URL_CHARS = 500;

/** The subject of a panel. */
export interface Triaged {
  readonly subject: Subject;
  /** Where its page is, within this site. */
  readonly path: `/errors/${string}`;
  readonly standing: Standing;
  /** What its file says, beside what people say. */
  readonly fileSays: string;
  /** Who has taken on the whole class, beside an entry of it. */
  readonly classOwner?: Owner | null | undefined;
}

const STATE = formSpec({ to: { kind: "hidden", schema: choice(["resolve", "reopen"]) } });
const OWNER = formSpec({ owner: { kind: "select", label: "Owner", options: [], schema: trimmed } });
const SNOOZE = formSpec({
  until: {
    kind: "date",
    label: "Until",
    hint: "Without a day until it comes again.",
    schema: v.pipe(
      trimmed,
      v.check((day) => day === "" || isDate(day), "This is not a day."),
    ),
  },
});
const COMMENT = formSpec({
  comment: { kind: "textarea", label: "Comment", rows: 3, maxLength: MAX_COMMENT_CHARS, required: true },
});
const TRACKER = formSpec({
  url: {
    kind: "text",
    label: "Address in your tracker",
    placeholder: "https://",
    maxLength: MAX_URL_CHARS,
    autocomplete: "off",
    schema: trimmed,
  },
});

/** What each form asks for, by the last part of its address. */
const ACTS = ["state", "owner", "snooze", "comments", "tracker"] as const;
export const TRIAGE_ACTS: readonly string[] = ACTS;

/** Takes what one of a panel's forms sent. @param again the page with what was wrong */
export async function takeAct(
  call: Member,
  name: string,
  { subject, path }: Pick<Triaged, "subject" | "path">,
  again: (error: FormError) => Promise<Html>,
): Promise<Html | PageReply> {
  const { seen } = readParams({ seen: rowNumber }, call.form);
  const known = call.form.get("seen") === "0" ? 0 : seen;
  const done = async (what: Act, words: string) => {
    const isChanged = await act(call.core, subject, what, by(call), known);
    return redirect(`${path}#triage`, isChanged ? words : "It is so already.");
  };
  const shown = (error: FormError) => {
    if (error.problem.row !== invalid && error.problem.row !== conflict) throw error.problem;
    return again(error);
  };
  switch (name) {
    case "state":
      return handleForm(
        call,
        STATE,
        ({ to }) =>
          to === "resolve" ? done({ kind: "resolve" }, "Resolved.") : done({ kind: "reopen" }, "Open again."),
        shown,
      );
    case "owner":
      return handleForm(
        call,
        OWNER,
        ({ owner }) => done({ kind: "assign", ownerId: owner || null }, owner ? "Assigned." : "Nobody's now."),
        shown,
      );
    case "snooze":
      return handleForm(
        call,
        SNOOZE,
        ({ until }) => done({ kind: "snooze", until: until === "" ? null : Date.parse(until) }, "Snoozed."),
        shown,
      );
    case "comments":
      return handleForm(call, COMMENT, ({ comment }) => done({ kind: "comment", text: comment }, "Commented."), shown);
    default:
      return handleForm(
        call,
        TRACKER,
        ({ url }) => done({ kind: "link", url: url || null }, url ? "Linked." : "The link is gone."),
        shown,
      );
  }
}

/** The panel beside a page: state, owner, tracker, and what was said and done. */
export async function triagePanel(call: Member, shown: Triaged, error: FormError | undefined): Promise<Html> {
  const { subject, standing } = shown;
  const events = timelineOf(call.core, subject.teamId, subject.fingerprint, subject.entryId);
  const wrong = error && error.form === STATE ? error.problem.message : undefined;
  return html`<aside class="triage" id="triage" aria-label="Triage">
${wrong && wrongFlash(wrong)}
<section><h2>State</h2><p class="triage-line">${stateBadge(standing.state)} <span class="muted">${stateWords(call, shown, events)}</span></p>
<div class="actions">${stateButtons(call, shown)}</div>${snoozeForm(call, shown, error)}</section>
<section><h2>Owner</h2>${await ownerPart(call, shown, error)}</section>
<section><h2>Tracker</h2>${trackerPart(call, shown, error)}</section>
<section><h2>Activity</h2><div class="lone">${COMMENT.draw(call, {
    action: `${shown.path}/comments`,
    error,
    submit: "Comment",
  })}</div>${
    events.length > 0 &&
    timeline(
      events.map((event) => eventOf(call, event)),
      call.core.clock.now(),
    )
  }</section></aside>`;
}

const seenOf = ({ standing }: Triaged) => ({ seen: String(standing.revision) });

function stateWords(call: Member, { standing, fileSays }: Triaged, events: readonly TimelineEntry[]): Content {
  const { state, isWord, since } = standing;
  if (state === "snoozed") return snoozeText(standing);
  if (!isWord) return fileSays;
  const kind = state === "resolved" ? "resolved" : state === "open" ? "reopened" : "came-again";
  const said = events.find((event) => event.kind === kind);
  const who = said && kind !== "came-again" && html`by ${whoOf(call, said)}, `;
  return html`${who}${ago(since, call.core.clock.now())}`;
}

/** What may be done at once. */
function stateButtons(call: Member, shown: Triaged): Html {
  const { standing, path } = shown;
  const action = `${path}/state`;
  const hidden = seenOf(shown);
  const resolve = actButton(call, {
    action,
    hidden: { ...hidden, to: "resolve" },
    label: "Resolve",
    look: "primary",
    small: true,
  });
  const reopen = actButton(call, {
    ...{ action, hidden: { ...hidden, to: "reopen" }, small: true },
    label: standing.state === "snoozed" ? "Wake up" : "Reopen",
  });
  const isOpen = standing.state === "open" || standing.state === "again";
  return html`${standing.state !== "resolved" && resolve}${!isOpen && reopen}`;
}

function snoozeForm(call: Member, shown: Triaged, error: FormError | undefined): Content {
  if (call.session.team.role === "viewer") return false;
  if (shown.standing.state === "resolved" || shown.standing.state === "snoozed") return false;
  return html`<details class="fold"${error?.form === SNOOZE && html` open`}><summary>Snooze</summary>${SNOOZE.draw(
    call,
    {
      ...{ action: `${shown.path}/snooze`, hidden: seenOf(shown), error, submit: "Snooze" },
    },
  )}</details>`;
}

async function ownerPart(call: Member, shown: Triaged, error: FormError | undefined): Promise<Html> {
  const { owner } = shown.standing;
  const { userId, team } = call.session;
  const ofClass = classOwnerLine(call, shown);
  if (team.role === "viewer") return html`<p>${owner ? nameOf(owner) : "nobody"}</p>${ofClass}`;
  const people = (await listMembers(call.core, team.id)).filter(({ disabledAt }) => disabledAt === null);
  const known = people.map((person) => ({ value: person.userId, label: nameOf({ ...person, id: person.userId }) }));
  // An owner who left the team stays to be seen.
  if (owner && !people.some((person) => person.userId === owner.id))
    known.push({ value: owner.id, label: nameOf(owner) });
  const options = [{ value: "", label: "nobody" }, ...known, ...moreMembers(call, "reckon error assign")];
  const take = actButton(call, {
    action: `${shown.path}/owner`,
    hidden: { ...seenOf(shown), owner: userId },
    label: "Assign to me",
    small: true,
  });
  return html`<div class="lone beside">${OWNER.draw(call, {
    action: `${shown.path}/owner`,
    hidden: seenOf(shown),
    values: { owner: owner?.id ?? "" },
    vary: { owner: { options } },
    error,
    submit: "Assign",
  })}</div>${ofClass}${owner?.id !== userId && html`<div class="actions">${take}</div>`}`;
}

/** Names the class's owner on an entry of it: an entry without an owner must not look as if nobody had taken it on. */
const classOwnerLine = (call: Member, { subject, classOwner }: Triaged): Content =>
  classOwner &&
  html`<p class="triage-line muted">${short(nameOf(classOwner), 60)} is on <a href="${call.href(`/errors/classes/${subject.fingerprint}`)}">the whole class</a></p>`;

function trackerPart(call: Member, shown: Triaged, error: FormError | undefined): Html {
  const { tracker } = shown.standing;
  if (call.session.team.role === "viewer")
    return html`${tracker === null ? html`<p class="none">none</p>` : trackerLink(tracker)}`;
  const form = TRACKER.draw(call, {
    ...{ action: `${shown.path}/tracker`, hidden: seenOf(shown), error, submit: tracker === null ? "Link" : "Change" },
    values: { url: tracker ?? "" },
  });
  return html`${tracker !== null && trackerLink(tracker)}<details class="fold"${error?.form === TRACKER && html` open`}><summary>${tracker === null ? "Link to an issue" : "Change the link"}</summary>${form}</details>`;
}

/** A link out, shown as what it leads to. */
function trackerLink(tracker: string): Html {
  const { host, pathname } = new URL(tracker);
  return html`<p class="triage-line"><a href="${tracker}" rel="noopener noreferrer nofollow">${short(host + pathname.replace(/\/$/, ""), 120)}</a></p>`;
}

/** Who did something: by name while the person exists. */
export function whoOf({ core }: Member, { actorId, actorLabel }: Pick<TimelineEntry, "actorId" | "actorLabel">): Html {
  const person = ownersOf(core, [actorId]).get(actorId ?? "");
  return html`<bdi title="${person?.email ?? actorLabel}">${short(person ? nameOf(person) : actorLabel, 60)}</bdi>`;
}

const DID: Readonly<Record<TimelineEntry["kind"], readonly [Kind, string]>> = {
  assigned: ["info", "assigned"],
  unassigned: ["neutral", "removed the owner"],
  resolved: ["good", "resolved"],
  reopened: ["warn", "reopened"],
  snoozed: ["neutral", "snoozed"],
  commented: ["info", "commented"],
  linked: ["info", "linked"],
  unlinked: ["neutral", "removed the link"],
  "came-again": ["bad", "Came again"],
};

function eventOf(call: Member, event: TimelineEntry) {
  const { kind, at, entryId } = event;
  const [look, did] = DID[kind];
  const of = entryId !== 0 && html` <a href="${call.href(`/errors/${entryId}`)}">one entry</a>`;
  return {
    ...{ at, kind: look },
    title: kind === "came-again" ? html`${did}` : html`${whoOf(call, event)} ${did}${of}`,
    body: bodyOf(call, event),
  };
}

function bodyOf(call: Member, { kind, body, person, otherId, actorId }: TimelineEntry): Content {
  switch (kind) {
    case "assigned":
      if (!person) return "to somebody who is gone";
      return html`to ${person.id === actorId ? "themselves" : short(nameOf(person), 60)}`;
    case "commented":
      return body === null ? html`<span class="none">erased</span>` : html`<p class="said">${body}</p>`;
    case "snoozed":
      return body === null ? "until it comes again" : html`until ${dayText(body.slice(0, 10))}`;
    case "linked":
      return body !== null && trackerLink(body);
    case "came-again":
      return html`<a href="${call.href(`/errors/${otherId}`)}">Entry of ${dayText(body ?? "")}</a>`;
    default:
      return false;
  }
}
