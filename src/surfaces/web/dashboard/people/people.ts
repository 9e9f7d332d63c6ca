import {
  actorOf,
  countMembers,
  createInvitation,
  listInvitations,
  listMembers,
  MAX_LISTED,
  type Member,
  removeMember,
  revokeInvitation,
} from "../../../../identity/accounts/accounts.ts";
import { html } from "../../../../kit/html.ts";
import { Problem } from "../../../../kit/problem.ts";
import { type PageCall, page, redirect } from "../../../../platform/http/page.ts";
import { badge } from "../../ui/badge.ts";
import { buttonLink } from "../../ui/button.ts";
import { confirmButton } from "../../ui/confirm.ts";
import { empty } from "../../ui/empty.ts";
import { field } from "../../ui/field.ts";
import { filters } from "../../ui/filters.ts";
import { form } from "../../ui/form.ts";
import { pageHead } from "../../ui/page-head.ts";
import { section } from "../../ui/section.ts";
import { table } from "../../ui/table.ts";
import { ago, countdown, time } from "../../ui/time.ts";
import { plural } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { invitationSays, linkPage, named, readRole, roleOptions, rolesFor, roleWord } from "./parts.ts";
import { personPages } from "./person.ts";

/** Who is in the team, and who is invited. */

type ByMember = PageCall<"member"> | PageCall<"admin">;

const manages = ({ session }: ByMember) => session.team.role !== "member";

function peoplePage(call: ByMember, wrong?: string) {
  const { core, session, query, href } = call;
  const { team } = session;
  const text = (query.get("q") ?? "").slice(0, 200);
  const members = listMembers(core, team.id, text);
  const total = countMembers(core, team.id);
  const main = html`${pageHead({
    title: "People",
    says: `Who is in ${team.name}: ${plural(total, "person", "people")}.`,
    actions: manages(call) && html`<a class="button primary" href="#invite">Invite somebody</a>`,
  })}
${
  (total > 8 || text !== "") &&
  filters({
    action: href("/people"),
    label: "Find people",
    filters: [{ kind: "search", name: "q", label: "Name or address", value: text }],
    live: "#people",
  })
}
<div id="people" data-count="${members.length}">${memberTable(call, members)}
${members.length === MAX_LISTED && html`<p class="says">The first ${MAX_LISTED} are shown. Search for the others by name or address.</p>`}</div>
${manages(call) && invitations(call, wrong)}
${leave(call)}`;
  return frame(call, { title: "People", main });
}

function memberTable(call: ByMember, members: readonly Member[]) {
  const { core, session, href } = call;
  const now = core.clock.now();
  return table({
    caption: "People of the team",
    columns: [
      { label: "Person", heading: true, grow: true },
      { label: "Role" },
      { label: "Since" },
      { label: "Last seen" },
      ...(manages(call) ? [{ label: "Actions", hidden: true }] : []),
    ],
    rows: members.map((one) => [
      named(one, [
        one.userId === session.userId && badge("info", "you"),
        one.disabledAt !== null && badge("neutral", "account closed"),
      ]),
      roleWord(one.role),
      time(one.createdAt, now),
      ago(one.lastSeenAt, now, "never"),
      manages(call) &&
        buttonLink(html`Manage<span class="vh"> ${one.email}</span>`, href(`/people/${one.userId}`), { small: true }),
    ]),
    empty: empty({ title: "Nobody of that name", says: "Search for part of a name or an e-mail address." }),
  });
}

function invitations(call: ByMember, wrong?: string) {
  const { core, session, csrf, href, form: sent } = call;
  const now = core.clock.now();
  return html`${section({
    title: "Invite somebody",
    id: "invite",
    says: "Makes a link that works once, for seven days. Reckon sends no mail: you pass the link on.",
    framed: true,
    body: form({
      action: href("/people/invitations"),
      csrf,
      wrong,
      fields: [
        field({
          kind: "radios",
          name: "role",
          label: "Role",
          value: sent.get("role") ?? "member",
          required: true,
          options: roleOptions(rolesFor(session.team.role)),
        }),
        field({
          kind: "email",
          name: "email",
          label: "E-mail address",
          hint: "If you give one, the link works for that address alone.",
          value: sent.get("email"),
          autocomplete: "off",
        }),
      ],
      submit: "Make the invitation",
    }),
  })}
${section({
  title: "Open invitations",
  body: table({
    caption: "Open invitations",
    columns: [
      { label: "For", heading: true, grow: true },
      { label: "Role" },
      { label: "Made by" },
      { label: "Expires" },
      { label: "Actions", hidden: true },
    ],
    rows: listInvitations(core, session.team.id).map((one) => [
      one.email ?? "whoever has the link",
      one.role && roleWord(one.role),
      html`${one.createdBy}<br><small>${time(one.createdAt, now)}</small>`,
      countdown(one.expiresAt, now),
      confirmButton({
        action: href(`/people/invitations/${one.id}/revoke`),
        csrf,
        label: "Take back",
        question: `Take the invitation for ${one.email ?? "whoever has the link"} back? Its link stops working.`,
        confirm: "Take it back",
        small: true,
      }),
    ]),
    empty: empty({ title: "No open invitation", says: "Invitations that nobody used yet stand here." }),
  }),
})}`;
}

function leave({ session, csrf, href }: ByMember) {
  return section({
    title: "Leave the team",
    says: "You lose what the team records at once; what you did stays. Coming back takes an invitation.",
    body: confirmButton({
      action: href("/people/leave"),
      csrf,
      label: "Leave the team",
      question: `Leave “${session.team.name}”?`,
      confirm: "Leave the team",
    }),
  });
}

async function invite(call: PageCall<"admin">) {
  const { core, session, form: sent } = call;
  const role = readRole(sent.get("role"));
  const email = sent.get("email")?.trim() || null;
  const by = actorOf(session, call.ip());
  const link = await createInvitation(core, { teamId: session.team.id, role, email }, by, session.team.role);
  return linkPage(call, link, {
    title: "The invitation is made",
    label: email === null ? `Invitation as ${role}` : `Invitation for ${email} as ${role}`,
    says: invitationSays(email),
    back: "/people",
  });
}

export const peoplePages = [
  page({ id: "people", method: "GET", path: "/people", access: "member" }, (call) => peoplePage(call)),
  page({ id: "invite", method: "POST", path: "/people/invitations", access: "admin" }, async (call) => {
    try {
      return await invite(call);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return { status: error.status, body: peoplePage(call, error.message) };
    }
  }),
  page(
    { id: "revokeInvitation", method: "POST", path: "/people/invitations/:id/revoke", access: "admin" },
    async ({ core, session, params, ip }) => {
      await revokeInvitation(core, session.team.id, params.id ?? "", actorOf(session, ip()));
      return redirect("/people", "The invitation is taken back.");
    },
  ),
  page({ id: "leaveTeam", method: "POST", path: "/people/leave", access: "member" }, async (call) => {
    const { core, session } = call;
    await removeMember(core, session.team.id, session.userId, actorOf(session, call.ip()), session.team.role);
    return redirect("/account", `You left ${session.team.name}.`);
  }),
  ...personPages,
];
