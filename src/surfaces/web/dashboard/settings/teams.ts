import {
  actorOf,
  countMembers,
  createInvitation,
  createTeam,
  findTeam,
  listMembers,
  pageOfTeams,
  ROLES,
  SUBSCRIPTIONS,
  type Team,
  type TeamChange,
  TIERS,
  updateTeam,
} from "../../../../identity/accounts/accounts.ts";
import { isoInstant } from "../../../../kit/clock.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { fail, invalid, notFound, Problem } from "../../../../kit/problem.ts";
import { type PageReply, page, redirect } from "../../../../platform/http/page.ts";
import { confirmButton } from "../../ui/confirm.ts";
import { field } from "../../ui/field.ts";
import { form } from "../../ui/form.ts";
import { table } from "../../ui/list.ts";
import { anchor, badge, columns, empty, facts, type Kind, section } from "../../ui/parts.ts";
import { ago, time } from "../../ui/units.ts";
import { invitationSays, linkPage, named, readRole, roleOptions, roleWord } from "../people/parts.ts";
import type { ByOperator } from "../shared/call.ts";
import { list, PREVIOUS_NEXT } from "../shared/list.ts";
import { searchIn, settingsFrame } from "./parts.ts";

/** Every team of the installation: what it has paid for, who is in it. */

const PAGE = 50;
const PATH = "/settings/teams";
const MAX_SEATS = 1_000_000;

const STATES: Readonly<Record<Team["subscription"], { kind: Kind; label: string }>> = {
  active: { kind: "good", label: "active" },
  trialing: { kind: "info", label: "trialing" },
  past_due: { kind: "warn", label: "past due" },
  canceled: { kind: "bad", label: "canceled" },
  none: { kind: "neutral", label: "none" },
};

function state(team: Team) {
  if (team.suspendedAt !== null) return badge("bad", "suspended");
  const { kind, label } = STATES[team.subscription];
  return badge(kind, label);
}

function teamsPage(call: ByOperator, wrong?: string) {
  const { core, query, csrf, href, form: sent } = call;
  const { q, after } = searchIn(query);
  const { rows, next } = pageOfTeams(core, q, PAGE, after);
  const now = core.clock.now();
  const body = html`${list(call, {
    path: PATH,
    params: { q },
    id: "teams",
    label: "Find teams",
    filters: [{ kind: "search", name: "q", label: "Name or id", value: q }],
    table: {
      caption: "Teams",
      columns: [
        { label: "Team", heading: true, grow: true, cell: (team) => anchor(href(`${PATH}/${team.id}`), team.name) },
        { label: "Subscription", cell: state },
        { label: "Tier", cell: (team) => team.tier },
        { label: "Seats", numeric: true, cell: (team) => team.seats },
        { label: "People", numeric: true, cell: (team) => countMembers(core, team.id) },
        { label: "Made", cell: (team) => time(team.createdAt, now) },
      ],
      rows,
      empty: empty({ title: "No such team", says: "Search for part of a name, or make a team below." }),
    },
    pages: { labels: PREVIOUS_NEXT, first: after !== "", older: { after: next } },
  })}
${section({
  title: "Make a team",
  framed: true,
  body: form({
    action: href(PATH),
    csrf,
    wrong,
    fields: [
      field({ kind: "text", name: "name", label: "Name", value: sent.get("name"), required: true, maxLength: 200 }),
      ...planFields({ tier: sent.get("tier") ?? "team", seats: sent.get("seats") ?? "5" }),
      field({
        kind: "checkbox",
        name: "own",
        label: "I am its owner",
        hint: "Without an owner nobody can connect devices; invite one from the team's page.",
        checked: wrong === undefined || sent.has("own"),
      }),
    ],
    submit: "Make the team",
  }),
})}`;
  return settingsFrame(call, {
    title: "Teams",
    says: "Each team's record is its own; what it may use depends on its tier.",
    body,
  });
}

