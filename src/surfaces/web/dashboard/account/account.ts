import {
  actorOf,
  confirmPassword,
  endSession,
  listSessions,
  membershipsOf,
  renameUser,
  setPassword,
  signOutEverywhere,
} from "../../../../identity/accounts/accounts.ts";
import { listCliTokens, revokeCliToken } from "../../../../identity/device-flow/device-flow.ts";
import { html } from "../../../../kit/html.ts";
import { fail, invalid, notFound, Problem } from "../../../../kit/problem.ts";
import { page, redirect, retryAfter } from "../../../../platform/http/page.ts";
import { confirmButton } from "../../ui/confirm.ts";
import { field } from "../../ui/field.ts";
import { form } from "../../ui/form.ts";
import { table } from "../../ui/list.ts";
import { badge, empty, pageHead, section } from "../../ui/parts.ts";
import { ago, time } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import type { Person } from "../shared/call.ts";
import { endWithPassword } from "../sign-in/password-ends.ts";

/** One's own account: name, password, sign-ins, command-line tools. */

function accountPage(call: Person, wrong?: { readonly form: "password"; readonly text: string }) {
  const { core, session, csrf, href, form: sent } = call;
  const now = core.clock.now();
  const main = html`${pageHead({ title: "Your account", says: session.email })}
${section({
  title: "Name",
  framed: true,
  body: form({
    action: href("/account/name"),
    csrf,
    fields: field({
      kind: "text",
      name: "name",
      label: "Your name",
      value: session.name,
      maxLength: 100,
      autocomplete: "name",
    }),
    submit: "Save",
  }),
})}
${section({
  title: "Password",
  says: "Changing it signs you out everywhere but here.",
  framed: true,
  body: form({
    action: href("/account/password"),
    csrf,
    wrong: wrong?.text,
    fields: [
      field({
        kind: "password",
        name: "current",
        label: "Present password",
        required: true,
        autocomplete: "current-password",
      }),
      field({
        kind: "password",
        name: "password",
        label: "New password",
        hint: "At least 8 characters; several words are good.",
        required: true,
        minLength: 8,
        autocomplete: "new-password",
      }),
      field({
        kind: "password",
        name: "again",
        label: "The new password again",
        required: true,
        autocomplete: "new-password",
      }),
      field({
        kind: "checkbox",
        name: "end",
        value: "yes",
        checked: sent.get("end") === "yes",
        label: "Also end my command-line and read tokens",
        hint: "Do it when somebody else may have been in your account.",
      }),
    ],
    submit: "Change password",
  }),
})}
${section({ title: "Sign-ins", says: "Browsers in which you are signed in.", body: sessionTable(call, now) })}
${section({ title: "Command-line tools", says: "Tools you approved; each holds an access token of its own.", body: cliTable(call, now) })}
${section({
  title: "Teams",
  body: table({
    caption: "Your teams",
    columns: [
      { label: "Team", heading: true, cell: ({ teamName }) => teamName },
      { label: "Role", cell: ({ role }) => role },
    ],
    rows: membershipsOf(core, session.userId),
    empty: empty({ title: "No team yet", says: "An owner or admin of a team can invite you by a link." }),
  }),
})}`;
  return frame(call, { title: "Your account", main });
}

function sessionTable({ core, session, csrf, href }: Person, now: number) {
  const sessions = listSessions(core, session.userId);
  return html`${table({
    caption: "Sign-ins",
    columns: [
      {
        label: "Browser",
        heading: true,
        grow: true,
        cell: (signIn) =>
          html`${signIn.userAgent ?? "unknown browser"}${signIn.id === session.sessionId && html` ${badge("info", "this one")}`}`,
      },
      { label: "Address", cell: (signIn) => signIn.ip },
      { label: "Signed in", cell: (signIn) => time(signIn.createdAt, now) },
      { label: "Last used", cell: (signIn) => ago(signIn.lastSeenAt, now) },
      {
        label: "Actions",
        hidden: true,
        cell: (signIn) =>
          signIn.id !== session.sessionId &&
          confirmButton({
            action: href("/account/sessions/end"),
            csrf,
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
  confirmButton({
    action: href("/account/sessions/end-others"),
    csrf,
    label: "Sign out everywhere else",
    question: "Sign out all browsers but this one?",
    confirm: "Sign out everywhere else",
  })
}`;
}

function cliTable({ core, session, csrf, href }: Person, now: number) {
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
      {
        label: "Expires",
        cell: (token) =>
          token.revokedAt !== null
            ? badge("neutral", "revoked")
            : token.expiresAt <= now
              ? badge("neutral", "expired")
              : time(token.expiresAt, now),
      },
      {
        label: "Actions",
        hidden: true,
        cell: (token) =>
          token.revokedAt === null &&
          token.expiresAt > now &&
          confirmButton({
            action: href("/account/cli/revoke"),
            csrf,
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
      says: "A tool that signs in shows a code, which you enter at the address it names.",
    }),
  });
}

async function changePassword(call: Person) {
  const { core, session, form } = call;
  const password = form.get("password") ?? "";
  await confirmPassword(core, session.userId, form.get("current") ?? "");
  if (password !== form.get("again")) fail(invalid, "The two new passwords are not the same.");
  const by = actorOf(session, call.ip());
  const alongside = endWithPassword(core, form.get("end") === "yes");
  await setPassword(core, session.userId, password, by, session.sessionId, alongside);
}

export const accountPages = [
  page({ id: "account", method: "GET", path: "/account", access: "person" }, (call) => accountPage(call)),
  page({ id: "accountName", method: "POST", path: "/account/name", access: "person" }, async (call) => {
    await renameUser(call.core, call.session.userId, call.form.get("name") ?? "");
    return redirect("/account", "Saved.");
  }),
  page({ id: "accountPassword", method: "POST", path: "/account/password", access: "person" }, async (call) => {
    try {
      await changePassword(call);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const body = accountPage(call, { form: "password", text: error.message });
      return { status: error.status, headers: retryAfter(error), body };
    }
    return redirect("/account", "The password is changed.");
  }),
  page({ id: "endSession", method: "POST", path: "/account/sessions/end", access: "person" }, async (call) => {
    const { core, session, form } = call;
    if (!(await endSession(core, session.userId, form.get("id") ?? "", actorOf(session, call.ip()))))
      fail(notFound, "This sign-in has ended already.");
    return redirect("/account", "That browser is signed out.");
  }),
  page(
    { id: "endOtherSessions", method: "POST", path: "/account/sessions/end-others", access: "person" },
    async (call) => {
      const { core, session } = call;
      await signOutEverywhere(core, session.userId, actorOf(session, call.ip()), session.sessionId);
      return redirect("/account", "You are signed out everywhere else.");
    },
  ),
  page({ id: "revokeCliToken", method: "POST", path: "/account/cli/revoke", access: "person" }, async (call) => {
    const { core, session, form } = call;
    await revokeCliToken(core, session.userId, form.get("id") ?? "", actorOf(session, call.ip()));
    return redirect("/account", "The access token is revoked.");
  }),
];
