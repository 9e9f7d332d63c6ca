import { listCliTokens, revokeCliToken } from "../../../../identity/device-flow/device-flow.ts";
import { membershipsOf, roleName } from "../../../../identity/members/members.ts";
import { renameUser } from "../../../../identity/people/people.ts";
import { listFactors } from "../../../../identity/second-factor/second-factor.ts";
import { confirmPassword, setPassword } from "../../../../identity/sign-in/sign-in.ts";
import { endSession, listSessions, signOutEverywhere } from "../../../../identity/web-sessions/web-sessions.ts";
import { html } from "../../../../kit/html.ts";
import { fail, invalid, notFound } from "../../../../kit/problem.ts";
import { page, redirect } from "../../../../platform/http/page.ts";
import { buttonLink } from "../../ui/button.ts";
import { confirmButton } from "../../ui/confirm.ts";
import { type FormError, formSpec } from "../../ui/form-spec.ts";
import { table } from "../../ui/list.ts";
import { badge, empty, pageHead, section } from "../../ui/parts.ts";
import { ago, time } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { by, type Person } from "../shared/call.ts";
import { handleForm } from "../shared/forms.ts";
import { ID, readParams } from "../shared/params.ts";
import { endWithPassword, NEW_PASSWORD, NEW_PASSWORD_AGAIN } from "../sign-in/new-password.ts";
import { browserShown } from "./browser.ts";
import { hasPassword, secondFactorAccountPages } from "./second-factor.ts";
import { ssoAccountPages, ssoSection } from "./sso.ts";
import { viewsSection } from "./views.ts";

/** One's own account: name, password, sign-ins, command-line tools. */

const NAME = formSpec({
  name: { kind: "text", label: "Your name", maxLength: 100, autocomplete: "name" },
});

const PASSWORD = formSpec({
  current: { kind: "password", label: "Present password", required: true, autocomplete: "current-password" },
  password: { ...NEW_PASSWORD, label: "New password" },
  again: { ...NEW_PASSWORD_AGAIN, label: "The new password again" },
  end: {
    kind: "checkbox",
    value: "yes",
    label: "Also end my command-line, read and API tokens",
    hint: "Do it when somebody else may have been in your account.",
  },
});

function accountPage(call: Person, error?: FormError) {
  const { core, session } = call;
  const now = core.clock.now();
  const main = html`${pageHead({ title: "Your account", intro: session.email })}
${section({
  title: "Name",
  framed: true,
  body: NAME.draw(call, { action: "/account/name", values: session, error, submit: "Save" }),
})}
${passwordSection(call, error)}
${section({
  title: "Second factor",
  intro: secondFactorState(call),
  actions: buttonLink("Manage", call.href("/account/second-factor")),
  body: "",
})}
${ssoSection(call, error)}
${section({ title: "Sign-ins", intro: "Browsers in which you are signed in.", body: sessionTable(call, now) })}
${section({ title: "Command-line tools", intro: "Tools you approved; each holds an access token of its own.", body: cliTable(call, now) })}
${viewsSection(call)}
${section({
  title: "Teams",
  body: table({
    caption: "Your teams",
    columns: [
      { label: "Team", heading: true, cell: ({ name }) => name },
      { label: "Role", cell: ({ role }) => roleName(role) },
      {
        label: "Actions",
        hidden: true,
        // The form applies to the team that is selected.
        cell: ({ id, name }) =>
          id === session.team?.id &&
          confirmButton(call, {
            action: "/people/leave",
            label: "Leave the team",
            question: `Leave “${name}”? You lose what it records at once; what you did stays. Coming back takes an invitation.`,
            confirm: "Leave the team",
            small: true,
          }),
      },
    ],
    rows: membershipsOf(core, session.userId),
    empty: empty({ title: "No team yet", intro: "An owner or admin of a team can invite you by a link." }),
  }),
})}`;
  return frame(call, { title: "Your account", main });
}

function passwordSection(call: Person, error: FormError | undefined) {
  const title = "Password";
  if (!hasPassword(call)) return section({ title, intro: "None: you sign in by single sign-on.", body: "" });
  return section({
    title,
    intro: "Changing it signs you out everywhere but here.",
    framed: true,
    body: PASSWORD.draw(call, { action: "/account/password", error, submit: "Change password" }),
  });
}

function secondFactorState(call: Person): string {
  const factors = listFactors(call.core, call.session.userId);
  if (factors.length > 0) return factors.map(({ name }) => name).join(", ");
  return hasPassword(call)
    ? "None: your password alone opens the account."
    : "None here: your single sign-on asks for what it demands.";
}

