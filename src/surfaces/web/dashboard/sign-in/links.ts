import {
  acceptAs,
  acceptAsNew,
  actorOf,
  type FirstTeam,
  getLink,
  hasUsers,
  listTeams,
  resetPassword,
  setUp,
  switchTeam,
} from "../../../../identity/accounts/accounts.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { conflict, fail, gone, invalid, Problem } from "../../../../kit/problem.ts";
import { type PageCall, type PageReply, page, redirect, retryAfter } from "../../../../platform/http/page.ts";
import { readUserAgent } from "../../../../redact/redact.ts";
import { button, buttonLink } from "../../ui/button.ts";
import { hiddenInputs } from "../../ui/confirm.ts";
import { field } from "../../ui/field.ts";
import { form } from "../../ui/form.ts";
import { pageHead } from "../../ui/parts.ts";
import { plainFrame } from "../frame.ts";
import { linkPage, opener, used } from "./link-opening.ts";
import { endWithPassword } from "./password-ends.ts";

/** Pages behind one-time links: the first set-up, an invitation, a password reset. */

type Anyone = PageCall<"anyone">;

const PATHS = { setUp: "/setup", invitation: "/invitation", reset: "/reset-password" } as const;

/** The token that a form of these pages carries. */
const sentToken = (call: Anyone) => call.form.get("token") ?? "";
const originOf = (call: Anyone) => ({ ip: call.ip(), userAgent: readUserAgent(call.userAgent) });

function chosenBy(call: Anyone) {
  const password = call.form.get("password") ?? "";
  if (password !== call.form.get("again")) fail(invalid, "The two passwords are not the same.");
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
  path: string,
  again: (token: string, wrong: string) => Html,
  work: () => Promise<{ readonly session: string; readonly done: string }>,
): Promise<PageReply> {
  try {
    const { session, done } = await work();
    return used(call, path, { ...redirect("/overview", done), session });
  } catch (error) {
    if (!(error instanceof Problem) || error.status === 404 || error.status === 410) throw error;
    return { status: error.status, headers: retryAfter(error), body: again(sentToken(call), error.message) };
  }
}

/** Chosen instead of a team that is there. */
const NEW_TEAM = "new";

function teamFields(call: Anyone) {
  const teams = listTeams(call.core);
  const name = {
    kind: "text",
    name: "team",
    hint: "Agents' machines are bound to a team. More can be made later.",
    value: call.form.get("team"),
    maxLength: 200,
  } as const;
  if (teams.length === 0) return field({ ...name, label: "Name of your team", required: true });
  return [
    field({
      kind: "select",
      name: "take",
      label: "Your team",
      hint: "What its machines sent so far is there for you.",
      options: [
        ...teams.map(({ id, name }) => ({ value: id, label: `Take over ${name}` })),
        { value: NEW_TEAM, label: "Make a new team" },
      ],
      value: call.form.get("take") ?? teams[0]?.id,
    }),
    field({ ...name, label: "Name of the new team", hint: "Only when you make a new one." }),
  ];
}

/** The team that somebody who sets up chose. @throws Problem when they said two things */
function chosenTeam({ core, form }: Anyone): FirstTeam {
  const make = form.get("team")?.trim() ?? "";
  const take = form.get("take") ?? NEW_TEAM;
  if (take === NEW_TEAM) {
    if (listTeams(core).some(({ name }) => name === make))
      fail(conflict, `There is a team named "${make}" already: take it over, or choose another name.`);
    return { make };
  }
  if (make !== "") fail(invalid, "Either take over a team that is there, or choose “Make a new team” and name it.");
  return { takeOver: take };
}

function setUpForm(call: Anyone, token: string, wrong?: string) {
  getLink(call.core, token, "setup");
  const main = html`${pageHead({ title: "Set up Reckon", says: "You become the operator of this installation and the owner of a team." })}
${form({
  action: call.href(PATHS.setUp),
  csrf: call.csrf,
  hidden: { token },
  wrong,
  fields: [...personFields(call, null), teamFields(call)],
  submit: "Set up",
})}${opener(call, PATHS.setUp)}`;
  return plainFrame(call, { title: "Set up", main });
}

