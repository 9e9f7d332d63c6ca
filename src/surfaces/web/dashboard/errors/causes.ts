import * as v from "valibot";
import { hasHumanVerdict, type Link, linksOfEntry } from "../../../../insight/causes/causes.ts";
import type { Defect } from "../../../../insight/defects/defects.ts";
import { DAY_MS, isoDate } from "../../../../kit/clock.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { actButton } from "../../ui/confirm.ts";
import { type FormError, formSpec, trimmed } from "../../ui/form-spec.ts";
import { section } from "../../ui/parts.ts";
import { plural, time } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";
import { link, repoValue } from "../shared/links.ts";
import { short } from "../shared/text.ts";
import { bandBadge, causeName } from "./labels.ts";

/** What one entry is put down to, why, and what people say of it. */

const DAYS_BEFORE = 30;
const MAX_SESSION_CHARS = 512;
const MAX_COMMIT_CHARS = 64;

const bounded = (max: number) =>
  v.pipe(
    trimmed,
    v.transform((text) => text.slice(0, max) || undefined),
  );

export function causesSection(call: Member, defect: Defect, error?: FormError): Html {
  const links = linksOfEntry(call.core, call.session.team.id, defect);
  const standing = links.filter(({ verdict }) => verdict !== "rejected");
  const rejected = links.filter(({ verdict }) => verdict === "rejected");
  const [first] = standing;
  const onlyPossible = first?.band === "weak" && !hasHumanVerdict(first);
  return html`${section({
    id: "causes",
    title: "What caused it",
    intro:
      first === undefined
        ? undefined
        : onlyPossible
          ? "Nothing points to one session. These are possible, and nothing counts them."
          : "What the entry's text and the sessions of the 30 days before have in common.",
    body: html`${
      first === undefined
        ? html`<p class="says">No session is known that could have caused it: the entry names no commit and no file that one of them touched, and none ran on its day.</p>`
        : standing.map((one) => causeCard(call, defect, one))
    }${
      rejected.length > 0 &&
      html`<details class="numbers"><summary>${plural(rejected.length, "cause was ruled out", "causes were ruled out")}</summary>${rejected.map((one) => causeCard(call, defect, one))}</details>`
    }`,
  })}
${ownLink(call, defect, error)}`;
}

function causeCard(call: Member, defect: Defect, one: Link): Html {
  const look =
    one.verdict === "rejected" ? "rejected" : hasHumanVerdict(one) ? "word" : one.band === "weak" ? "weak" : "";
  return html`<article class="cause ${look}"><p class="cause-head">${bandBadge(one)} <span>${causeName(call, one)}</span></p>
${one.evidence.length > 0 && html`<ul class="evidence">${one.evidence.map((reason) => html`<li>${reasonText(reason, call.core.clock.now())}</li>`)}</ul>`}
${one.promptExcerpt !== null && html`<figure class="quote"><figcaption>What the agent was asked then, in its own record</figcaption><blockquote>${one.promptExcerpt}</blockquote></figure>`}
${standing(call, one)}
${acts(call, defect, one)}</article>`;
}

/** A reason in a sentence; its times say the reader's own when pointed at. */
function reasonText({ says, startedAt, endedAt }: Link["evidence"][number], now: number): Content {
  if (startedAt === undefined || endedAt === undefined) return short(says, 1_000);
  return html`The session ran from ${time(Date.parse(startedAt), now)} to ${time(Date.parse(endedAt), now)}.`;
}

/** What people said, and what that does to the figures. */
function standing({ core }: Member, { origin, verdict, decidedBy, decidedAt, counts, band, createdAt }: Link): Content {
  const now = core.clock.now();
  if (verdict !== null)
    return html`<p class="says">${verdict === "confirmed" ? "Confirmed" : "Ruled out"} by ${decidedBy ?? "somebody"}, ${time(decidedAt, now)}.</p>`;
  if (origin === "person") return html`<p class="says">Since ${time(createdAt, now)}.</p>`;
  return !counts && band !== "weak" && html`<p class="says">Not counted: somebody's word stands against it.</p>`;
}

function acts(call: Member, defect: Defect, one: Link): Html {
  const act = (verdict: string, label: string, intro: string) =>
    actButton(call, {
      action: `/errors/${defect.id}/links/${one.id}`,
      hidden: { verdict },
      label: html`${label}<span class="vh"> ${intro}</span>`,
      small: true,
    });
  const of = `session ${short(one.sessionId ?? one.commit ?? "", 60)}`;
  if (one.verdict !== null) return html`<div class="actions">${act("none", "Undo", `what was said of ${of}`)}</div>`;
  if (one.origin === "person") return html`<div class="actions">${act("rejected", "Remove", of)}</div>`;
  return html`<div class="actions">${act("confirmed", "Yes, it was", of)}${act("rejected", "No, it was not", of)}</div>`;
}

export const CAUSE = formSpec({
  session: {
    kind: "text",
    label: "Session",
    hint: "Its id as the agent gave it, or the address of its page here.",
    maxLength: MAX_SESSION_CHARS,
    mono: true,
    autocomplete: "off",
    schema: bounded(MAX_SESSION_CHARS),
  },
  commit: {
    kind: "text",
    label: "Commit",
    hint: "At least 7 digits. One that no session made is taken too: people commit as well.",
    maxLength: MAX_COMMIT_CHARS,
    mono: true,
    autocomplete: "off",
    schema: bounded(MAX_COMMIT_CHARS),
  },
});

/** For who knows it better. */
function ownLink(call: Member, defect: Defect, error: FormError | undefined): Html {
  const day = Date.parse(defect.date);
  const near = link(call, "/sessions", {
    repo: repoValue(defect.repoKey),
    from: isoDate(Math.max(0, day - DAYS_BEFORE * DAY_MS)),
    to: isoDate(Math.max(0, day + DAY_MS)),
  });
  return section({
    id: "say",
    title: "Say what caused it",
    framed: true,
    intro: html`Name a session, a commit or both. A person's word counts before all evidence. <a href="${near}">Sessions of the 30 days before</a>`,
    body: CAUSE.draw(call, { action: `/errors/${defect.id}/links`, error, submit: "Add the cause" }),
  });
}
