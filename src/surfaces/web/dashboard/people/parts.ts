import { type OneTimeLink, ROLES, type Role } from "../../../../identity/accounts/accounts.ts";
import { type Content, html } from "../../../../kit/html.ts";
import { fail, invalid } from "../../../../kit/problem.ts";
import type { PageCall } from "../../../../platform/http/page.ts";
import { buttonLink } from "../../ui/button.ts";
import { pageHead, secretOnce } from "../../ui/parts.ts";
import { countdown } from "../../ui/units.ts";
import { frame } from "../frame.ts";

/** What the pages about people share. */

/** What each role may do, in the order of `ROLES`. */
const ROLE_HINTS: Readonly<Record<Role, string>> = {
  owner: "Everything an admin may, and making and unmaking owners.",
  admin: "Connects devices, sets the policy, mints licences, invites and removes people.",
  member: "Sees what the team's agents recorded, and judges what caused its defects.",
};

/** The roles that somebody in a role may give. */
export const rolesFor = (role: Role): readonly Role[] =>
  role === "owner" ? ROLES : ROLES.filter((one) => one !== "owner");

/** Reads a role from a form. @throws Problem for anything else */
export function readRole(given: string | null): Role {
  const role = ROLES.find((one) => one === given);
  if (!role) fail(invalid, "Choose one of the roles.");
  return role;
}

/** A role as people read it. */
export const roleWord = (role: Role) => role.charAt(0).toUpperCase() + role.slice(1);

/** The roles to choose from, explained. */
export const roleOptions = (roles: readonly Role[]) =>
  roles.map((role) => ({ value: role, label: roleWord(role), hint: ROLE_HINTS[role] }));

/** A person as lists name them. */
export const named = ({ name, email }: { readonly name: string | null; readonly email: string }, badges?: Content) =>
  name === null ? html`${email} ${badges}` : html`${name} ${badges}<br><small>${email}</small>`;

/** Why an invitation is to be handed over with care. */
export const invitationSays = (email: string | null) =>
  `Shown once. Pass it on to the person it is for: whoever opens it first ${email === null ? "joins the team" : "has the account for that address"}.`;

/** The page that shows a link once. */
export function linkPage(
  call: PageCall,
  link: OneTimeLink,
  words: { readonly title: string; readonly label: string; readonly says: string; readonly back: string },
) {
  const main = html`${pageHead({ title: words.title })}
${secretOnce({
  label: words.label,
  value: call.baseUrl + link.path,
  says: words.says,
  more: countdown(link.expiresAt, call.core.clock.now()),
})}
<p>${buttonLink("Done", call.href(words.back))}</p>`;
  return frame(call, { title: words.title, main });
}
