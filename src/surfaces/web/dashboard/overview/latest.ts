import { listDevices } from "../../../../identity/devices/devices.ts";
import { findSessions, freshenSessions } from "../../../../insight/sessions/sessions.ts";
import type { Html } from "../../../../kit/html.ts";
import { buttonLink } from "../../ui/button.ts";
import { table } from "../../ui/list.ts";
import { section } from "../../ui/parts.ts";
import { sessionTable } from "../sessions/table.ts";
import type { Member } from "../shared/call.ts";

const SHOWN = 8;

/** The sessions that began last. */
export async function latestSessions(call: Member): Promise<Html> {
  const { core, session, href } = call;
  await freshenSessions(core);
  const team = session.team.id;
  const { rows } = await findSessions(core, team, { limit: SHOWN });
  return section({
    title: "Latest sessions",
    actions: buttonLink("All sessions", href("/sessions"), { small: true }),
    body: table({ ...sessionTable(call, rows, { devices: listDevices(core, team) }), caption: "Latest sessions" }),
  });
}
