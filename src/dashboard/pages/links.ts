import {
  acceptAs,
  acceptAsNew,
  actorOf,
  getLink,
  hasUsers,
  resetPassword,
  setUp,
  switchTeam,
} from "../../accounts/accounts.ts";
import { type PageCall, page, redirect } from "../../http/page.ts";
import { Complaint } from "../../kit/complaint.ts";
import { type Content, html } from "../../kit/html.ts";
import { readUserAgent } from "../../redact/redact.ts";
import { plainFrame } from "../frame.ts";
import { button, buttonLink } from "../parts/button.ts";
import { hiddenInputs } from "../parts/confirm.ts";
import { field } from "../parts/field.ts";
import { form } from "../parts/form.ts";
import { pageHead } from "../parts/page-head.ts";
import { endWithPassword } from "./password-ends.ts";

/** Pages behind one-time links: the first set-up, an invitation, a password reset. */

type Anyone = PageCall<"anyone">;

const tokenOf = (call: Anyone) => call.form.get("token") ?? call.query.get("token") ?? "";
const originOf = (call: Anyone) => ({ ip: call.ip(), userAgent: readUserAgent(call.userAgent) });

function chosenBy(call: Anyone) {
  const password = call.form.get("password") ?? "";
  if (password !== call.form.get("again")) throw new Complaint("The two passwords are not the same.");
  return { email: call.form.get("email") ?? "", name: call.form.get("name"), password };
}

const passwordFields = () => [
  field({
    kind: "password",
    name: "password",
    label: "Password",
    hint: "At least 8 characters; several words are good.",
    required: true,
    minLength: 8,
    autocomplete: "new-password",
  }),
  field({ kind: "password", name: "again", label: "The password again", required: true, autocomplete: "new-password" }),
];

const personFields = (call: Anyone, email: string | null) => [
  field({
    kind: "email",
    name: "email",
    label: "E-mail address",
    value: email ?? call.form.get("email"),
    readOnly: email !== null,
    required: true,
    autocomplete: "username",
  }),
  field({
    kind: "text",
    name: "name",
    label: "Your name",
    value: call.form.get("name"),
    maxLength: 100,
    autocomplete: "name",
  }),
  ...passwordFields(),
];

/** Shows a form again with what was wrong with what was sent; what is wrong with the link itself is an error page. */
async function orAgain(
  call: Anyone,
  again: (wrong: string) => Content,
  work: () => Promise<{ session: string }>,
  done: string,
) {
  try {
    return { ...redirect("/overview", done), ...(await work()) };
  } catch (error) {
    if (!(error instanceof Complaint) || error.status === 404 || error.status === 410) throw error;
    return { status: error.status, body: plainFrame(call, { title: "Reckon", main: again(error.message) }) };
  }
}

function setUpForm(call: Anyone, wrong?: string) {
  return html`${pageHead({ title: "Set up Reckon", says: "You become the operator of this installation and the owner of its first team." })}
${form({
  action: call.href("/setup"),
  csrf: call.csrf,
  hidden: { token: tokenOf(call) },
  wrong,
  fields: [
    ...personFields(call, null),
    field({
      kind: "text",
      name: "team",
      label: "Name of your team",
      hint: "Agents' machines are bound to a team. More can be made later.",
      value: call.form.get("team"),
      required: true,
      maxLength: 200,
    }),
  ],
  submit: "Set up",
})}`;
}

function invitationForm(call: Anyone, wrong?: string) {
  const link = getLink(call.core, tokenOf(call), "invitation");
  const head = pageHead({
    title: `Join ${link.teamName}`,
    says: `${link.createdBy ?? "Somebody"} invites you as ${link.role === "member" ? "a member" : `an ${link.role}`}.`,
  });
  if (call.session)
    return html`${head}${wrong && html`<p role="alert">${wrong}</p>`}
<form method="post" action="${call.href("/invitation")}" class="form">${hiddenInputs({ _csrf: call.csrf, token: tokenOf(call) })}
<p>You are signed in as ${call.session.email}.</p><div class="actions">${button("Join the team", { look: "primary" })}</div></form>`;
  const next = encodeURIComponent(`/invitation?token=${tokenOf(call)}`);
  return html`${head}
${form({
  action: call.href("/invitation"),
  csrf: call.csrf,
  hidden: { token: tokenOf(call) },
  wrong,
  fields: personFields(call, link.email),
  submit: "Make an account and join",
})}
<p class="says">You have an account? ${buttonLink("Sign in and join", call.href(`/login?next=${next}`), { look: "quiet" })}</p>`;
}

function resetForm(call: Anyone, wrong?: string) {
  getLink(call.core, tokenOf(call), "reset");
  return html`${pageHead({ title: "Choose a new password", says: "You are signed out everywhere else, and your command-line and read tokens end." })}
${form({
  action: call.href("/reset-password"),
  csrf: call.csrf,
  hidden: { token: tokenOf(call) },
  wrong,
  fields: [
    ...passwordFields(),
    field({
      kind: "checkbox",
      name: "keep",
      value: "yes",
      checked: call.form.get("keep") === "yes",
      label: "Keep my command-line and read tokens working",
      hint: "Only if you forgot the password, and nobody else can have used the account.",
    }),
  ],
  submit: "Change the password",
})}`;
}

export const linkPages = [
  page({ id: "setUp", method: "GET", path: "/setup", access: "anyone" }, (call) => {
    if (hasUsers(call.core)) throw new Complaint("This installation has been set up already.", 410);
    getLink(call.core, tokenOf(call), "setup");
    return plainFrame(call, { title: "Set up", main: setUpForm(call) });
  }),
  page({ id: "setUpPost", method: "POST", path: "/setup", access: "anyone" }, (call) =>
    orAgain(
      call,
      (wrong) => setUpForm(call, wrong),
      async () => ({
        session: await setUp(call.core, tokenOf(call), chosenBy(call), call.form.get("team") ?? "", originOf(call)),
      }),
      "Reckon is set up. Connect a first device next.",
    ),
  ),
  page({ id: "invitation", method: "GET", path: "/invitation", access: "anyone" }, (call) =>
    plainFrame(call, { title: "Invitation", main: invitationForm(call) }),
  ),
  page({ id: "invitationPost", method: "POST", path: "/invitation", access: "anyone" }, async (call) => {
    if (!call.session)
      return orAgain(
        call,
        (wrong) => invitationForm(call, wrong),
        async () => ({ session: await acceptAsNew(call.core, tokenOf(call), chosenBy(call), originOf(call)) }),
        "Welcome to the team.",
      );
    const { session } = call;
    const { teamId } = await acceptAs(call.core, tokenOf(call), session.userId, actorOf(session, call.ip()));
    // The session was read before there was a seat in the new team.
    await switchTeam(call.core, { ...session, teams: [{ id: teamId, name: "", role: "member" }] }, teamId);
    return redirect("/overview", "You are in the team.");
  }),
  page({ id: "resetPassword", method: "GET", path: "/reset-password", access: "anyone" }, (call) =>
    plainFrame(call, { title: "New password", main: resetForm(call) }),
  ),
  page({ id: "resetPasswordPost", method: "POST", path: "/reset-password", access: "anyone" }, (call) =>
    orAgain(
      call,
      (wrong) => resetForm(call, wrong),
      async () => ({
        session: await resetPassword(
          call.core,
          tokenOf(call),
          chosenBy(call).password,
          originOf(call),
          endWithPassword(call.core, call.form.get("keep") !== "yes"),
        ),
      }),
      "The password is changed.",
    ),
  ),
];
