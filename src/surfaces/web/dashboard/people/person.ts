import { listDevices, revokeDevicesOf } from "../../../../identity/devices/devices.ts";
import { getMember, type Member, removeMember, roleName, setRole } from "../../../../identity/members/members.ts";
import { createMemberResetLink, createResetLink } from "../../../../identity/one-time-links/one-time-links.ts";
import { lastSeenAt } from "../../../../identity/web-sessions/web-sessions.ts";
import { html } from "../../../../kit/html.ts";
import { type PageCall, page, redirect } from "../../../../platform/http/page.ts";
import { buttonLink } from "../../ui/button.ts";
import { confirmButton } from "../../ui/confirm.ts";
import { formSpec } from "../../ui/form-spec.ts";
import { anchor, badge, facts, pageHead, section } from "../../ui/parts.ts";
import { ago, plural, time } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { by } from "../shared/call.ts";
import { link } from "../shared/links.ts";
import { readParams } from "../shared/params.ts";
import {
  machinesSection,
  REVOKE_DEVICES,
  ROLE,
  resetLinkPage,
  resetLinkSection,
  roleOptions,
  rolesFor,
  roleWord,
} from "./parts.ts";

/** One of the team's people, for those who manage them. */

type ByAdmin = PageCall<"admin">;

const ROLE_FORM = formSpec({ role: ROLE });

const memberOf = ({ core, session, params }: ByAdmin) => getMember(core, session.team.id, params.id ?? "");

function personPage(call: ByAdmin, member: Member) {
  const { core, session, href } = call;
  const now = core.clock.now();
  const who = member.name ?? member.email;
  const self = member.userId === session.userId;
  const outranked = member.role === "owner" && session.team.role !== "owner";
  const base = `/people/${member.userId}`;
  const reporting = listDevices(core, session.team.id, member.userId, "active");
  const main = html`${pageHead({
    title: who,
    crumbs: [{ label: "People", href: href("/people") }, { label: who }],
    intro: self ? "This is you." : undefined,
    actions: html`${buttonLink("Sessions", link(call, "/sessions", { person: member.userId }))} ${buttonLink("Spend", link(call, "/spend", { person: member.userId }))}`,
  })}
${facts([
  { label: "E-mail address", value: member.email },
  { label: "Role", value: roleWord(member.role) },
  { label: "Account", value: member.disabledAt === null ? badge("good", "open") : badge("neutral", "closed") },
  { label: "In the team since", value: time(member.createdAt, now) },
  { label: "Last seen", value: ago(lastSeenAt(core, member.userId), now, "never") },
])}
${machinesSection(call, reporting)}
${
  outranked
    ? html`<p class="says">Only an owner can change owners.</p>`
    : section({
        title: "Role",
        framed: true,
        body: ROLE_FORM.draw(call, {
          action: `${base}/role`,
          values: member,
          vary: { role: { label: `What ${who} may do`, options: roleOptions(rolesFor(session.team.role)) } },
          submit: "Change the role",
        }),
      })
}
${
  !outranked &&
  !self &&
  html`${resetLinkSection(call, base, member.email)}
${section({
  title: "Remove from the team",
  intro: html`The person loses the team's pages and reads at once. The account and what was done with it stay, until ${anchor(`${href("/retention")}#erase`, "it is erased")}.`,
  body: html`<div class="actions">${confirmButton(call, {
    action: `${base}/remove`,
    label: "Remove",
    question: `Remove ${member.email} from “${session.team.name}”?`,
    confirm: "Remove from the team",
  })}${
    reporting.length > 0 &&
    confirmButton(call, {
      action: `${base}/remove`,
      hidden: { revoke_devices: "true" },
      label: html`Remove, and revoke ${plural(reporting.length, "machine")}`,
      question: `Remove ${member.email} from “${session.team.name}”, and revoke what reports to it as theirs? Those machines have to be connected again to report.`,
      confirm: "Remove and revoke",
    })
  }</div>`,
})}`
}`;
  return frame(call, { title: who, main });
}

export const personPages = [
  page({ id: "person", method: "GET", path: "/people/:id", access: "admin" }, (call) =>
    personPage(call, memberOf(call)),
  ),
  page({ id: "personRole", method: "POST", path: "/people/:id/role", access: "admin" }, async (call) => {
    const { core, session, form } = call;
    const member = memberOf(call);
    const { role } = ROLE_FORM.read(form);
    await setRole(core, session.team.id, member.userId, role, by(call), session.team.role);
    return redirect("/people", `${member.email} has the role “${roleName(role)}” now.`);
  }),
  page({ id: "removePerson", method: "POST", path: "/people/:id/remove", access: "admin" }, async (call) => {
    const { core, session } = call;
    const member = memberOf(call);
    const { revoke_devices: revoke } = readParams(REVOKE_DEVICES, call.form);
    await removeMember(core, session.team.id, member.userId, by(call), session.team.role, () => {
      if (revoke) revokeDevicesOf(core, member.userId, by(call), session.team.id);
    });
    return redirect(
      "/people",
      `${member.email} is no longer in the team${revoke ? ", and the machines are revoked" : ""}.`,
    );
  }),
  page({ id: "personResetLink", method: "POST", path: "/people/:id/reset-link", access: "admin" }, async (call) => {
    const { core, session } = call;
    const { userId, email } = memberOf(call);
    // An operator may do this to everybody; an admin only to those whose whole account the team answers for.
    const link =
      session.operator && userId !== session.userId
        ? await createResetLink(core, userId, by(call))
        : await createMemberResetLink(core, session.team.id, userId, by(call), session.team.role);
    return resetLinkPage(call, link, email, `/people/${userId}`);
  }),
];
