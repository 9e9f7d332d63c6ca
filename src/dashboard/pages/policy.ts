import { actorOf } from "../../accounts/accounts.ts";
import { type PageCall, page, redirect } from "../../http/page.ts";
import { Complaint } from "../../kit/complaint.ts";
import { type Content, type Html, html } from "../../kit/html.ts";
import {
  comparePolicies,
  currentVersion,
  listPolicies,
  NewerPolicy,
  type Policy,
  type PolicyEntry,
  type PolicyVersion,
  restorePolicy,
  setPolicy,
} from "../../policy/policy.ts";
import { frame } from "../frame.ts";
import { badge } from "../parts/badge.ts";
import { buttonLink } from "../parts/button.ts";
import { codeBlock } from "../parts/code.ts";
import { confirmButton } from "../parts/confirm.ts";
import { facts } from "../parts/facts.ts";
import { pageHead } from "../parts/page-head.ts";
import { pager } from "../parts/pager.ts";
import { columns, section } from "../parts/section.ts";
import { time } from "../parts/time.ts";
import { timeline } from "../parts/timeline.ts";
import { plural } from "../parts/units.ts";
import { type DraftErrors, draftOf, judgeDraft, type PolicyDraft, policyForm, readDraft } from "./policy-form.ts";
import { changeWords, MODES } from "./policy-words.ts";

/** What the team's agents may record: the policy in force, changing it, its history. */

type Member = PageCall<"member" | "admin">;

const MOST_FORM_BYTES = 2 * 1024 * 1024;
const HISTORY_ROWS = 10;

const isAdmin = ({ session }: Member) => session.team.role !== "member";

/** A policy in words. @param name tells its lists from those of another policy on the page */
function policyFacts({ captureMode, watchlist = [], actions }: Policy, name: string): Html {
  const { requireApprovals, ...other } = actions ?? { requireApprovals: false };
  return facts([
    { label: "Agents record", value: html`<strong>${MODES[captureMode].name}.</strong> ${MODES[captureMode].means}` },
    {
      label: "Approvals",
      value: requireApprovals ? "Required: agents ask a person before they act." : "Not required.",
    },
    {
      label: "Watchlist",
      value:
        watchlist.length === 0
          ? "Empty: no file is watched in particular."
          : html`<div class="stack"><p>${plural(watchlist.length, "glob")}; edits of such files always need a record.</p>
${codeBlock(watchlist.join("\n"), { label: `Watched files, ${name}`, tall: true })}</div>`,
    },
    {
      label: "Other actions",
      value:
        Object.keys(other).length > 0 &&
        codeBlock(JSON.stringify(other, null, 2), { label: `Other actions, ${name}`, tall: true }),
    },
  ]);
}

/** Who put a version in force, and when. */
const signed = ({ id, createdAt, createdBy }: PolicyVersion, now: number): Content =>
  id === 0
    ? "Reckon’s default; this team never set one."
    : html`Put in force by ${createdBy ?? "somebody"}, ${time(createdAt, now)}.`;

interface Tried {
  readonly draft: PolicyDraft;
  readonly errors: DraftErrors;
  readonly basedOn: string;
}

function policyPage(call: Member, tried?: Tried): Html {
  const { core, session, csrf, href } = call;
  const now = core.clock.now();
  const current = currentVersion(core, session.team.id);
  const draft = tried?.draft ?? draftOf(current.policy);
  const main = html`${pageHead({ title: "Policy", says: html`What capture agents of ${session.team.name} may record, and what they must.` })}
${section({ title: "In force", says: signed(current, now), framed: true, body: policyFacts(current.policy, "in force") })}
${section({
  title: isAdmin(call) ? "Change it" : "Changing it",
  framed: isAdmin(call),
  body: isAdmin(call)
    ? policyForm({
        action: href("/policy"),
        csrf,
        draft,
        errors: tried?.errors,
        basedOn: tried?.basedOn ?? String(current.id),
        submit: "Put in force",
      })
    : html`<p class="says">Owners and admins of the team can change the policy.</p>`,
})}
${section({
  title: "When a change arrives",
  says: "Agents ask for the policy before every session. A change counts from their next session on; one that is running goes on as it began. The answer carries an ETag, so asking again costs next to nothing while the policy stays as it is (304).",
  body: codeBlock(`curl -i ${call.baseUrl}/api/policy -H "Authorization: Bearer $RECKON_DEVICE_TOKEN"`, {
    label: "See what an agent is told",
    titled: true,
  }),
})}
${history(call, current, now)}`;
  return frame(call, { title: "Policy", main });
}

