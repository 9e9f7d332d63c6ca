import { createLink, type Doubt, decideLink, getLink } from "../../../../insight/causes/causes.ts";
import { type Defect, entryText, findDefect, onWire, wholeClass } from "../../../../insight/defects/defects.ts";
import { standingOfClass, standingOfEntry } from "../../../../insight/triage/triage.ts";
import { type Content, type Html, html, trustedHtml } from "../../../../kit/html.ts";
import { renderMarkdown } from "../../../../kit/markdown-html.ts";
import { fail, invalid, notFound } from "../../../../kit/problem.ts";
import { download, type PageReply, redirect } from "../../../../platform/http/page.ts";
import { currentBrains } from "../../../../record/brain/brain.ts";
import { getSession } from "../../../../record/traces/traces.ts";
import { prove } from "../../../../share/proofs/proofs.ts";
import { buttonLink } from "../../ui/button.ts";
import type { FormError } from "../../ui/form-spec.ts";
import { anchor, facts, pageHead, prose, section } from "../../ui/parts.ts";
import { dayText, plural } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { by, type Member } from "../shared/call.ts";
import { exported } from "../shared/exported.ts";
import { handleForm } from "../shared/forms.ts";
import { kindBadge, link, pathText, repoName, sessionsOf } from "../shared/links.ts";
import { choice, idIn, readParams } from "../shared/params.ts";
import { shaText, short } from "../shared/text.ts";
import { CAUSE, causesSection } from "./causes.ts";
import { cameAgainNote, fileLink, siblingsSection } from "./classes.ts";
import { ruleText, stateBadge, titleOf } from "./labels.ts";
import { type Triaged, triagePanel } from "./triage.ts";

/** One entry: what it says, what it is put down to. */

const MAX_NAMED = 20;

/** @throws Problem (404) for an entry that the team's current brains do not have */
export function defectOf({ core, session, params }: Member): Defect {
  const id = idIn(params.id);
  const found = id === undefined ? undefined : findDefect(core, session.team.id, id);
  if (!found) fail(notFound, "This team's brain holds no such entry. It may have been removed or renamed.");
  return found;
}

/** How many entries the class of one has. */
const timesOf = ({ core, session }: Member, { fingerprint }: Defect): number =>
  wholeClass.sums(core, session.team.id, onWire(fingerprint)).occurrences;

/** The panel's subject: an entry, or its class where it is the only entry. */
export function triagedEntry(call: Member, defect: Defect, times = timesOf(call, defect)): Triaged {
  const teamId = call.session.team.id;
  const fingerprint = onWire(defect.fingerprint);
  const standing = standingOfEntry(call.core, teamId, fingerprint, defect);
  const isAlone = times === 1;
  const subject = { teamId, fingerprint, ...(!isAlone && { entryId: defect.id }) };
  const classOwner = isAlone ? null : standingOfClass(call.core, teamId, fingerprint)?.owner;
  return { subject, path: `/errors/${defect.id}`, standing, fileSays: "the errors file says so", classOwner };
}

/** Links to the entries of the class before and after an entry. */
function ways(call: Member, defect: Defect): Content {
  const { older, newer } = wholeClass.beside(call.core, call.session.team.id, defect);
  return html`${older && buttonLink("← Previous", call.href(`/errors/${older}`), { small: true })}${newer && buttonLink("Next →", call.href(`/errors/${newer}`), { small: true })}`;
}

export async function entryPage(call: Member, defect: Defect, error?: FormError): Promise<Html> {
  const times = timesOf(call, defect);
  const triaged = triagedEntry(call, defect, times);
  const text = entryText(call.core, call.session.team.id, defect)?.trim();
  const main = html`${pageHead({
    title: titleOf(defect),
    intro: html`${stateBadge(triaged.standing.state)} ${defect.kind !== "error" && kindBadge(defect.kind)} ${dayText(defect.date)} in ${short(repoName(defect.repoKey), 120)}`,
    actions: html`${buttonLink("Download proof", call.href(`/errors/${defect.id}/proof`), { small: true })}${ways(call, defect)}`,
    crumbs: [{ label: "Errors", href: call.href("/errors") }, { label: short(titleOf(defect), 60) }],
  })}
<div class="issue"><div class="issue-main">${triaged.subject.entryId === undefined && cameAgainNote(call, triaged.subject.fingerprint)}
${section({
  title: "What happened",
  // Rendered without HTML of its own, as the brain's files are.
  body: text
    ? html`<article class="card" aria-label="The entry's text">${prose(trustedHtml(renderMarkdown(text)))}</article>`
    : html`<p class="says">Nothing stands below its heading.</p>`,
})}
${causesSection(call, defect, error)}
${section({ title: "Facts", framed: true, body: factList(call, defect, times) })}
${siblingsSection(call, defect, times)}</div>${await triagePanel(call, triaged, error)}</div>`;
  return frame(call, { title: short(titleOf(defect), 80), main, wide: true });
}