function sessionTable(call: Person, now: number) {
  const { core, session } = call;
  const sessions = listSessions(core, session.userId);
  return html`${table({
    caption: "Sign-ins",
    columns: [
      {
        label: "Browser",
        heading: true,
        grow: true,
        cell: (signIn) =>
          html`${browserShown(signIn.userAgent)}${signIn.id === session.sessionId && html` ${badge("info", "this one")}`}`,
      },
      { label: "Address", cell: (signIn) => signIn.ip },
      {
        label: "Signed in",
        cell: (signIn) => html`${time(signIn.createdAt, now)}${signIn.method !== null && ` by ${signIn.method}`}`,
      },
      { label: "Last used", cell: (signIn) => ago(signIn.lastSeenAt, now) },
      {
        label: "Actions",
        hidden: true,
        cell: (signIn) =>
          signIn.id !== session.sessionId &&
          confirmButton(call, {
            action: "/account/sessions/end",
            hidden: { id: signIn.id },
            label: "Sign out",
            question: "Sign this browser out?",
            confirm: "Sign out",
            small: true,
          }),
      },
    ],
    rows: sessions,
  })}
${
  sessions.length > 1 &&
  confirmButton(call, {
    action: "/account/sessions/end-others",
    label: "Sign out everywhere else",
    question: "Sign out all browsers but this one?",
    confirm: "Sign out everywhere else",
  })
}`;
}

function cliTable(call: Person, now: number) {
  const { core, session } = call;
  return table({
    caption: "Command-line tools",
    columns: [
      {
        label: "Tool",
        heading: true,
        grow: true,
        cell: (token) =>
          html`${token.channel ?? "command line"}${token.userAgent && html`<br><small>${token.userAgent} · ${token.ip}</small>`}`,
      },
      { label: "Approved", cell: (token) => time(token.createdAt, now) },
      { label: "Last used", cell: (token) => ago(token.lastUsedAt, now) },
      { label: "Expires", cell: (token) => time(token.expiresAt, now) },
      {
        label: "Actions",
        hidden: true,
        cell: (token) =>
          confirmButton(call, {
            action: "/account/cli/revoke",
            hidden: { id: token.id },
            label: "Revoke",
            question: "Revoke this access token? The tool has to be approved again.",
            confirm: "Revoke",
            small: true,
          }),
      },
    ],
    rows: listCliTokens(core, session.userId),
    empty: empty({
      title: "No command-line tool yet",
      intro: "A tool that signs in shows a code, which you enter at the address it names.",
    }),
  });
}

export const accountPages = [
  ...secondFactorAccountPages,
  ...ssoAccountPages((call, error) => accountPage(call, error)),
  page({ id: "account", method: "GET", path: "/account", access: "person", own: true }, (call) => accountPage(call)),
  page({ id: "accountName", method: "POST", path: "/account/name", access: "person", own: true }, (call) =>
    handleForm(
      call,
      NAME,
      async ({ name }) => {
        await renameUser(call.core, call.session.userId, name, by(call));
        return redirect("/account", "Saved.");
      },
      (error) => accountPage(call, error),
    ),
  ),
  page({ id: "accountPassword", method: "POST", path: "/account/password", access: "person", own: true }, (call) =>
    handleForm(
      call,
      PASSWORD,
      async ({ current, password, again, end }) => {
        const { core, session } = call;
        await confirmPassword(core, session.userId, current, by(call));
        if (password !== again) fail(invalid, "The two new passwords are not the same.");
        await setPassword(core, session.userId, password, by(call), session.sessionId, endWithPassword(core, end));
        return redirect("/account", "The password is changed.");
      },
      (error) => accountPage(call, error),
    ),
  ),
  page(
    { id: "endSession", method: "POST", path: "/account/sessions/end", access: "person", own: true },
    async (call) => {
      const { core, session, form } = call;
      if (!(await endSession(core, session.userId, readParams(ID, form).id, by(call))))
        fail(notFound, "This sign-in has ended already.");
      return redirect("/account", "That browser is signed out.");
    },
  ),
  page(
    { id: "endOtherSessions", method: "POST", path: "/account/sessions/end-others", access: "person", own: true },
    async (call) => {
      const { core, session } = call;
      await signOutEverywhere(core, session.userId, by(call), session.sessionId);
      return redirect("/account", "You are signed out everywhere else.");
    },
  ),
  page(
    { id: "revokeCliToken", method: "POST", path: "/account/cli/revoke", access: "person", own: true },
    async (call) => {
      const { core, session, form } = call;
      await revokeCliToken(core, session.userId, readParams(ID, form).id, by(call));
      return redirect("/account", "The access token is revoked.");
    },
  ),
];
