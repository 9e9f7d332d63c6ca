import { countDevices } from "../../../../identity/devices/devices.ts";
import { getTeam } from "../../../../identity/teams/teams.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { number } from "../../ui/units.ts";
import { isAdmin, type Member } from "../shared/call.ts";

/** Tells owners and admins that more devices can report than there are seats; nothing where nobody pays. */
export function seatsWarning(call: Member): Html | false {
  const { core, session, href } = call;
  if (core.config.billing === "off" || !isAdmin(call)) return false;
  const { active } = countDevices(core, session.team.id, core.clock.now());
  const { seats } = getTeam(core, session.team.id);
  return (
    active > seats &&
    html`<div class="flash warn"><p>${number(active)} devices can report, and the team has ${number(seats)} seats. Nothing is refused for that. Revoke <a href="${href("/devices")}">devices</a> that are not used any more, or have whoever runs this installation raise the seats.</p></div>`
  );
}
