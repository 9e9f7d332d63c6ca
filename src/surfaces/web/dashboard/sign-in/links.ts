import * as v from "valibot";
import type { Role } from "../../../../identity/members/members.ts";
import { getLink } from "../../../../identity/one-time-links/one-time-links.ts";
import { hasUsers, makers } from "../../../../identity/people/people.ts";
import {
  acceptAs,
  acceptAsNew,
  type Entered,
  type FirstTeam,
  resetPassword,
  setUp,
} from "../../../../identity/sign-in/sign-in.ts";
import { getTeam, listTeams, type Team } from "../../../../identity/teams/teams.ts";
import { actorOf, switchTeam } from "../../../../identity/web-sessions/web-sessions.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { conflict, fail, gone, invalid } from "../../../../kit/problem.ts";
import { type PageCall, page, redirect } from "../../../../platform/http/page.ts";
import { buttonLink } from "../../ui/button.ts";
import { form } from "../../ui/form.ts";
import {
  type Fields,
  type FormError,
  type FormSpec,
  formSpec,
  trimmed,
  typed,
  type Values,
} from "../../ui/form-spec.ts";
import { pageHead } from "../../ui/parts.ts";
import { plainFrame } from "../frame.ts";
import { originOf } from "../shared/call.ts";
import { handleForm } from "../shared/forms.ts";
import { readParams } from "../shared/params.ts";
import { linkPage, opener, used } from "./link-opening.ts";
import { endWithPassword, NEW_PASSWORD, NEW_PASSWORD_AGAIN } from "./new-password.ts";
import { goOn } from "./second-factor.ts";
import { ssoButtons } from "./sso.ts";

/** Pages behind one-time links: the first set-up, an invitation, a password reset. */

type Anyone = PageCall<"anyone">;

const PATHS = { setUp: "/setup", invitation: "/invitation", reset: "/reset-password" } as const;

const INVITED_AS: Readonly<Record<Role, string>> = {
  owner: "an owner",
  admin: "an admin",
  member: "a member",
  viewer: "a viewer",
  own_only: "somebody who sees their own record only",
};

const TOKEN = { kind: "hidden" } as const;

const ACCOUNT = {
  token: TOKEN,
  email: { kind: "email", label: "E-mail address", required: true, autocomplete: "username" },
  name: { kind: "text", label: "Your name", maxLength: 100, autocomplete: "name" },
  password: NEW_PASSWORD,
  again: NEW_PASSWORD_AGAIN,
} as const;

const INVITED = formSpec(ACCOUNT);

const RESET = formSpec({
  token: TOKEN,
  password: NEW_PASSWORD,
  again: NEW_PASSWORD_AGAIN,
  keep: {
    kind: "checkbox",
    value: "yes",
    label: "Keep my command-line, read and API tokens working",
    hint: "Only if you forgot the password, and nobody else can have used the account.",
  },
});

function requireSame({ password, again }: { readonly password: string; readonly again: string }): void {
  if (password !== again) fail(invalid, "The two passwords are not the same.");
}

/** Begins a session, or draws the page again; what is wrong with the link itself is an error page. */
const begin = <F extends Fields>(
  call: Anyone,
  path: string,
  form: FormSpec<F>,
  draw: (call: Anyone, token: string, error: FormError) => Html,
  work: (values: Values<F>) => Promise<Entered & { readonly done: string }>,
) =>
  handleForm(
    call,
    form,
    async (values) => {
      const { done, ...entered } = await work(values);
      return used(call, path, goOn(call, entered, "/overview", done));
    },
    (error) => {
      if (error.problem.status === 404 || error.problem.status === 410) throw error.problem;
      return draw(call, readParams({ token: typed }, call.form).token, error);
    },
  );

/** Chosen instead of a team that is there. */
const NEW_TEAM = "new";

const SET_UP = formSpec({
  ...ACCOUNT,
  take: {
    kind: "select",
    label: "Your team",
    hint: "What its machines sent so far is there for you.",
    options: [],
    schema: v.optional(v.string(), NEW_TEAM),
  },
  team: {
    kind: "text",
    label: "Name of the new team",
    hint: "Only when you make a new one.",
    maxLength: 200,
    schema: trimmed,
  },
});

/** How the choice of a team looks where there is none yet, and where there are some. */
function teamFields(teams: readonly Team[]) {
  if (teams.length === 0) {
    const hint = "Agents' machines are bound to a team. More can be made later.";
    return { take: false, team: { label: "Name of your team", hint, required: true } } as const;
  }
  const present = teams.map(({ id, name }) => ({ value: id, label: `Take over ${name}` }));
  return { take: { options: [...present, { value: NEW_TEAM, label: "Make a new team" }] } };
}

