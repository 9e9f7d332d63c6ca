import { countDevices, createCode, listOpenCodes, revokeCode } from "../../../../identity/devices/devices.ts";
import { getTeam, setMembersBind } from "../../../../identity/teams/teams.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { fail, forbidden, notFound } from "../../../../kit/problem.ts";
import { page, redirect } from "../../../../platform/http/page.ts";
import { buttonLink } from "../../ui/button.ts";
import { actButton, confirmButton } from "../../ui/confirm.ts";
import { formSpec } from "../../ui/form-spec.ts";
import { table } from "../../ui/list.ts";
import { badge, empty, pageHead, secretOnce, section } from "../../ui/parts.ts";
import { ago, countdown, number } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { by, isAdmin, type Member } from "../shared/call.ts";
import { ID, readParams } from "../shared/params.ts";
import { ASK_AN_ADMIN, exchangeSteps, mayConnect } from "./connect.ts";
import { deviceList, visibleDevices } from "./list.ts";
import { deviceDetailPages } from "./one.ts";

/** The team's machines: connecting them, and what is known of each. */

const mintButton = (call: Member): Html =>
  actButton(call, { action: "/devices/codes", label: "Connect a device", look: "primary" });

const BINDING = formSpec({
  members: {
    kind: "checkbox",
    label: "Members connect machines of their own",
    hint: "They make a code for themselves, see their own machines and revoke them. Without this only owners and admins make codes.",
  },
});

function devicesPage(call: Member): Html {
  const { core, session } = call;
  const admin = isAdmin(call);
  const binds = mayConnect(call);
  const { active } = countDevices(core, session.team.id, core.clock.now());
  const { seats, bindingClosedAt } = getTeam(core, session.team.id);
  const any = visibleDevices(call).length > 0;
  const none = empty({
    title: admin ? "No devices yet" : "No devices of yours yet",
    intro: html`A device is a machine on which agents work. It is bound to the team with a connect code that works once, for 15 minutes. ${binds ? "The machine trades it for a token of its own." : ASK_AN_ADMIN}`,
    actions: binds && mintButton(call),
  });
  const main = html`${pageHead({
    title: "Devices",
    intro: admin
      ? `Machines that report to this team. Each that can report takes a seat: ${number(active)} of ${number(seats)} are taken.`
      : `Your machines that report to this team. ${binds ? "" : ASK_AN_ADMIN}`,
    actions: binds && any && mintButton(call),
  })}
${openCodes(call)}
<div class="stack">${deviceList(call, none)}</div>
${
  admin &&
  section({
    title: "Who connects machines",
    framed: true,
    body: BINDING.draw(call, {
      action: "/devices/binding",
      values: { members: bindingClosedAt === null },
      submit: "Save",
    }),
  })
}`;
  return frame(call, { title: "Devices", main });
}

/** Whose codes whoever looks may take back: all of the team's (null), or their own. */
const codesOf = (call: Member): string | null => (isAdmin(call) ? null : call.session.userId);

function openCodes(call: Member): Html | false {
  const { core, session } = call;
  const now = core.clock.now();
  const codes = listOpenCodes(core, session.team.id, codesOf(call));
  if (codes.length === 0) return false;
  return section({
    title: "Open connect codes",
    intro: "Each binds one machine. The codes themselves are not stored: make another when one is lost.",
    body: table({
      caption: "Open connect codes",
      columns: [
        { label: "Made by", heading: true, cell: (code) => code.createdBy ?? "unknown" },
        { label: "Made", cell: (code) => ago(code.createdAt, now) },
        { label: "Expires", cell: (code) => countdown(code.expiresAt, now) },
        {
          label: "Actions",
          hidden: true,
          cell: (code) =>
            confirmButton(call, {
              action: "/devices/codes/revoke",
              hidden: { id: code.id },
              label: "Revoke",
              question: `Revoke the code that ${code.createdBy ?? "somebody"} made? No machine can be connected with it then.`,
              confirm: "Revoke code",
              small: true,
            }),
        },
      ],
      rows: codes,
    }),
  });
}

async function mintPage(call: Member): Promise<Html> {
  const { core, session, baseUrl, href } = call;
  if (!mayConnect(call)) fail(forbidden, ASK_AN_ADMIN);
  const { code, expiresAt } = await createCode(core, session.team.id, undefined, by(call), session.userId);
  const now = core.clock.now();
  const main = html`${pageHead({
    title: "Connect a device",
    intro: `Whoever has this code can bind one machine to ${session.team.name}. It will be yours: what its agents do and cost counts as ${session.email}’s.`,
    crumbs: [{ label: "Devices", href: href("/devices") }, { label: "Connect" }],
  })}
<div class="stack">${secretOnce({
    label: html`Connect code ${badge("warn", "shown once")}`,
    value: code,
    intro: "Only its fingerprint is stored. It works once, in any case, with or without dashes.",
    more: countdown(expiresAt, now),
  })}
${exchangeSteps(baseUrl, code)}
<p>${buttonLink("Back to the devices", href("/devices"))}</p></div>`;
  return frame(call, { title: "Connect a device", main });
}

export const devicePages = [
  page({ id: "devices", method: "GET", path: "/devices", access: "member" }, devicesPage),
  page({ id: "mintCode", method: "POST", path: "/devices/codes", access: "member" }, mintPage),
  // Where the browser stands after minting: asking again must not mint again.
  page({ id: "mintedCode", method: "GET", path: "/devices/codes", access: "member" }, () => redirect("/devices")),
  page({ id: "revokeCode", method: "POST", path: "/devices/codes/revoke", access: "member" }, async (call) => {
    const { core, session, form } = call;
    if (!(await revokeCode(core, session.team.id, readParams(ID, form).id, by(call), codesOf(call))))
      fail(notFound, "There is no such open code: it was used, has expired, or was revoked before.");
    return redirect("/devices", "The connect code is revoked.");
  }),
  page({ id: "membersBind", method: "POST", path: "/devices/binding", access: "admin" }, async (call) => {
    const { members } = BINDING.read(call.form);
    await setMembersBind(call.core, call.session.team.id, members, by(call));
    return redirect(
      "/devices",
      members ? "Members connect machines of their own." : "Only owners and admins connect machines.",
    );
  }),
  ...deviceDetailPages,
];