const planFields = ({ tier, seats }: { readonly tier: string; readonly seats: string | number }) => [
  field({
    kind: "select",
    name: "tier",
    label: "Tier",
    value: tier,
    options: [
      { value: "none", label: "none: agents can send nothing" },
      { value: "starter", label: "starter: telemetry" },
      { value: "team", label: "team: telemetry, brain, traces" },
      { value: "enterprise", label: "enterprise: everything" },
    ],
  }),
  field({
    kind: "number",
    name: "seats",
    label: "Seats",
    value: seats,
    required: true,
    min: 0,
    max: MAX_SEATS,
    step: 1,
  }),
];

function readPlan(sent: URLSearchParams) {
  const tier = TIERS.find((one) => one === sent.get("tier"));
  if (!tier) fail(invalid, "Choose one of the tiers.");
  const text = sent.get("seats")?.trim() ?? "";
  const seats = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN;
  if (!(seats <= MAX_SEATS)) fail(invalid, `Seats are a whole number up to ${MAX_SEATS}.`);
  return { tier, seats };
}

/** Reads the end of a paid period: a day, which ends at its midnight UTC, or blank for no end. */
function readDay(text: string | null): number | null {
  const day = text?.trim() ?? "";
  if (day === "") return null;
  const at = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(at)) fail(invalid, "The end of the paid period is a day such as 2026-12-31.");
  return at;
}

function readChange(sent: URLSearchParams): TeamChange {
  const subscription = SUBSCRIPTIONS.find((one) => one === sent.get("subscription"));
  if (!subscription) fail(invalid, "Choose one of the states of the subscription.");
  return { ...readPlan(sent), name: sent.get("name") ?? "", subscription, periodEndAt: readDay(sent.get("periodEnd")) };
}

function onePage(call: ByOperator, team: Team, wrong?: { readonly form: "team" | "invite"; readonly text: string }) {
  const { core, csrf, href, form: sent } = call;
  const now = core.clock.now();
  const base = href(`${PATH}/${team.id}`);
  const again = wrong?.form === "team" ? sent : undefined;
  const suspended = team.suspendedAt !== null;
  const body = html`${facts([
    { label: "State", value: state(team) },
    { label: "Suspended", value: suspended && time(team.suspendedAt, now) },
    { label: "Subscription since", value: time(team.subscriptionChangedAt, now) },
    { label: "Made", value: time(team.createdAt, now) },
    { label: "Id", value: html`<code>${team.id}</code>` },
  ])}
${columns(
  section({
    title: "Plan",
    framed: true,
    body: form({
      action: base,
      csrf,
      wrong: wrong?.form === "team" && wrong.text,
      fields: [
        field({
          kind: "text",
          name: "name",
          label: "Name",
          value: again?.get("name") ?? team.name,
          required: true,
          maxLength: 200,
        }),
        ...planFields({ tier: again?.get("tier") ?? team.tier, seats: again?.get("seats") ?? team.seats }),
        field({
          kind: "select",
          name: "subscription",
          label: "Subscription",
          hint: "Past due keeps working for 14 days; canceled and none get no licence.",
          value: again?.get("subscription") ?? team.subscription,
          options: SUBSCRIPTIONS.map((value) => ({ value, label: STATES[value].label })),
        }),
        field({
          kind: "date",
          name: "periodEnd",
          label: "Paid until",
          hint: "Licences last no longer than this and its grace. Blank: no end.",
          value:
            again?.get("periodEnd") ?? (team.periodEndAt === null ? "" : isoInstant(team.periodEndAt).slice(0, 10)),
        }),
      ],
      submit: "Save",
    }),
  }),
  section({
    title: "Invite somebody",
    says: "The link works once, for seven days.",
    framed: true,
    body: form({
      action: `${base}/invitations`,
      csrf,
      wrong: wrong?.form === "invite" && wrong.text,
      fields: [
        field({
          kind: "radios",
          name: "role",
          label: "Role",
          value: "owner",
          required: true,
          options: roleOptions(ROLES),
        }),
        field({
          kind: "email",
          name: "email",
          label: "E-mail address",
          hint: "If given, the link works for it alone.",
          autocomplete: "off",
        }),
      ],
      submit: "Make the invitation",
    }),
  }),
)}
${section({
  title: "People",
  body: table({
    caption: "People of the team",
    columns: [
      {
        label: "Person",
        heading: true,
        grow: true,
        cell: (member) =>
          anchor(
            href(`/settings/people/${member.userId}`),
            named(member, member.disabledAt !== null && badge("neutral", "closed")),
          ),
      },
      { label: "Role", cell: (member) => roleWord(member.role) },
      { label: "Last seen", cell: (member) => ago(member.lastSeenAt, now, "never") },
    ],
    rows: listMembers(core, team.id),
    empty: empty({
      title: "Nobody is in this team",
      says: "Invite an owner, who then connects devices and invites others.",
    }),
  }),
})}
${section({
  title: suspended ? "Restore the team" : "Suspend the team",
  says: suspended
    ? "Licences are given out again."
    : "No licence is given out while a team is suspended: its devices are answered 403 there. Nothing that was recorded is lost.",
  body: confirmButton({
    action: `${base}/suspended`,
    csrf,
    hidden: { suspended: suspended ? "false" : "true" },
    label: suspended ? "Restore" : "Suspend",
    question: suspended ? `Restore “${team.name}”?` : `Suspend “${team.name}”?`,
    confirm: suspended ? "Restore the team" : "Suspend the team",
    look: suspended ? "plain" : "danger",
  }),
})}`;
  return settingsFrame(call, {
    title: team.name,
    says: undefined,
    body,
    crumbs: [
      { label: "Settings", href: href("/settings") },
      { label: "Teams", href: href(PATH) },
      { label: team.name },
    ],
  });
}

