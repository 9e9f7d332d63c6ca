import {
  type Authorization,
  decideAuthorization,
  getAuthorization,
  guardUserCode,
} from "../../../../identity/device-flow/device-flow.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { Problem } from "../../../../kit/problem.ts";
import { type PageReply, page, redirect } from "../../../../platform/http/page.ts";
import { buttonLink } from "../../ui/button.ts";
import { actButton, confirmButton } from "../../ui/confirm.ts";
import { formSpec } from "../../ui/form-spec.ts";
import { facts, pageHead, stats } from "../../ui/parts.ts";
import { ago, countdown } from "../../ui/units.ts";
import { plainFrame } from "../frame.ts";
import { by, type Person } from "../shared/call.ts";
import { handleForm } from "../shared/forms.ts";

/**
 * Where a person answers a command-line tool that wants to sign in as them (RFC 8628 sections 3.3 and 5.4). Nothing is ever
 * approved by opening an address: the answer is a form of this page.
 */

const TOOLS = { npm: "installed from npm", desktop: "a desktop app" } as const;

const CODE = formSpec({
  userCode: {
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
  },
});

/**
 * Looks a typed code up; every unknown one counts against the person and their address.
 * @throws Problem 404 unknown, 409 answered before, 410 expired, 429 too many unknown ones
 */
function lookUp({ core, session, ip }: Person, typed: string): Authorization {
  const countWrong = guardUserCode(core, session.userId, ip());
  try {
    return getAuthorization(core, typed);
  } catch (error) {
    // A code that was answered or has expired was a right one: entering it again, as by a double click, is no guess.
    if (error instanceof Problem && error.status === 404) countWrong();
    throw error;
  }
}

/** The form for a code, with what was wrong with the last one. */
function codePage(call: Person, wrong?: string): Html {
  const { core, session } = call;
  const title = "Sign in a command-line tool";
  const off = core.config.signing === "off";
  const main = html`${pageHead({ title, intro: html`Enter the code that the tool shows in your terminal. You are signed in as <strong>${session.email}</strong>.` })}
${
  off &&
  html`<div class="flash warn">Signing is switched off on this installation (<code>RECKON_SIGNING=off</code>), so no tool can sign in.</div>`
}
${CODE.draw(call, { action: "/login/device", wrong, submit: "Continue" })}
<p class="says">A code works for 15 minutes. Enter only one that you made appear yourself, never one that somebody sent you.</p>`;
  return plainFrame(call, { title, main });
}

function questionPage(call: Person, authorization: Authorization): Html {
  const { core, session, href } = call;
  const now = core.clock.now();
  const here = call.ip();
  const elsewhere = authorization.ip !== here;
  const hidden = { user_code: authorization.userCode };
  const title = "Approve this sign-in?";
  const main = html`${pageHead({ title, intro: html`A command-line tool wants to act as <strong>${session.email}</strong>.` })}
${stats([{ label: "Your terminal must show exactly this code", value: html`<span class="mono">${authorization.userCode}</span>`, sub: countdown(authorization.expiresAt, now) }])}
${
  elsewhere &&
  html`<div class="flash warn"><strong>The tool runs at another address than you.</strong> It asks from ${authorization.ip}, you are at ${here}. That is right when you started it on another machine, such as a server. If you did not, somebody is trying to sign in as you: deny it.</div>`
}
${facts([
  {
    label: "Asks from",
    value: html`<span class="mono">${authorization.ip}</span>${!elsewhere && " (where you are too)"}`,
  },
  { label: "Your address", value: html`<span class="mono">${here}</span>` },
  { label: "Tool", value: authorization.channel === null ? "it did not say" : TOOLS[authorization.channel] },
  { label: "Calls itself", value: authorization.userAgent ?? "nothing" },
  { label: "Asked", value: ago(authorization.createdAt, now) },
])}
<p class="says">Did somebody send you this code or a link to this page? Then deny: approving it would sign <em>their</em> tool in as you.</p>
<div class="actions">${
    elsewhere
      ? confirmButton(call, {
          action: "/login/device/approve",
          hidden,
          label: "Approve",
          question: html`Approve the tool at ${authorization.ip}? Only do so if you started it there yourself and it shows ${authorization.userCode}.`,
          confirm: "Approve it",
          look: "primary",
        })
      : actButton(call, { action: "/login/device/approve", hidden, label: "Approve", look: "primary" })
  }${actButton(call, { action: "/login/device/deny", hidden, label: "Deny" })}</div>
<p class="says">The tool gets an access token in your name for 30 days. You can revoke it at any time under <a href="${href("/account")}">Your account</a>.</p>`;
  return plainFrame(call, { title, main });
}

/** Answers for a code, or says what is wrong with it beside the form for another one. */
const answerCode = (call: Person, work: (authorization: Authorization) => Html | PageReply | Promise<PageReply>) =>
  handleForm(
    call,
    CODE,
    ({ userCode }) => work(lookUp(call, userCode)),
    ({ problem }) => codePage(call, problem.message),
  );

const decide = (call: Person, decision: "approved" | "denied") =>
  answerCode(call, async ({ userCode }) => {
    const { core, session } = call;
    const user = { id: session.userId, email: session.email };
    await decideAuthorization(core, userCode, decision, user, by(call));
    return redirect(`/login/device/${decision}`);
  });

function donePage(call: Person, title: string, intro: string, more: Html): Html {
  return plainFrame(call, { title, main: html`${pageHead({ title, intro })}${more}` });
}

export const approvalPages = [
  page({ id: "approval", method: "GET", path: "/login/device", access: "person", own: true }, (call) => {
    if (!call.query.get("user_code")) return codePage(call);
    return answerCode({ ...call, form: call.query }, (authorization) => questionPage(call, authorization));
  }),
  page({ id: "approvalCode", method: "POST", path: "/login/device", access: "person", own: true }, (call) =>
    answerCode(call, ({ userCode }) => redirect(`/login/device?user_code=${userCode}`)),
  ),
  page({ id: "approve", method: "POST", path: "/login/device/approve", access: "person", own: true }, (call) =>
    decide(call, "approved"),
  ),
  page({ id: "deny", method: "POST", path: "/login/device/deny", access: "person", own: true }, (call) =>
    decide(call, "denied"),
  ),
  page({ id: "approved", method: "GET", path: "/login/device/approved", access: "person", own: true }, (call) =>
    donePage(
      call,
      "Approved",
      "Go back to your terminal: the tool is signed in within a few seconds. You can close this window.",
      html`<p>${buttonLink("Your tools", call.href("/account"))}</p>`,
    ),
  ),
  page({ id: "denied", method: "GET", path: "/login/device/denied", access: "person", own: true }, (call) =>
    donePage(
      call,
      "Denied",
      "The tool was told no and got nothing. If you did not start it, somebody tried to sign in as you; your password is not affected.",
      html`<p>${buttonLink("To the overview", call.href("/overview"))}</p>`,
    ),
  ),
];