function invitationForm(call: Anyone, token: string, wrong?: string) {
  const link = getLink(call.core, token, "invitation");
  const head = pageHead({
    title: `Join ${link.teamName}`,
    says: `${link.createdBy ?? "Somebody"} invites you as ${link.role === "member" ? "a member" : `an ${link.role}`}.`,
  });
  const action = call.href(PATHS.invitation);
  const hidden = { token };
  const body = call.session
    ? html`<form method="post" action="${action}" class="form">${hiddenInputs({ _csrf: call.csrf, ...hidden })}
<p>You are signed in as ${call.session.email}.</p><div class="actions">${button("Join the team", { look: "primary" })}</div></form>`
    : html`${form({ action, csrf: call.csrf, hidden, wrong, fields: personFields(call, link.email), submit: "Make an account and join" })}
<p class="says">You have an account? ${buttonLink("Sign in and join", call.href(`/login?next=${encodeURIComponent(PATHS.invitation)}`), { look: "quiet" })}</p>`;
  return plainFrame(call, {
    title: "Invitation",
    main: html`${head}
${body}${opener(call, PATHS.invitation)}`,
  });
}

function resetForm(call: Anyone, token: string, wrong?: string) {
  getLink(call.core, token, "reset");
  const main = html`${pageHead({ title: "Choose a new password", says: "You are signed out everywhere else, and your command-line and read tokens end." })}
${form({
  action: call.href(PATHS.reset),
  csrf: call.csrf,
  hidden: { token },
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
})}${opener(call, PATHS.reset)}`;
  return plainFrame(call, { title: "New password", main });
}

export const linkPages = [
  ...linkPage({
    id: "setUp",
    path: PATHS.setUp,
    title: "Set up Reckon",
    from: "stands in the server's output",
    draw: setUpForm,
    require: ({ core }) => {
      if (hasUsers(core)) fail(gone, "This installation has been set up already.");
    },
  }),
  page({ id: "setUpPost", method: "POST", path: PATHS.setUp, access: "anyone" }, (call) =>
    orAgain(
      call,
      PATHS.setUp,
      (token, wrong) => setUpForm(call, token, wrong),
      async () => {
        const team = chosenTeam(call);
        const session = await setUp(call.core, sentToken(call), chosenBy(call), team, originOf(call));
        const next = "takeOver" in team ? "The team is yours." : "Connect a first device next.";
        return { session, done: `Reckon is set up. ${next}` };
      },
    ),
  ),
  ...linkPage({
    id: "invitation",
    path: PATHS.invitation,
    title: "Join a team",
    from: "the person who invited you sent",
    draw: invitationForm,
  }),
  page({ id: "invitationPost", method: "POST", path: PATHS.invitation, access: "anyone" }, async (call) => {
    if (!call.session)
      return orAgain(
        call,
        PATHS.invitation,
        (token, wrong) => invitationForm(call, token, wrong),
        async () => ({
          session: await acceptAsNew(call.core, sentToken(call), chosenBy(call), originOf(call)),
          done: "Welcome to the team.",
        }),
      );
    const { session } = call;
    const { teamId } = await acceptAs(call.core, sentToken(call), session.userId, actorOf(session, call.ip()));
    // The session was read before there was a seat in the new team.
    await switchTeam(call.core, { ...session, teams: [{ id: teamId, name: "", role: "member" }] }, teamId);
    return used(call, PATHS.invitation, redirect("/overview", "You are in the team."));
  }),
  ...linkPage({
    id: "resetPassword",
    path: PATHS.reset,
    title: "Choose a new password",
    from: "an admin or operator made for you",
    draw: resetForm,
  }),
  page({ id: "resetPasswordPost", method: "POST", path: PATHS.reset, access: "anyone" }, (call) =>
    orAgain(
      call,
      PATHS.reset,
      (token, wrong) => resetForm(call, token, wrong),
      async () => {
        const { password } = chosenBy(call);
        const alongside = endWithPassword(call.core, call.form.get("keep") !== "yes");
        return {
          session: await resetPassword(call.core, sentToken(call), password, originOf(call), alongside),
          done: "The password is changed.",
        };
      },
    ),
  ),
];
