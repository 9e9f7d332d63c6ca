import { type Html, html } from "../../../../kit/html.ts";
import { fail, notFound } from "../../../../kit/problem.ts";
import { type PageCall, page, redirect } from "../../../../platform/http/page.ts";
import {
  currentVersion,
  newerPolicy,
  type Policy,
  restorePolicy,
  setPolicy,
} from "../../../../record/policy/policy.ts";
import { buttonLink } from "../../ui/button.ts";
import { actButton } from "../../ui/confirm.ts";
import { type FormError, FormProblem } from "../../ui/form-spec.ts";
import { codeBlock, columns, pageHead, section } from "../../ui/parts.ts";
import { frame } from "../frame.ts";
import { by, isAdmin } from "../shared/call.ts";
import { handleForm } from "../shared/forms.ts";
import { flag, readParams } from "../shared/params.ts";
import { POLICY, policyForm, policyOf, versionNumber } from "./form.ts";
import { policyHistory } from "./history.ts";
import { byWhom, type Member, policyFacts, signed } from "./view.ts";

/** What the team's agents may record: the policy in force, changing it, its history. */

const MAX_FORM_BYTES = 2 * 1024 * 1024;

function policyPage(call: Member, error?: FormError): Html {
  const { core, session } = call;
  const now = core.clock.now();
  const current = currentVersion(core, session.team.id);
  const main = html`${pageHead({ title: "Policy", intro: html`What capture agents of ${session.team.name} may record, and what they must.` })}
${section({ title: "In force", intro: signed(current, now), framed: true, body: policyFacts(current.policy, "in force") })}
${section({
  title: isAdmin(call) ? "Change it" : "Changing it",
  framed: isAdmin(call),
  body: isAdmin(call)
    ? policyForm(call, { policy: current.policy, basedOn: current.id, submit: "Put in force", error })
    : html`<p class="says">Owners and admins of the team can change the policy.</p>`,
})}
${section({
  title: "When a change arrives",
  intro:
    "This server keeps to it with the next delivery, also of a session that is running. Agents are told when they ask again, before every session at the latest. The answer carries an ETag, so asking again costs next to nothing while the policy stays as it is (304).",
  body: codeBlock(`curl -i ${call.baseUrl}/api/policy -H "Authorization: Bearer $RECKON_DEVICE_TOKEN"`, {
    label: "See what an agent is told",
    titled: true,
  }),
})}
${policyHistory(call, current, now)}`;
  return frame(call, { title: "Policy", main });
}

/** Somebody was faster: both policies, and the choice between them. */
function conflictPage(call: PageCall<"admin">, desired: Policy): Html {
  const { core, session, href } = call;
  const current = currentVersion(core, session.team.id);
  const title = "The policy changed meanwhile";
  const main = html`${pageHead({
    title,
    intro: html`While you were editing, another policy was put in force by ${byWhom(current)}, so yours was not saved. Compare the two, then decide.`,
    crumbs: [{ label: "Policy", href: href("/policy") }, { label: title }],
  })}
${columns(
  section({
    title: "In force now",
    intro: signed(current, core.clock.now()),
    framed: true,
    body: policyFacts(current.policy, "in force"),
  }),
  section({ title: "Yours", intro: "Not saved.", framed: true, body: policyFacts(desired, "yours") }),
)}
${section({
  title: "Put yours in force after all",
  intro: "Change it first, if the other one has something you want to keep.",
  framed: true,
  body: policyForm(call, {
    policy: desired,
    basedOn: current.id,
    submit: "Put mine in force",
    beside: buttonLink("Keep the one in force", href("/policy")),
  }),
})}`;
  return frame(call, { title, main });
}

/** Asks whether nothing is to be recorded any more, of the whole team; the form that was sent comes along. */
function stopPage(call: PageCall<"admin">): Html {
  const { session, form, href } = call;
  const title = "Record nothing any more?";
  const main = html`${pageHead({ title, intro: html`Agents of ${session.team.name} stop with their next sessions, and nothing that arrives is kept. What was recorded stays.` })}
<div class="actions">${actButton(call, {
    action: "/policy",
    hidden: { ...Object.fromEntries(form), stop: "true" },
    label: "Record nothing",
    look: "danger",
  })}${buttonLink("Keep the one in force", href("/policy"))}</div>`;
  return frame(call, { title, main });
}

function change(call: PageCall<"admin">) {
  const { core, session } = call;
  const teamId = session.team.id;
  const { policy: inForce } = currentVersion(core, teamId);
  return handleForm(
    call,
    POLICY,
    async (sent) => {
      const { captureMode, basedOn } = sent;
      const { stop } = readParams({ stop: flag }, call.form);
      if (captureMode === "off" && inForce.captureMode !== "off" && !stop) return stopPage(call);
      const changed = await setPolicy(core, teamId, policyOf(sent, inForce), by(call), { basedOn });
      return redirect("/policy", changed ? "The policy is in force." : "Nothing differed, so nothing was changed.");
    },
    (error) => {
      if (error.problem instanceof FormProblem) return policyPage(call, error);
      if (error.problem.row === newerPolicy) return conflictPage(call, policyOf(POLICY.read(call.form), inForce));
      throw error.problem;
    },
  );
}

async function restore(call: PageCall<"admin">) {
  const { core, session, form } = call;
  const { id, based_on } = readParams({ id: versionNumber, based_on: versionNumber }, form);
  if (Number.isNaN(id)) fail(notFound, "This team has no such version of its policy.");
  const changed = await restorePolicy(core, session.team.id, id, by(call), based_on);
  return redirect("/policy", changed ? "The earlier policy is in force again." : "It is in force already.");
}

export const policyPages = [
  page({ id: "policy", method: "GET", path: "/policy", access: "member", narrows: true }, (call) => policyPage(call)),
  page({ id: "changePolicy", method: "POST", path: "/policy", access: "admin", maxFormBytes: MAX_FORM_BYTES }, change),
  page({ id: "restorePolicy", method: "POST", path: "/policy/restore", access: "admin" }, restore),
];