function wanted({ core, params }: ByOperator): Team {
  const team = findTeam(core, params.id ?? "");
  if (!team || team.id !== params.id) fail(notFound, "There is no such team.");
  return team;
}

const by = (call: ByOperator) => actorOf(call.session, call.ip());
const access = "operator";

/** Shows the page again with what was wrong with what was sent. */
async function orAgain(
  work: () => Promise<Html | PageReply>,
  again: (text: string) => Html,
): Promise<Html | PageReply> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { status: error.status, body: again(error.message) };
  }
}

export const teamPages = [
  page({ id: "settingsTeams", method: "GET", path: "/settings/teams", access }, (call) => teamsPage(call)),
  page({ id: "settingsTeamCreate", method: "POST", path: "/settings/teams", access }, (call) =>
    orAgain(
      async () => {
        const { core, session, form: sent } = call;
        const plan = { ...readPlan(sent), ...(sent.has("own") ? { ownerId: session.userId } : {}) };
        const team = await createTeam(core, sent.get("name") ?? "", plan, by(call));
        return redirect(`${PATH}/${team.id}`, `The team “${team.name}” is made.`);
      },
      (text) => teamsPage(call, text),
    ),
  ),
  page({ id: "settingsTeam", method: "GET", path: "/settings/teams/:id", access }, (call) =>
    onePage(call, wanted(call)),
  ),
  page({ id: "settingsTeamChange", method: "POST", path: "/settings/teams/:id", access }, (call) => {
    const team = wanted(call);
    return orAgain(
      async () => {
        await updateTeam(call.core, team.id, readChange(call.form), by(call));
        return redirect(`${PATH}/${team.id}`, "Saved.");
      },
      (text) => onePage(call, team, { form: "team", text }),
    );
  }),
  page({ id: "settingsTeamSuspend", method: "POST", path: "/settings/teams/:id/suspended", access }, async (call) => {
    const team = wanted(call);
    const suspended = call.form.get("suspended") === "true";
    await updateTeam(call.core, team.id, { suspended }, by(call));
    return redirect(`${PATH}/${team.id}`, `“${team.name}” is ${suspended ? "suspended" : "restored"}.`);
  }),
  page({ id: "settingsTeamInvite", method: "POST", path: "/settings/teams/:id/invitations", access }, (call) => {
    const team = wanted(call);
    return orAgain(
      async () => {
        const role = readRole(call.form.get("role"));
        const email = call.form.get("email")?.trim() || null;
        const link = await createInvitation(call.core, { teamId: team.id, role, email }, by(call));
        return linkPage(call, link, {
          title: "The invitation is made",
          label: `Invitation into ${team.name} as ${role}${email === null ? "" : ` for ${email}`}`,
          says: invitationSays(email),
          back: `${PATH}/${team.id}`,
        });
      },
      (text) => onePage(call, team, { form: "invite", text }),
    );
  }),
];
