import {
  actorOf,
  changeRole,
  createMemberResetLink,
  createResetLink,
  getMember,
  type Member,
  removeMember,
} from "../../../../identity/accounts/accounts.ts";
import { html } from "../../../../kit/html.ts";
import { type PageCall, page, redirect } from "../../../../platform/http/page.ts";
import { confirmButton } from "../../ui/confirm.ts";
import { field } from "../../ui/field.ts";
import { form } from "../../ui/form.ts";
import { badge, facts, pageHead, section } from "../../ui/parts.ts";
import { ago, time } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { linkPage, readRole, roleOptions, rolesFor, roleWord } from "./parts.ts";

/** One of the team's people, for those who manage them. */

type ByAdmin = PageCall<"admin">;

const memberOf = ({ core, session, params }: ByAdmin) => getMember(core, session.team.id, params.id ?? "");

function personPage(call: ByAdmin, member: Member) {
  const { core, session, csrf, href } = call;
  const now = core.clock.now();
  const who = member.name ?? member.email;
  const self = member.userId === session.userId;
  const outranked = member.role === "owner" && session.team.role !== "owner";
  const base = `/people/${member.userId}`;
  const main = html`${pageHead({
    title: who,
    crumbs: [{ label: "People", href: href("/people") }, { label: who }],
    says: self ? "This is you." : undefined,
  })}
${facts([
  { label: "E-mail address", value: member.email },
  { label: "Role", value: roleWord(member.role) },
  { label: "Account", value: member.disabledAt === null ? badge("good", "open") : badge("neutral", "closed") },
  { label: "In the team since", value: time(member.createdAt, now) },
  { label: "Last seen", value: ago(member.lastSeenAt, now, "never") },
])}
${
  outranked
    ? html`<p class="says">Only an owner can change owners.</p>`
    : section({
        title: "Role",
        framed: true,
        body: form({
          action: href(`${base}/role`),
          csrf,
          fields: field({
            kind: "radios",
            name: "role",
            label: `What ${who} may do`,
            value: member.role,
            required: true,
            options: roleOptions(rolesFor(session.team.role)),
          }),
          submit: "Change the role",
        }),
      })
}
${
  !outranked &&
  !self &&
  html`${section({
    title: "Forgotten password",
    says: "Makes a link with which the person chooses a new one. Whoever opens it has the account, so hand it over with care.",
    body: confirmButton({
      action: href(`${base}/reset-link`),
      csrf,
      label: "Make a reset link",
      question: `Make a link that lets its holder choose a new password for ${member.email}? Earlier ones stop working.`,
      confirm: "Make the link",
      look: "plain",
    }),
  })}
${section({
  title: "Remove from the team",
  says: "The person loses the team's pages and reads at once. The account and what was done with it stay.",
  body: confirmButton({
    action: href(`${base}/remove`),
    csrf,
    label: "Remove",
    question: `Remove ${member.email} from “${session.team.name}”?`,
    confirm: "Remove from the team",
  }),
})}`
}`;
  return frame(call, { title: who, main });
}

export const personPages = [
  page({ id: "person", method: "GET", path: "/people/:id", access: "admin" }, (call) =>
    personPage(call, memberOf(call)),
  ),
  page({ id: "personRole", method: "POST", path: "/people/:id/role", access: "admin" }, async (call) => {
    const { core, session, form: sent } = call;
    const member = memberOf(call);
    const role = readRole(sent.get("role"));
    await changeRole(core, session.team.id, member.userId, role, actorOf(session, call.ip()), session.team.role);
    return redirect("/people", `${member.email} has the role “${role}” now.`);
  }),
  page({ id: "removePerson", method: "POST", path: "/people/:id/remove", access: "admin" }, async (call) => {
    const { core, session } = call;
    const member = memberOf(call);
    await removeMember(core, session.team.id, member.userId, actorOf(session, call.ip()), session.team.role);
    return redirect("/people", `${member.email} is no longer in the team.`);
  }),
  page({ id: "personResetLink", method: "POST", path: "/people/:id/reset-link", access: "admin" }, async (call) => {
    const { core, session } = call;
    const { userId, email } = memberOf(call);
    const by = actorOf(session, call.ip());
    // An operator may do this to everybody; an admin only to those whose whole account the team answers for.
    const link =
      session.operator && userId !== session.userId
        ? await createResetLink(core, userId, by)
        : await createMemberResetLink(core, session.team.id, userId, by, session.team.role);
    return linkPage(call, link, {
      title: "The reset link is made",
      label: `For ${email}`,
      says: "Shown once. It opens the account of this person: give it to nobody else.",
      back: `/people/${userId}`,
    });
  }),
];
