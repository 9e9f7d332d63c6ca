import type { Core } from "../../../../core.ts";
import { listDevices } from "../../../../identity/devices/devices.ts";
import { membershipsOf, ownedAlone } from "../../../../identity/members/members.ts";
import { createResetLink } from "../../../../identity/one-time-links/one-time-links.ts";
import { getListedUser, type ListedUser, pageOfUsers, setOperator } from "../../../../identity/people/people.ts";
import { hasFactor, resetFactors } from "../../../../identity/second-factor/second-factor.ts";
import { setDisabled } from "../../../../identity/sign-in/sign-in.ts";
import { waysIn } from "../../../../identity/sso/sso.ts";
import { lastSeenAt } from "../../../../identity/web-sessions/web-sessions.ts";
import { html } from "../../../../kit/html.ts";
import { conflict, fail } from "../../../../kit/problem.ts";
import { page, redirect } from "../../../../platform/http/page.ts";
import { confirmButton } from "../../ui/confirm.ts";
import { table } from "../../ui/list.ts";
import { anchor, badge, empty, facts, section } from "../../ui/parts.ts";
import { ago, plural, time } from "../../ui/units.ts";
import { machinesSection, REVOKE_DEVICES, resetLinkPage, resetLinkSection, roleWord } from "../people/parts.ts";
import { type ByOperator, by } from "../shared/call.ts";
import { list, pagesAfter } from "../shared/list.ts";
import { flag, readParams } from "../shared/params.ts";
import { PARAMS, settingsFrame } from "./parts.ts";

/** Every account of the installation. */

const PAGE = 50;
const PATH = "/settings/people";

const state = (user: ListedUser) => (user.disabledAt === null ? badge("good", "open") : badge("neutral", "closed"));

function accountsPage(call: ByOperator) {
  const { core, query, href } = call;
  const now = core.clock.now();
  const { q, after } = readParams(PARAMS, query);
  const { rows, next } = pageOfUsers(core, q, PAGE, after);
  const body = list(call, {
    path: PATH,
    params: { q },
    id: "accounts",
    label: "Find accounts",
    filters: [{ kind: "search", name: "q", label: "Name or address", value: q }],
    table: {
      caption: "Accounts",
      columns: [
        {
          label: "Person",
          heading: true,
          grow: true,
          cell: (user) =>
            html`<a href="${href(`${PATH}/${user.id}`)}"><bdi>${user.name ?? user.email}</bdi></a>${user.operator === 1 && html` ${badge("info", "operator")}`}${user.name !== null && html`<br><small>${user.email}</small>`}`,
        },
        { label: "Account", cell: state },
        {
          label: "Teams",
          cell: (user) =>
            membershipsOf(core, user.id)
              .map(({ name }) => name)
              .join(", ") || "none",
        },
        { label: "Last seen", cell: (user) => ago(lastSeenAt(core, user.id), now, "never") },
      ],
      rows,
      empty: empty({
        title: "Nobody of that name",
        intro:
          "Search for part of a name or an e-mail address. A new account is made by an invitation into a team, or by",
        code: "reckon user create EMAIL --password-stdin",
      }),
    },
    pages: pagesAfter(after, next),
  });
  return settingsFrame(call, { title: "Accounts", intro: "Everybody who can sign in, whatever their team.", body });
}

function onePage(call: ByOperator, user: ListedUser) {
  const { core, session, href } = call;
  const now = core.clock.now();
  const self = user.id === session.userId;
  const reporting = listDevices(core, undefined, user.id, "active");
  const body = html`${facts([
    { label: "E-mail address", value: user.email },
    { label: "Account", value: state(user) },
    { label: "Operator", value: user.operator === 1 ? "yes: runs this installation" : "no" },
    { label: "Made", value: time(user.createdAt, now) },
    { label: "Last seen", value: ago(lastSeenAt(core, user.id), now, "never") },
    { label: "Id", value: html`<code>${user.id}</code>` },
  ])}
${section({
  title: "Teams",
  body: table({
    caption: "Teams",
    columns: [
      {
        label: "Team",
        heading: true,
        grow: true,
        cell: ({ id, name }) => anchor(href(`/settings/teams/${id}`), name),
      },
      { label: "Role", cell: ({ role }) => roleWord(role) },
    ],
    rows: membershipsOf(core, user.id),
    empty: empty({ title: "In no team", intro: "Invite this person from a team's page." }),
  }),
})}
${machinesSection(call, reporting)}
${resetLinkSection(call, `${PATH}/${user.id}`, user.email)}
${
  !self &&
  html`${operatorRight(call, user)}
${secondFactorReset(call, user)}
${ssoRelease(call, user)}
${closing(call, user, reporting.length)}`
}`;
  return settingsFrame(call, {
    title: user.name ?? user.email,
    intro: self ? "This is you." : undefined,
    body,
    crumbs: [
      { label: "Settings", href: href("/settings") },
      { label: "Accounts", href: href(PATH) },
      { label: user.email },
    ],
  });
}

function operatorRight(call: ByOperator, { id, email, operator }: ListedUser) {
  const isOperator = operator === 1;
  return section({
    title: "Operator",
    intro:
      "Operators see these pages: every team's subscription, every account, the whole audit. A team's record they see only as one of its people.",
    body: confirmButton(call, {
      action: `${PATH}/${id}/operator`,
      hidden: { operator: String(!isOperator) },
      label: isOperator ? "Take the right away" : "Make an operator",
      question: isOperator ? `Is ${email} no longer an operator?` : `May ${email} run this installation?`,
      confirm: isOperator ? "Take it away" : "Make an operator",
      look: isOperator ? "danger" : "plain",
    }),
  });
}

