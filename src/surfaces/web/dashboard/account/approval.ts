import { actorOf } from "../../../../identity/accounts/accounts.ts";
import {
  type Authorization,
  decideAuthorization,
  getAuthorization,
  guardUserCode,
} from "../../../../identity/device-flow/device-flow.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { Problem } from "../../../../kit/problem.ts";
import { page, redirect, retryAfter } from "../../../../platform/http/page.ts";
import { button, buttonLink } from "../../ui/button.ts";
import { confirmButton, hiddenInputs } from "../../ui/confirm.ts";
import { field } from "../../ui/field.ts";
import { form } from "../../ui/form.ts";
import { facts, pageHead, stats } from "../../ui/parts.ts";
import { ago, countdown } from "../../ui/units.ts";
import { plainFrame } from "../frame.ts";
import type { Person } from "../shared/call.ts";

/**
 * Where a person answers a command-line tool that wants to sign in as them (RFC 8628 sections 3.3 and 5.4). Nothing is ever
 * approved by opening an address: the answer is a form of this page.
 */

const TOOLS = { npm: "installed from npm", desktop: "a desktop app" } as const;

/**
 * Looks a typed code up; every unknown one counts against the person and their address.
 * @throws Problem 404 unknown, 409 answered before, 410 expired, 429 too many unknown ones
 */
function lookUp({ core, session, ip }: Person, typed: string): Authorization {
  const countWrong = guardUserCode(core, session.userId, ip());
  try {
    return getAuthorization(core, typed);
  } catch (error) {
    // Whoever enters a code that was answered or has expired had a right one: a double click is no guess.
    if (error instanceof Problem && error.status === 404) countWrong();
    throw error;
  }
}

/** The form for a code, with what was wrong with the last one. */
function codePage(call: Person, wrong?: string): Html {
  const { core, session, csrf, href } = call;
  const title = "Sign in a command-line tool";
  const off = core.config.signing === "off";
  const main = html`${pageHead({ title, says: html`Enter the code that the tool shows in your terminal. You are signed in as <strong>${session.email}</strong>.` })}
${
  off &&
  html`<div class="flash warn">Signing is switched off on this installation (<code>RECKON_SIGNING=off</code>), so no tool can sign in.</div>`
}
${form({
  action: href("/login/device"),
  csrf,
  wrong,
  fields: field({
    kind: "text",
    name: "user_code",
    label: "Code",
    hint: "Eight letters. Capitals and the dash do not matter.",
    placeholder: "XXXX-XXXX",
    required: true,
    maxLength: 64,
    autocomplete: "off",
    autofocus: true,
    mono: true,
  }),
  submit: "Continue",
})}
<p class="says">A code works for 15 minutes. Enter only one that you made appear yourself, never one that somebody sent you.</p>`;
  return plainFrame(call, { title, main });
}

function questionPage(call: Person, asked: Authorization): Html {
  const { core, session, href } = call;
  const now = core.clock.now();
  const here = call.ip();
  const elsewhere = asked.ip !== here;
  const title = "Approve this sign-in?";
  const main = html`${pageHead({ title, says: html`A command-line tool wants to act as <strong>${session.email}</strong>.` })}
${stats([{ label: "Your terminal must show exactly this code", value: html`<span class="mono">${asked.userCode}</span>`, sub: countdown(asked.expiresAt, now) }])}
${
  elsewhere &&
  html`<div class="flash warn"><strong>The tool runs at another address than you.</strong> It asks from ${asked.ip}, you are at ${here}. That is right when you started it on another machine, such as a server. If you did not, somebody is trying to sign in as you: deny it.</div>`
}
${facts([
  { label: "Asks from", value: html`<span class="mono">${asked.ip}</span>${!elsewhere && " (where you are too)"}` },
  { label: "Your address", value: html`<span class="mono">${here}</span>` },
  { label: "Tool", value: asked.channel === null ? "it did not say" : TOOLS[asked.channel] },
  { label: "Calls itself", value: asked.userAgent ?? "nothing" },
  { label: "Asked", value: ago(asked.createdAt, now) },
])}
<p class="says">Did somebody send you this code or a link to this page? Then deny: approving it would sign <em>their</em> tool in as you.</p>
<div class="actions">${
    elsewhere
      ? confirmButton({
          action: href("/login/device/approve"),
          csrf: call.csrf,
          hidden: { user_code: asked.userCode },
          label: "Approve",
          question: html`Approve the tool at ${asked.ip}? Only do so if you started it there yourself and it shows ${asked.userCode}.`,
          confirm: "Approve it",
          look: "primary",
        })
      : answerForm(call, asked, "approve")
  }${answerForm(call, asked, "deny")}</div>
<p class="says">The tool gets an access token in your name for 30 days. You can revoke it at any time under <a href="${href("/account")}">Your account</a>.</p>`;
  return plainFrame(call, { title, main });
}

function answerForm({ csrf, href }: Person, { userCode }: Authorization, answer: "approve" | "deny"): Html {
  return html`<form method="post" action="${href(`/login/device/${answer}`)}">${hiddenInputs({ _csrf: csrf, user_code: userCode })}${
    answer === "approve" ? button("Approve", { look: "primary" }) : button("Deny", {})
  }</form>`;
}

/** Says what is wrong with a code, beside the form for another one. */
function explain(call: Person, error: unknown) {
  if (!(error instanceof Problem)) throw error;
  return { status: error.status, headers: retryAfter(error), body: codePage(call, error.message) };
}

async function decide(call: Person, decision: "approved" | "denied") {
  const { core, session, form } = call;
  try {
    const { userCode } = lookUp(call, form.get("user_code") ?? "");
    const user = { id: session.userId, email: session.email };
    await decideAuthorization(core, userCode, decision, user, actorOf(session, call.ip()));
  } catch (error) {
    return explain(call, error);
  }
  return redirect(`/login/device/${decision}`);
}

function donePage(call: Person, title: string, says: string, more: Html): Html {
  return plainFrame(call, { title, main: html`${pageHead({ title, says })}${more}` });
}

export const approvalPages = [
  page({ id: "approval", method: "GET", path: "/login/device", access: "person" }, (call) => {
    const typed = call.query.get("user_code");
    if (!typed) return codePage(call);
    try {
      return questionPage(call, lookUp(call, typed));
    } catch (error) {
      return explain(call, error);
    }
  }),
  page({ id: "approvalCode", method: "POST", path: "/login/device", access: "person" }, (call) => {
    try {
      const { userCode } = lookUp(call, call.form.get("user_code") ?? "");
      return redirect(`/login/device?user_code=${userCode}`);
    } catch (error) {
      return explain(call, error);
    }
  }),
  page({ id: "approve", method: "POST", path: "/login/device/approve", access: "person" }, (call) =>
    decide(call, "approved"),
  ),
  page({ id: "deny", method: "POST", path: "/login/device/deny", access: "person" }, (call) => decide(call, "denied")),
  page({ id: "approved", method: "GET", path: "/login/device/approved", access: "person" }, (call) =>
    donePage(
      call,
      "Approved",
      "Go back to your terminal: the tool is signed in within a few seconds. You can close this window.",
      html`<p>${buttonLink("Your tools", call.href("/account"))}</p>`,
    ),
  ),
  page({ id: "denied", method: "GET", path: "/login/device/denied", access: "person" }, (call) =>
    donePage(
      call,
      "Denied",
      "The tool was told no and got nothing. If you did not start it, somebody tried to sign in as you; your password is not affected.",
      html`<p>${buttonLink("To the overview", call.href("/overview"))}</p>`,
    ),
  ),
];
