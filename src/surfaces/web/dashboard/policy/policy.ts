import { actorOf } from "../../../../identity/accounts/accounts.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { fail, notFound, Problem } from "../../../../kit/problem.ts";
import { type PageCall, page, redirect } from "../../../../platform/http/page.ts";
import { currentVersion, newerPolicy, type Policy, restorePolicy, setPolicy } from "../../../../share/policy/policy.ts";
import { buttonLink } from "../../ui/button.ts";
import { codeBlock, columns, pageHead, section } from "../../ui/parts.ts";
import { frame } from "../frame.ts";
import { isAdmin } from "../shared/call.ts";
import { type DraftErrors, draftOf, judgeDraft, type PolicyDraft, policyForm, readDraft } from "./form.ts";
import { policyHistory } from "./history.ts";
import { byWhom, type Member, policyFacts, signed } from "./view.ts";

/** What the team's agents may record: the policy in force, changing it, its history. */

const MAX_FORM_BYTES = 2 * 1024 * 1024;

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
${policyHistory(call, current, now)}`;
  return frame(call, { title: "Policy", main });
}

/** Somebody was faster: both policies, and the choice between them. */
function conflictPage(call: PageCall<"admin">, wanted: Policy): Html {
  const { core, session, csrf, href } = call;
  const current = currentVersion(core, session.team.id);
  const title = "The policy changed meanwhile";
  const main = html`${pageHead({
    title,
    says: html`While you were editing, another policy was put in force by ${byWhom(current)}, so yours was not saved. Compare the two, then decide.`,
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
    if (!(error instanceof Problem && error.row === newerPolicy)) throw error;
    return { status: error.status, body: conflictPage(call, judged.policy) };
  }
}

async function restore(call: PageCall<"admin">) {
  const { core, session, form } = call;
  const id = versionIn(form.get("id"));
  if (Number.isNaN(id)) fail(notFound, "This team has no such version of its policy.");
  const by = actorOf(session, call.ip());
  const changed = await restorePolicy(core, session.team.id, id, by, versionIn(form.get("based_on")));
  return redirect("/policy", changed ? "The earlier policy is in force again." : "It is in force already.");
}

export const policyPages = [
  page({ id: "policy", method: "GET", path: "/policy", access: "member" }, (call) => policyPage(call)),
  page({ id: "changePolicy", method: "POST", path: "/policy", access: "admin", maxFormBytes: MAX_FORM_BYTES }, change),
  page({ id: "restorePolicy", method: "POST", path: "/policy/restore", access: "admin" }, restore),
];