/** Names the teams that nobody can administer while this account is closed; "" for none. */
function ownerless(core: Core, userId: string): string {
  const names = ownedAlone(core, userId).map(({ name }) => name);
  return names.length === 0 ? "" : ` No other owner who can sign in: ${names.join(", ")}.`;
}

/** @param reporting how many machines report as this person's */
function closing(call: ByOperator, { id, email, disabledAt }: ListedUser, reporting: number) {
  const open = disabledAt === null;
  const left = open ? ownerless(call.core, id) : "";
  const action = `${PATH}/${id}/disabled`;
  return section({
    title: open ? "Close the account" : "Open the account again",
    intro: open
      ? "Sign-ins end, command-line, read and API tokens stop working. What the person did stays."
      : "The person can sign in again with the old password. Ended sign-ins stay ended.",
    body: html`<div class="actions">${confirmButton(call, {
      action,
      hidden: { disabled: String(open) },
      label: open ? "Close the account" : "Open the account",
      question: open ? `Close the account of ${email}?${left}` : `Open the account of ${email} again?`,
      confirm: open ? "Close it" : "Open it",
      look: open ? "danger" : "plain",
    })}${
      reporting > 0 &&
      confirmButton(call, {
        action,
        hidden: { disabled: "true", revoke_devices: "true" },
        label: html`${open ? "Close it, and revoke" : "Revoke"} ${plural(reporting, "machine")}`,
        question: `${open ? `Close the account of ${email}, and revoke` : "Revoke"} what reports as theirs? Those machines have to be connected again to report.${left}`,
        confirm: open ? "Close and revoke" : "Revoke the machines",
      })
    }</div>`,
  });
}

/** For somebody who cannot sign in any more; nothing where they have no second factor. */
function secondFactorReset(call: ByOperator, user: ListedUser) {
  if (!hasFactor(call.core, user.id)) return false;
  return section({
    title: "Second factor",
    intro: "For somebody who lost theirs, recovery codes included. Make sure that it is them who ask.",
    body: confirmButton(call, {
      action: `${PATH}/${user.id}/second-factor`,
      label: "Remove the second factor",
      question: `Remove the second factors of ${user.email}? The password alone opens the account then. Their sign-ins end.`,
      confirm: "Remove",
    }),
  });
}

/** For an address that was given to somebody else; nothing where no issuer ever brought anybody to the account. */
function ssoRelease(call: ByOperator, { id, email, operator }: ListedUser) {
  if (operator === 1 || !waysIn.isHeld(call.core, id)) return false;
  return section({
    title: "Single sign-on",
    intro: `This account belongs to the person whose single sign-on first led to it. Anybody else whom an issuer names by ${email} is refused.`,
    body: confirmButton(call, {
      action: `${PATH}/${id}/unlink`,
      label: "Leave it to somebody else",
      question: `Leave this account, with its teams and all that was recorded of it, to whom an issuer names by ${email} next? The password, links, second factors, sign-ins and tokens of now end; machines stay connected.`,
      confirm: "Leave it to them",
      look: "danger",
    }),
  });
}

const userIn = ({ core, params }: ByOperator) => getListedUser(core, params.id ?? "");

/** Taking one's own rights away by a slip would leave nobody to undo it. */
function requireOther({ session }: ByOperator, user: ListedUser): void {
  if (user.id === session.userId) fail(conflict, "Another operator has to do this to your own account.");
}

const access = "operator";

export const accountPagesOfAll = [
  page(
    { id: "settingsSecondFactor", method: "POST", path: "/settings/people/:id/second-factor", access },
    async (call) => {
      const user = userIn(call);
      requireOther(call, user);
      await resetFactors(call.core, user.id, by(call));
      return redirect(`${PATH}/${user.id}`, `${user.email} has no second factor any more, and is signed out.`);
    },
  ),
  page({ id: "settingsUnlink", method: "POST", path: "/settings/people/:id/unlink", access }, async (call) => {
    const user = userIn(call);
    await waysIn.release(call.core, user.id, by(call));
    return redirect(`${PATH}/${user.id}`, `Nothing leads into the account of ${user.email} until single sign-on does.`);
  }),
  page({ id: "settingsPeople", method: "GET", path: "/settings/people", access }, accountsPage),
  page({ id: "settingsPerson", method: "GET", path: "/settings/people/:id", access }, (call) =>
    onePage(call, userIn(call)),
  ),
  page({ id: "settingsDisable", method: "POST", path: "/settings/people/:id/disabled", access }, async (call) => {
    const user = userIn(call);
    requireOther(call, user);
    const { disabled, revoke_devices: revoke } = readParams({ disabled: flag, ...REVOKE_DEVICES }, call.form);
    await setDisabled(call.core, user.id, disabled, by(call), revoke);
    const machines = disabled && revoke ? ", and the machines are revoked" : "";
    return redirect(
      `${PATH}/${user.id}`,
      `The account of ${user.email} is ${disabled ? "closed" : "open"}${machines}.${disabled ? ownerless(call.core, user.id) : ""}`,
    );
  }),
  page({ id: "settingsOperator", method: "POST", path: "/settings/people/:id/operator", access }, async (call) => {
    const user = userIn(call);
    requireOther(call, user);
    const { operator } = readParams({ operator: flag }, call.form);
    await setOperator(call.core, user.id, operator, by(call));
    return redirect(`${PATH}/${user.id}`, `${user.email} is ${operator ? "an" : "no"} operator now.`);
  }),
  page({ id: "settingsReset", method: "POST", path: "/settings/people/:id/reset-link", access }, async (call) => {
    const user = userIn(call);
    const link = await createResetLink(call.core, user.id, by(call));
    return resetLinkPage(call, link, user.email, `${PATH}/${user.id}`);
  }),
];
