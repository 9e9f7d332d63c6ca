import * as v from "valibot";
import type { Device } from "../../../../identity/devices/devices.ts";
import { type Member, ROLES, type Role, roleName } from "../../../../identity/members/members.ts";
import type { OneTimeLink } from "../../../../identity/one-time-links/one-time-links.ts";
import { getTeam } from "../../../../identity/teams/teams.ts";
import { lastSeenAt } from "../../../../identity/web-sessions/web-sessions.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import type { PageCall } from "../../../../platform/http/page.ts";
import { buttonLink } from "../../ui/button.ts";
import { confirmButton } from "../../ui/confirm.ts";
import { formSpec, trimmed } from "../../ui/form-spec.ts";
import { type Column, type Table, table } from "../../ui/list.ts";
import { anchor, pageHead, secretOnce, section } from "../../ui/parts.ts";
import { ago, countdown, number, time } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { flag } from "../shared/params.ts";
import { seenLastFirst } from "../shared/people.ts";

/** What the pages about people share. */

/** What each role may do, in the order of `ROLES`. */
const ROLE_HINTS: Readonly<Record<Role, string>> = {
  owner: "Everything an admin may, and making and unmaking owners.",
  admin: "Manages every device, sets the policy, mints licences, invites and removes people.",
  member: "Connects their own machines, sees what the team's agents recorded, and judges what caused its defects.",
  viewer: "Sees what a member sees and changes nothing; connects no machines.",
  own_only: "Connects their own machines and sees what those sent: their sessions, telemetry and spend, nobody else's.",
};

/** The roles that somebody in a role may give. */
export const rolesFor = (role: Role): readonly Role[] =>
  role === "owner" ? ROLES : ROLES.filter((one) => one !== "owner");

/** A role as people read it. */
export const roleWord = (role: Role) => role.charAt(0).toUpperCase() + roleName(role).slice(1);

/** The roles to choose from, explained. */
export const roleOptions = (roles: readonly Role[]) =>
  roles.map((role) => ({ value: role, label: roleWord(role), hint: ROLE_HINTS[role] }));

/** Which role somebody has, or is to have. */
export const ROLE = {
  kind: "radios",
  label: "Role",
  required: true,
  options: roleOptions(ROLES),
  schema: v.picklist(ROLES, "Choose one of the roles."),
} as const;

/** Inviting somebody into a team. */
export const INVITATION = formSpec({
  role: ROLE,
  email: {
    kind: "email",
    label: "E-mail address",
    hint: "If you give one, the link works for that address alone.",
    autocomplete: "off",
    schema: v.pipe(
      trimmed,
      v.transform((email) => email || null),
    ),
  },
});

/** A person as lists name them: from the left as all of the list, whatever way the name is written. */
export const named = ({ name, email }: { readonly name: string | null; readonly email: string }, badges: Content) =>
  name === null ? html`${email} ${badges}` : html`<bdi>${name}</bdi> ${badges}<br><small>${email}</small>`;

/** The people of a team: for itself and for operators. @param person their first cell @param last a column of its own, e.g. of buttons */
export const peopleTable = (
  { core }: PageCall,
  rows: readonly Member[],
  person: (member: Member) => Content,
  last: Column<Member> | false,
  nobody: Html,
): Table<Member> => ({
  caption: "People of the team",
  columns: [
    { label: "Person", heading: true, grow: true, cell: person },
    { label: "Role", cell: ({ role }) => roleWord(role) },
    { label: "Since", cell: ({ createdAt }) => time(createdAt, core.clock.now()) },
    { label: "Last seen", cell: ({ userId }) => ago(lastSeenAt(core, userId), core.clock.now(), "never") },
    last,
  ],
  rows,
  empty: nobody,
});

/** The page that shows a link once. */
function linkPage(
  call: PageCall,
  link: OneTimeLink,
  words: { readonly title: string; readonly label: string; readonly intro: string; readonly back: string },
) {
  const main = html`${pageHead({ title: words.title })}
${secretOnce({
  label: words.label,
  value: call.baseUrl + link.path,
  intro: words.intro,
  more: countdown(link.expiresAt, call.core.clock.now()),
})}
<p>${buttonLink("Done", call.href(words.back))}</p>`;
  return frame(call, { title: words.title, main });
}

/** The page that shows once the link of an invitation that was just made. @param back where the page leads on to */
export const invitationPage = (
  call: PageCall,
  link: OneTimeLink,
  {
    team,
    role,
    email,
  }: { readonly team: { readonly name: string }; readonly role: Role; readonly email: string | null },
  back: string,
) =>
  linkPage(call, link, {
    title: "The invitation is made",
    label: `Invitation into ${team.name} as ${roleName(role)}${email === null ? "" : `, for ${email}`}`,
    intro: `Shown once. Pass it on to the person it is for: whoever opens it first ${email === null ? "joins the team" : "has the account for that address"}.`,
    back,
  });

/** Making a link for somebody who forgot their password. @param base of the person's page */
export const resetLinkSection = (call: PageCall, base: string, email: string) =>
  section({
    title: "Forgotten password",
    intro:
      "Makes a link with which the person chooses a new one. Whoever opens it has the account, so hand it over with care.",
    body: confirmButton(call, {
      action: `${base}/reset-link`,
      label: "Make a reset link",
      question: `Make a link that lets its holder choose a new password for ${email}? Earlier ones stop working.`,
      confirm: "Make the link",
      look: "plain",
    }),
  });

export const resetLinkPage = (call: PageCall, link: OneTimeLink, email: string, back: string) =>
  linkPage(call, link, {
    title: "The reset link is made",
    label: `For ${email}`,
    intro: "Shown once. It opens the account of this person: give it to nobody else.",
    back,
  });

/** Machines of a person that are shown: who runs what machines of one job report with may have thousands. */
const MAX_MACHINES = 100;

/** A person's machines that can report, which go on doing so whatever becomes of the person; nothing where there are none. */
export function machinesSection({ core, session, href }: PageCall, devices: readonly Device[]): Html | false {
  if (devices.length === 0) return false;
  const more = devices.length - MAX_MACHINES;
  const now = core.clock.now();
  return section({
    title: "Machines that report",
    intro: "They are this person’s, and go on reporting with tokens of their own until they are revoked.",
    body: html`${table({
      caption: "Machines that report",
      columns: [
        {
          label: "Device",
          heading: true,
          grow: true,
          cell: ({ id, label, teamId }) =>
            teamId === session?.team?.id ? anchor(href(`/devices/${id}`), label ?? id) : (label ?? id),
        },
        { label: "Team", cell: ({ teamId }) => getTeam(core, teamId).name },
        { label: "Connected", cell: ({ createdAt }) => time(createdAt, now) },
        { label: "Last seen", cell: ({ lastSeenAt }) => ago(lastSeenAt, now, "never") },
      ],
      rows: more > 0 ? seenLastFirst(devices).slice(0, MAX_MACHINES) : devices,
    })}${more > 0 && html`<p class="says">${number(more)} more, which were not seen since.</p>`}`,
  });
}

/** That a person's machines are revoked with what is done. */
export const REVOKE_DEVICES = { revoke_devices: flag };