/** The team that somebody who sets up chose. @throws Problem when they said two things */
function chosenTeam({ core }: Anyone, { team, take }: ReturnType<typeof SET_UP.read>): FirstTeam {
  if (take === NEW_TEAM) {
    if (listTeams(core).some(({ name }) => name === team))
      fail(conflict, `There is a team named "${team}" already: take it over, or choose another name.`);
    return { make: team };
  }
  if (team !== "") fail(invalid, "Either take over a team that is there, or choose “Make a new team” and name it.");
  return { takeOver: take };
}

function setUpForm(call: Anyone, token: string, error?: FormError) {
  getLink(call.core, token, "setup");
  const teams = listTeams(call.core);
  const main = html`${pageHead({ title: "Set up Reckon", intro: "You become the operator of this installation and the owner of a team." })}
${SET_UP.draw(call, {
  action: PATHS.setUp,
  values: { token, take: teams[0]?.id },
  error,
  vary: teamFields(teams),
  submit: "Set up",
})}${opener(call, PATHS.setUp)}`;
  return plainFrame(call, { title: "Set up", main });
}

function invitationForm(call: Anyone, token: string, error?: FormError) {
  const link = getLink(call.core, token, "invitation");
  const head = pageHead({
    title: `Join ${getTeam(call.core, link.teamId ?? "").name}`,
    intro: `${link.createdBy === null ? "Somebody" : makers.called(call.core, link.createdBy)} invites you as ${INVITED_AS[link.role ?? "member"]}.`,
  });
  return plainFrame(call, {
    title: "Invitation",
    main: html`${head}
${wayIn(call, token, link.email, error)}${opener(call, PATHS.invitation)}`,
  });
}

/** How somebody accepts an invitation: with the account that they are signed in to, or that they make or come with. */
function wayIn(call: Anyone, token: string, email: string | null, error?: FormError): Html {
  if (call.session)
    return form({
      action: call.href(PATHS.invitation),
      csrf: call.csrf,
      hidden: { token },
      fields: html`<p>You are signed in as ${call.session.email}.</p>`,
      submit: "Join the team",
    });
  if (call.core.config.passwords === "operators")
    return html`<p>Passwords are for who runs this installation. Sign in by single sign-on${email !== null && html` as ${email}`}: you come back here to join.</p>
${ssoButtons(call, PATHS.invitation) || html`<p class="says">No single sign-on is set up yet: ask who runs this installation.</p>`}`;
  return html`${INVITED.draw(call, {
    action: PATHS.invitation,
    values: { token, email },
    error,
    vary: { email: { readOnly: email !== null } },
    submit: "Make an account and join",
  })}
<p class="says">You have an account? ${buttonLink("Sign in and join", call.href(`/login?next=${encodeURIComponent(PATHS.invitation)}`), { look: "quiet" })}</p>`;
}

function resetForm(call: Anyone, token: string, error?: FormError) {
  getLink(call.core, token, "reset");
  const main = html`${pageHead({ title: "Choose a new password", intro: "You are signed out everywhere else, and your command-line, read and API tokens end." })}
${RESET.draw(call, { action: PATHS.reset, values: { token }, error, submit: "Change the password" })}${opener(call, PATHS.reset)}`;
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
    begin(call, PATHS.setUp, SET_UP, setUpForm, async (values) => {
      const team = chosenTeam(call, values);
      requireSame(values);
      const session = await setUp(call.core, values.token, values, team, originOf(call));
      const next = "takeOver" in team ? "The team is yours." : "Connect a first device next.";
      return { session, done: `Reckon is set up. ${next}` };
    }),
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
      return begin(call, PATHS.invitation, INVITED, invitationForm, async (values) => {
        requireSame(values);
        const session = await acceptAsNew(call.core, values.token, values, originOf(call), call.vouchedEmail);
        return { session, done: "Welcome to the team." };
      });
    const { session } = call;
    // The link waits in the browser meanwhile.
    if (session.lacksSecondFactor)
      return {
        location: "/account/second-factor",
        flash: { kind: "warn", text: "Your team demands a second factor. Set one up, then open the invitation again." },
      };
    const { token } = readParams({ token: typed }, call.form);
    const { teamId } = await acceptAs(call.core, token, session.userId, actorOf(session, call.ip()));
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
    begin(call, PATHS.reset, RESET, resetForm, async (values) => {
      requireSame(values);
      const { token, password, keep } = values;
      const alongside = endWithPassword(call.core, !keep);
      const entered = await resetPassword(
        call.core,
        token,
        password,
        originOf(call),
        alongside,
        call.session?.sessionId,
      );
      return { ...entered, done: "The password is changed." };
    }),
  ),
];