function history(call: Member, current: PolicyVersion, now: number): Html {
  const { core, session, href } = call;
  const before = call.query.get("history") ?? undefined;
  const page = listPolicies(core, session.team.id, before, HISTORY_ROWS);
  const at = (cursor: string | undefined) => cursor && `${href("/policy")}?history=${cursor}#history`;
  return section({
    id: "history",
    title: "History",
    says: "Every policy the team had, newest first. None is ever lost.",
    body: html`${
      page.rows.length === 0
        ? html`<p class="says">Nothing was changed yet. The first change will stand here, with who made it.</p>`
        : html`<div class="card">${timeline(
            page.rows.map((entry) => ({
              at: entry.createdAt,
              kind: entry.id === current.id ? "good" : "neutral",
              title: html`${entry.createdBy ?? "Somebody"}${entry.id === current.id && html` ${badge("good", "in force")}`}`,
              body: entryBody(call, entry, current),
            })),
            now,
          )}</div>`
    }${pager({ newer: at(page.newer), older: at(page.older) })}${
      page.older === undefined &&
      current.id !== 0 &&
      html`<div class="stack"><p class="says">Before the first change Reckon’s default was in force.</p>${isAdmin(call) && restoreButton(call, DEFAULT_ID, "Return to the default", "Put Reckon’s default in force again? Agents then record content without secrets, nothing is watched in particular and approvals are not required.", current)}</div>`
    }`,
  });
}

const DEFAULT_ID = 0;

function entryBody(call: Member, entry: PolicyEntry, current: PolicyVersion): Html {
  const words = changeWords(entry.change);
  const wouldChange = changeWords(comparePolicies(current.policy, entry.policy));
  return html`${words.length === 0 ? html`<p>The same as before it.</p>` : words.map((one) => html`<p>${one}</p>`)}
${
  isAdmin(call) &&
  wouldChange.length > 0 &&
  restoreButton(
    call,
    entry.id,
    "Restore",
    html`Put this policy in force again? ${wouldChange.map((one) => html`${one} `)}`,
    current,
  )
}`;
}

function restoreButton({ csrf, href }: Member, id: number, label: string, question: Content, current: PolicyVersion) {
  return confirmButton({
    action: href("/policy/restore"),
    csrf,
    hidden: { id: String(id), based_on: String(current.id) },
    label,
    question,
    confirm: "Restore it",
    look: "plain",
    small: true,
  });
}

/** Somebody was faster: both policies, and the choice between them. */
function conflictPage(call: PageCall<"admin">, wanted: Policy): Html {
  const { core, session, csrf, href } = call;
  const current = currentVersion(core, session.team.id);
  const title = "The policy changed meanwhile";
  const main = html`${pageHead({
    title,
    says: html`While you were editing, ${current.createdBy ?? "somebody"} put another policy in force, so yours was not saved. Compare the two, then decide.`,
    crumbs: [{ label: "Policy", href: href("/policy") }, { label: title }],
  })}
${columns(
  section({
    title: "In force now",
    says: signed(current, core.clock.now()),
    framed: true,
    body: policyFacts(current.policy, "in force"),
  }),
  section({ title: "Yours", says: "Not saved.", framed: true, body: policyFacts(wanted, "yours") }),
)}
${section({
  title: "Put yours in force after all",
  says: "Change it first, if the other one has something you want to keep.",
  framed: true,
  body: policyForm({
    action: href("/policy"),
    csrf,
    draft: draftOf(wanted),
    basedOn: String(current.id),
    submit: "Put mine in force",
    beside: buttonLink("Keep the one in force", href("/policy")),
  }),
})}`;
  return frame(call, { title, main });
}

/** A version's number as a form carries it; NaN, which is no version, for anything else. */
const versionIn = (text: string | null) => (/^\d{1,15}$/.test(text ?? "") ? Number(text) : Number.NaN);

async function change(call: PageCall<"admin">) {
  const { core, session, form } = call;
  const teamId = session.team.id;
  const draft = readDraft(form);
  const basedOn = form.get("based_on") ?? "";
  const judged = judgeDraft(draft, currentVersion(core, teamId).policy);
  if ("errors" in judged) return { status: 400, body: policyPage(call, { draft, errors: judged.errors, basedOn }) };
  try {
    const basis = { basedOn: versionIn(basedOn) };
    const changed = await setPolicy(core, teamId, judged.policy, actorOf(session, call.ip()), basis);
    return redirect("/policy", changed ? "The policy is in force." : "Nothing differed, so nothing was changed.");
  } catch (error) {
    if (!(error instanceof NewerPolicy)) throw error;
    return { status: error.status, body: conflictPage(call, judged.policy) };
  }
}

async function restore(call: PageCall<"admin">) {
  const { core, session, form } = call;
  const id = versionIn(form.get("id"));
  if (Number.isNaN(id)) throw new Complaint("This team has no such version of its policy.", 404);
  const by = actorOf(session, call.ip());
  const changed = await restorePolicy(core, session.team.id, id, by, versionIn(form.get("based_on")));
  return redirect("/policy", changed ? "The earlier policy is in force again." : "It is in force already.");
}

export const policyPages = [
  page({ id: "policy", method: "GET", path: "/policy", access: "member" }, (call) => policyPage(call)),
  page({ id: "changePolicy", method: "POST", path: "/policy", access: "admin", maxFormBytes: MOST_FORM_BYTES }, change),
  page({ id: "restorePolicy", method: "POST", path: "/policy/restore", access: "admin" }, restore),
];
