import { countMembers, type Member, pageOfMembers, removeMember } from "../../../../identity/members/members.ts";
import {
  createInvitation,
  listInvitations,
  revokeInvitation,
} from "../../../../identity/one-time-links/one-time-links.ts";
import { makers } from "../../../../identity/people/people.ts";
import { demandsSecondFactor, setSecondFactorDemanded } from "../../../../identity/teams/teams.ts";
import { html } from "../../../../kit/html.ts";
import { type PageCall, page, redirect } from "../../../../platform/http/page.ts";
import { buttonLink } from "../../ui/button.ts";
import { confirmButton } from "../../ui/confirm.ts";
import type { FormError } from "../../ui/form-spec.ts";
import { pager, type Table, table } from "../../ui/list.ts";
import { badge, empty, section } from "../../ui/parts.ts";
import { countdown, plural, time } from "../../ui/units.ts";
import { by, isAdmin } from "../shared/call.ts";
import { handleForm } from "../shared/forms.ts";
import { listPage, pagesAfter } from "../shared/list.ts";
import { flag, readParams, text } from "../shared/params.ts";
import { INVITATION, invitationPage, named, peopleTable, roleOptions, rolesFor, roleWord } from "./parts.ts";
import { personPages } from "./person.ts";

/** Who is in the team, and who is invited. */

type ByMember = PageCall<"member"> | PageCall<"admin">;

async function peoplePage(call: ByMember, error?: FormError) {
  const { core, session, query } = call;
  const { team } = session;
  const { q, after } = readParams({ q: text(200), after: text(300) }, query);
  const members = await pageOfMembers(core, team.id, q, after);
  const total = countMembers(core, team.id);
  return listPage(call, {
    title: "People",
    intro: `Who is in ${team.name}: ${plural(total, "person", "people")}.`,
    actions: isAdmin(call) && html`<a class="button primary" href="#invite">Invite somebody</a>`,
    path: "/people",
    id: "people",
    label: "Find people",
    filters: (total > 8 || q !== "") && [{ kind: "search", name: "q", label: "Name or address", value: q }],
    params: { q },
    table: memberTable(call, members.rows),
    pages: pagesAfter(after, members.next),
    below:
      isAdmin(call) &&
      html`${invitations(call, error)}
${secondFactorSwitch(call)}`,
  });
}

function memberTable(call: ByMember, rows: readonly Member[]): Table<Member> {
  const { session, href } = call;
  return peopleTable(
    call,
    rows,
    (member) =>
      named(member, [
        member.userId === session.userId && badge("info", "you"),
        member.disabledAt !== null && badge("neutral", "account closed"),
      ]),
    isAdmin(call) && {
      label: "Actions",
      hidden: true,
      cell: ({ email, userId }) =>
        buttonLink(html`Manage<span class="vh"> ${email}</span>`, href(`/people/${userId}`), { small: true }),
    },
    empty({ title: "Nobody of that name", intro: "Search for part of a name or an e-mail address." }),
  );
}

function invitations(call: ByMember, error?: FormError) {
  const { core, session, query, href } = call;
  const now = core.clock.now();
  const { rows, newer, older } = listInvitations(core, session.team.id, query.get("invited") ?? undefined);
  const at = (cursor?: string) => cursor && `${href("/people")}?invited=${cursor}#invitations`;
  return html`${section({
    title: "Invite somebody",
    id: "invite",
    intro: "Makes a link that works once, for seven days. Reckon sends no mail: you pass the link on.",
    framed: true,
    body: INVITATION.draw(call, {
      action: "/people/invitations",
      values: { role: "member" },
      error,
      vary: { role: { options: roleOptions(rolesFor(session.team.role)) } },
      submit: "Make the invitation",
    }),
  })}
${section({
  title: "Open invitations",
  id: "invitations",
  body: html`${table({
    caption: "Open invitations",
    columns: [
      { label: "For", heading: true, grow: true, cell: (invitation) => invitation.email ?? "whoever has the link" },
      { label: "Role", cell: (invitation) => invitation.role && roleWord(invitation.role) },
      {
        label: "Made by",
        cell: (invitation) =>
          html`${invitation.createdBy && makers.called(core, invitation.createdBy)}<br><small>${time(invitation.createdAt, now)}</small>`,
      },
      { label: "Expires", cell: (invitation) => countdown(invitation.expiresAt, now) },
      {
        label: "Actions",
        hidden: true,
        cell: (invitation) =>
          confirmButton(call, {
            action: `/people/invitations/${invitation.id}/revoke`,
            label: "Revoke",
            question: `Revoke the invitation for ${invitation.email ?? "whoever has the link"}? Its link stops working.`,
            confirm: "Revoke invitation",
            small: true,
          }),
      },
    ],
    rows,
    empty: empty({ title: "No open invitation", intro: "Invitations that nobody used yet stand here." }),
  })}${pager({ newer: at(newer), older: at(older) })}`,
})}`;
}

function secondFactorSwitch(call: ByMember) {
  const { core, session } = call;
  const demanded = demandsSecondFactor(core, [session.team.id]);
  return section({
    title: "Second factor",
    intro: demanded
      ? "Everybody who signs in with a password needs one."
      : "Nobody needs one. Who comes by single sign-on proves there what it demands.",
    body: confirmButton(call, {
      action: "/people/second-factor",
      hidden: { demanded: String(!demanded) },
      label: demanded ? "Make it optional" : "Demand a second factor",
      question: demanded
        ? "Let everybody in by password alone again?"
        : "Demand a second factor? Who has none is led to set one up before anything else, you included.",
      confirm: demanded ? "Make it optional" : "Demand it",
      look: "plain",
    }),
  });
}

export const peoplePages = [
  page({ id: "people", method: "GET", path: "/people", access: "member" }, (call) => peoplePage(call)),
  page({ id: "invite", method: "POST", path: "/people/invitations", access: "admin" }, (call) =>
    handleForm(
      call,
      INVITATION,
      async ({ role, email }) => {
        const { team } = call.session;
        const link = await createInvitation(call.core, { teamId: team.id, role, email }, by(call), team.role);
        return invitationPage(call, link, { team, role, email }, "/people");
      },
      (error) => peoplePage(call, error),
    ),
  ),
  page(
    { id: "revokeInvitation", method: "POST", path: "/people/invitations/:id/revoke", access: "admin" },
    async (call) => {
      await revokeInvitation(call.core, call.session.team.id, call.params.id ?? "", by(call));
      return redirect("/people", "The invitation is revoked.");
    },
  ),
  page({ id: "demandSecondFactor", method: "POST", path: "/people/second-factor", access: "admin" }, async (call) => {
    const { demanded } = readParams({ demanded: flag }, call.form);
    await setSecondFactorDemanded(call.core, call.session.team.id, demanded, by(call));
    return redirect(
      "/people",
      demanded ? "A second factor is demanded from now on." : "A second factor is optional now.",
    );
  }),
  page({ id: "leaveTeam", method: "POST", path: "/people/leave", access: "member", own: true }, async (call) => {
    const { core, session } = call;
    await removeMember(core, session.team.id, session.userId, by(call), session.team.role);
    return redirect("/account", `You left ${session.team.name}.`);
  }),
  ...personPages,
];