function factList(call: Member, defect: Defect, times: number): Html {
  const { repoKey, path, line, rule, commits, files } = defect;
  const fingerprint = onWire(defect.fingerprint);
  return facts([
    {
      label: "Repository",
      value: anchor(link(call, "/errors", { repo: repoKey }), repoName(repoKey)),
    },
    { label: "File", value: html`<a href="${fileLink(call, defect)}">${pathText(path)}</a>, line ${line}` },
    {
      label: "Prevention rule",
      value: rule === null ? html`<span class="none">none written</span>` : ruleText(rule, 4_000),
    },
    {
      label: "Class",
      value: html`<a href="${call.href(`/errors/classes/${fingerprint}`)}"><code>${fingerprint}</code></a> <span class="muted">${times === 1 ? "this entry alone" : plural(times, "entry", "entries")}</span>`,
    },
    {
      label: "Names commits",
      value:
        commits.length > 0 &&
        commits
          .slice(0, MAX_NAMED)
          .map((sha) => html`<a href="${sessionsOf(call, repoKey, sha)}"><code>${shaText(sha)}</code></a> `),
    },
    {
      label: "Names files",
      value:
        files.length > 0 &&
        files.slice(0, MAX_NAMED).map((file, i) => html`${i > 0 && html`<br>`}<code>${short(file, 240)}</code>`),
    },
  ]);
}

const DOUBTS: Readonly<Record<Doubt, string>> = {
  unknownSession: "No session of the team has this id. Copy it from the session's page, or name a commit instead.",
  noCommit: "A commit has 7 to 64 hexadecimal digits.",
  ambiguousCommit: "Several commits of the team begin so: give more digits.",
  notMadeBySession: "Another session made this commit: name one of the two.",
};

/** Hands out what proves that the brain which an entry stands in is in the log. */
export function entryProof(call: Member): Promise<PageReply> {
  const { core, session } = call;
  const { id, repoKey } = defectOf(call);
  const brain = currentBrains(core, session.team.id).find((current) => current.repoKey === repoKey);
  if (!brain) fail(notFound, "The brain of this entry is gone.");
  const proof = prove(core, session.team.id, "snapshot", brain.snapshotId);
  const target = { kind: "snapshot", id: `${brain.snapshotId}`, label: `snapshot ${brain.snapshotId}` };
  return exported(
    call,
    { action: "proof.made", teamId: session.team.id, target, extent: {} },
    download(`error-${id}.tlog-proof`, "text/plain; charset=utf-8", proof),
  );
}

/** Keeps somebody's own word of what caused an entry. */
export function sayCause(call: Member): Promise<Html | PageReply> {
  const defect = defectOf(call);
  return handleForm(
    call,
    CAUSE,
    async ({ session, commit }) => {
      if (session === undefined && commit === undefined) fail(invalid, "Name a session or a commit.");
      const cause = { sessionId: session && (await sessionNamed(call, session)), commit };
      const made = await createLink(call.core, call.session.team.id, defect, cause, by(call));
      if (typeof made === "string") fail(invalid, DOUBTS[made]);
      return redirect(`/errors/${defect.id}#causes`, "Your word is kept.");
    },
    (error) => {
      if (error.problem.row !== invalid) throw error.problem;
      return entryPage(call, defect, error);
    },
  );
}

/** A session's own id, also of the address of its page. */
async function sessionNamed({ core, session }: Member, typed: string): Promise<string> {
  const number = /\/sessions\/([1-9]\d{0,14})(?:[/?#]|$)/.exec(typed)?.[1];
  const found = number === undefined ? undefined : await getSession(core, session.team.id, Number(number));
  return found?.externalId ?? typed;
}

const VERDICTS = {
  confirmed: "Confirmed: it counts.",
  rejected: "Ruled out: it counts nowhere.",
  none: "Taken back.",
} as const;

/** Keeps what somebody says of a link, or takes it back. */
export async function judgeCause(call: Member): Promise<PageReply> {
  const defect = defectOf(call);
  const { core, session } = call;
  const { verdict } = readParams({ verdict: choice(["confirmed", "rejected", "none"]) }, call.form);
  if (verdict === undefined) fail(invalid, "Say whether it was the cause or not.");
  const { repoKey, path, heading, ordinal } = defect;
  const stored = getLink(core, session.team.id, call.params.link ?? "");
  const isItsOwn =
    stored?.repoKey === repoKey && stored.path === path && stored.heading === heading && stored.ordinal === ordinal;
  if (!isItsOwn) fail(notFound, "This entry has no such cause any more: what is known of sessions may have changed.");
  await decideLink(core, session.team.id, stored.id, verdict === "none" ? null : verdict, by(call));
  return redirect(`/errors/${defect.id}#causes`, VERDICTS[verdict]);
}
