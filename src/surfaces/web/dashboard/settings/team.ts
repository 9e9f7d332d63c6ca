import * as v from "valibot";
import { noteSeats } from "../../../../identity/devices/devices.ts";
import { pageOfMembers } from "../../../../identity/members/members.ts";
import { createInvitation } from "../../../../identity/one-time-links/one-time-links.ts";
import { findTeam, MAX_SEATS, SUBSCRIPTIONS, type Team, TIERS, updateTeam } from "../../../../identity/teams/teams.ts";
import { isoDate } from "../../../../kit/clock.ts";
import { html } from "../../../../kit/html.ts";
import { fail, notFound } from "../../../../kit/problem.ts";
import { page, redirect } from "../../../../platform/http/page.ts";
import { confirmButton } from "../../ui/confirm.ts";
import { type FormError, formSpec, trimmed } from "../../ui/form-spec.ts";
import { anchor, badge, columns, empty, facts, type Kind, section } from "../../ui/parts.ts";
import { number, time } from "../../ui/units.ts";
import { INVITATION, invitationPage, named, peopleTable } from "../people/parts.ts";
import { type ByOperator, by } from "../shared/call.ts";
import { changedFields, drawnWith, handleForm } from "../shared/forms.ts";
import { list, pagesAfter } from "../shared/list.ts";
import { flag, readParams } from "../shared/params.ts";
import { PARAMS, settingsFrame } from "./parts.ts";

/** One team of the installation: what it has paid for, who is in it. */

export const PATH = "/settings/teams";

const STATES: Readonly<Record<Team["subscription"], { kind: Kind; label: string }>> = {
  active: { kind: "good", label: "active" },
  trialing: { kind: "info", label: "trialing" },
  past_due: { kind: "warn", label: "past due" },
  canceled: { kind: "bad", label: "canceled" },
  none: { kind: "neutral", label: "none" },
};

export function state(team: Team) {
  if (team.suspendedAt !== null) return badge("bad", "suspended");
  const { kind, label } = STATES[team.subscription];
  return badge(kind, label);
}

const PERIOD_MESSAGE = "The end of the paid period is a day such as 2026-12-31.";
const SEATS_MESSAGE = `Seats are a whole number up to ${number(MAX_SEATS)}.`;

/** What a team is called and may use. */
export const PLAN = {
  name: { kind: "text", label: "Name", required: true, maxLength: 200, schema: trimmed },
  tier: {
    kind: "select",
    label: "Tier",
    options: [
      { value: "none", label: "none: agents can send nothing" },
      { value: "starter", label: "starter: telemetry" },
      { value: "team", label: "team: telemetry, brain, traces" },
      { value: "enterprise", label: "enterprise: everything" },
    ],
    schema: v.picklist(TIERS, "Choose one of the tiers."),
  },
  seats: {
    kind: "number",
    label: "Seats",
    required: true,
    min: 0,
    max: MAX_SEATS,
    step: 1,
    schema: v.pipe(
      trimmed,
      v.regex(/^\d{1,7}$/, SEATS_MESSAGE),
      v.transform(Number),
      v.maxValue(MAX_SEATS, SEATS_MESSAGE),
    ),
  },
} as const;

const TEAM = formSpec({
  ...PLAN,
  subscription: {
    kind: "select",
    label: "Subscription",
    hint: "Past due keeps working for 14 days; canceled and none get no licence.",
    options: SUBSCRIPTIONS.map((value) => ({ value, label: STATES[value].label })),
    schema: v.picklist(SUBSCRIPTIONS, "Choose one of the states of the subscription."),
  },
  // A day, which ends at its midnight UTC.
  periodEnd: {
    kind: "date",
    label: "Paid until",
    hint: "Licences last no longer than this and its grace. Blank: no end.",
    schema: v.pipe(
      trimmed,
      v.regex(/^(\d{4}-\d{2}-\d{2})?$/, PERIOD_MESSAGE),
      v.transform((day) => (day === "" ? null : Date.parse(`${day}T00:00:00Z`))),
      v.check((at) => !Number.isNaN(at), PERIOD_MESSAGE),
    ),
  },
});

type Planned = Pick<Team, "name" | "tier" | "seats" | "subscription" | "periodEndAt">;

const shownOf = ({ name, tier, seats, subscription, periodEndAt }: Planned) => ({
  ...{ name, tier, seats: String(seats), subscription },
  periodEnd: periodEndAt === null ? "" : isoDate(periodEndAt),
});

const LABELS = {
  ...{ name: "the name", tier: "the tier", seats: "the number of seats", subscription: "the subscription" },
  periodEnd: "the end of the paid period",
} as const satisfies Record<keyof ReturnType<typeof shownOf>, string>;

