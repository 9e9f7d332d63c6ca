import { countDevices, listDevices } from "../../../../identity/devices/devices.ts";
import { getTeam, setMembersBind } from "../../../../identity/teams/teams.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { cooperative } from "../../../../kit/yield.ts";
import { page, redirect } from "../../../../platform/http/page.ts";
import { buttonLink } from "../../ui/button.ts";
import { actButton } from "../../ui/confirm.ts";
import { formSpec } from "../../ui/form-spec.ts";
import { empty, pageHead, section, stats } from "../../ui/parts.ts";
import { number } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { by, isAdmin, type Member } from "../shared/call.ts";
import { seesOwn } from "../shared/sight.ts";
import { codePages, FLEET_PATH, openCodes } from "./codes.ts";
import { askAnAdmin, mayConnect } from "./connect.ts";
import { reporting } from "./figures.ts";
import { deviceList } from "./list.ts";
import { deviceDetailPages } from "./one.ts";
import { OTEL_PATH, otelPages } from "./otel.ts";
import { pulsesSection } from "./pulses.ts";
import { seatsWarning } from "./seats.ts";

/** The team's machines: connecting them, and what is known of each. */

const mintButtons = (call: Member): Html =>
  html`${buttonLink("OpenTelemetry", call.href(OTEL_PATH))}${isAdmin(call) && buttonLink("Connect many", call.href(FLEET_PATH))}${actButton(call, { action: "/devices/codes", label: "Connect a device", look: "primary" })}`;

const BINDING = formSpec({
  members: {
    kind: "checkbox",
    label: "Members connect machines of their own",
    hint: "They make a code for themselves, see their own machines and revoke them. Without this only owners and admins make codes.",
  },
});

async function devicesPage(call: Member): Promise<Html> {
  const { core, session } = call;
  const admin = isAdmin(call);
  const binds = mayConnect(call);
  // Of thousands of devices each of these takes a while.
  const yieldNow = cooperative(core.clock);
  const { active } = countDevices(core, session.team.id, core.clock.now());
  const { seats, bindingClosedAt } = getTeam(core, session.team.id);
  const all = listDevices(core, session.team.id);
  await yieldNow();
  const any = all.some(({ personId }) => admin || personId === session.userId);
  const none = empty({
    title: admin ? "No devices yet" : "No devices of yours yet",
    intro: html`A device is a machine on which agents work. It is bound to the team with a connect code that works once, for 15 minutes. ${binds ? "The machine trades it for a token of its own." : askAnAdmin(call)}`,
    actions: binds && mintButtons(call),
  });
  const found = deviceList(call, all, none);
  await yieldNow();
  const main = html`${pageHead({
    title: "Devices",
    intro: admin
      ? `Machines that report to this team. ${core.config.billing === "off" ? "" : `Each that can report takes a seat: ${number(active)} of ${number(seats)} are taken.`}`
      : `Your machines that report to this team. ${binds ? "" : askAnAdmin(call)}`,
    actions: binds && any && mintButtons(call),
  })}
${seatsWarning(call)}
${!seesOwn(call) && all.length > 0 && html`<section class="section" aria-label="Figures">${stats(reporting(call, all.filter(({ revokedAt }) => revokedAt === null).length))}</section>`}
${openCodes(call)}
<div class="stack">${found}</div>
${!seesOwn(call) && (await pulsesSection(call, new Map(all.map(({ id, label }) => [id, label]))))}
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

export const devicePages = [
  page({ id: "devices", method: "GET", path: "/devices", access: "member", narrows: true }, devicesPage),
  ...codePages,
  ...otelPages,
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