async function teamPage(call: ByOperator, team: Team, error?: FormError) {
  const { core, href } = call;
  const now = core.clock.now();
  const { after } = readParams(PARAMS, call.query);
  const people = await pageOfMembers(core, team.id, "", after);
  const body = html`${facts([
    { label: "State", value: state(team) },
    { label: "Suspended", value: team.suspendedAt !== null && time(team.suspendedAt, now) },
    { label: "Subscription since", value: time(team.subscriptionChangedAt, now) },
    { label: "Made", value: time(team.createdAt, now) },
    { label: "Id", value: html`<code>${team.id}</code>` },
  ])}
${columns(
  section({
    title: "Plan",
    framed: true,
    body: TEAM.draw(call, {
      action: `${PATH}/${team.id}`,
      values: shownOf(team),
      hidden: drawnWith(shownOf(team), call, error),
      error,
      submit: "Save",
    }),
  }),
  section({
    title: "Invite somebody",
    intro: "The link works once, for seven days.",
    framed: true,
    body: INVITATION.draw(call, {
      action: `${PATH}/${team.id}/invitations`,
      values: { role: "owner" },
      error,
      submit: "Make the invitation",
    }),
  }),
)}
${section({
  title: "People",
  id: "people",
  body: list(call, {
    path: `${PATH}/${team.id}`,
    hash: "#people",
    table: peopleTable(
      call,
      people.rows,
      (member) =>
        anchor(
          href(`/settings/people/${member.userId}`),
          named(member, member.disabledAt !== null && badge("neutral", "closed")),
        ),
      false,
      empty({
        title: "Nobody is in this team",
        intro: "Invite an owner, who then connects devices and invites others.",
      }),
    ),
    pages: pagesAfter(after, people.next),
  }),
})}
${suspension(call, team)}`;
  return settingsFrame(call, {
    title: team.name,
    intro: undefined,
    body,
    crumbs: [
      { label: "Settings", href: href("/settings") },
      { label: "Teams", href: href(PATH) },
      { label: team.name },
    ],
  });
}

function suspension(call: ByOperator, team: Team) {
  const suspended = team.suspendedAt !== null;
  return section({
    title: suspended ? "Restore the team" : "Suspend the team",
    intro: suspended
      ? "Licences are given out again."
      : "No licence is given out while a team is suspended: its devices are answered 403 there. Nothing that was recorded is lost.",
    body: confirmButton(call, {
      action: `${PATH}/${team.id}/suspended`,
      hidden: { suspended: suspended ? "false" : "true" },
      label: suspended ? "Restore" : "Suspend",
      question: suspended ? `Restore “${team.name}”?` : `Suspend “${team.name}”?`,
      confirm: suspended ? "Restore the team" : "Suspend the team",
      look: suspended ? "plain" : "danger",
    }),
  });
}

/** @throws Problem (404) for a team that is not there */
function teamIn({ core, params }: ByOperator): Team {
  const team = findTeam(core, params.id ?? "");
  if (!team || team.id !== params.id) fail(notFound, "There is no such team.");
  return team;
}

const access = "operator";

export const teamDetailPages = [
  page({ id: "settingsTeam", method: "GET", path: `${PATH}/:id`, access }, (call) => teamPage(call, teamIn(call))),
  page({ id: "settingsTeamChange", method: "POST", path: `${PATH}/:id`, access }, (call) => {
    const team = teamIn(call);
    return handleForm(
      call,
      TEAM,
      async ({ periodEnd: periodEndAt, ...rest }) => {
        const sent = { ...rest, periodEndAt };
        const now = shownOf(team);
        const mine = changedFields(
          call,
          now,
          shownOf(sent),
          (name) => `${LABELS[name]} is ${now[name] || "blank"} now`,
        );
        const change = mine.map((name) => (name === "periodEnd" ? { periodEndAt } : { [name]: sent[name] }));
        await updateTeam(call.core, team.id, Object.assign({}, ...change), by(call), noteSeats);
        return redirect(`${PATH}/${team.id}`, "Saved.");
      },
      (error) => teamPage(call, team, error),
    );
  }),
  page({ id: "settingsTeamSuspend", method: "POST", path: `${PATH}/:id/suspended`, access }, async (call) => {
    const team = teamIn(call);
    const { suspended } = readParams({ suspended: flag }, call.form);
    await updateTeam(call.core, team.id, { suspended }, by(call));
    return redirect(`${PATH}/${team.id}`, `“${team.name}” is ${suspended ? "suspended" : "restored"}.`);
  }),
  page({ id: "settingsTeamInvite", method: "POST", path: `${PATH}/:id/invitations`, access }, (call) => {
    const team = teamIn(call);
    return handleForm(
      call,
      INVITATION,
      async ({ role, email }) => {
        const link = await createInvitation(call.core, { teamId: team.id, role, email }, by(call));
        return invitationPage(call, link, { team, role, email }, `${PATH}/${team.id}`);
      },
      (error) => teamPage(call, team, error),
    );
  }),
];
