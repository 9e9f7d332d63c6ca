import { mayBind } from "../../../../identity/devices/devices.ts";
import { getTeam } from "../../../../identity/teams/teams.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { shellWord } from "../../../../kit/strings.ts";
import { buttonLink } from "../../ui/button.ts";
import { connectLine } from "../../ui/connect-line.ts";
import { codeBlock, empty } from "../../ui/parts.ts";
import type { Member } from "../shared/call.ts";

/** The commands that bind a machine and make it report, as they work when pasted into a POSIX shell. */

/** What stands in the place of a token that is not at hand. */
const TOKEN_PLACE = "$RECKON_TOKEN";

/** Trades a connect code for a device token; the machine's name becomes the device's label. */
export const exchangeCommand = (baseUrl: string, code: string): string =>
  `curl ${shellWord(`${baseUrl}/api/connect/exchange`)} -H 'content-type: application/json' \\
  -d '{"code":"${code}","consent":{"version":"1","deviceLabel":"'"$(hostname)"'"}}'`;

/** Sends a first telemetry entry. */
export const telemetryCommand = (baseUrl: string): string =>
  `curl ${shellWord(`${baseUrl}/api/telemetry/ingest`)} \\
  -H "authorization: Bearer ${TOKEN_PLACE}" -H 'content-type: application/json' \\
  -d '{"repoKey":"github.com/acme/shop","entries":[{"seq":1,"payload":{"type":"prompt","text":"Fix the login test"}}]}'`;

/** Whether whoever looks may connect a machine of their own. */
export const mayConnect = ({ core, session }: Member): boolean =>
  mayBind(core, getTeam(core, session.team.id), session.userId);

/** What somebody reads who may not, where others have a button. */
export const askAnAdmin = ({ session }: Member): string =>
  session.team.role === "viewer"
    ? "Viewers connect no machines: ask an owner or admin for another role."
    : "In this team only owners and admins connect machines: ask one for a connect code, or to let members do it themselves.";

/** A command to copy, below an empty state that says what it is for. */
export const command = (text: string): Html => codeBlock(text, { label: "Command", titled: true, wrap: true });

/** How a code is used, with the real address and the code itself where it is known. @param otelHref of the page for agents that export by themselves */
export function exchangeSteps(baseUrl: string, code: string, otelHref: string): Html {
  return html`${codeBlock(connectLine(baseUrl, code), { label: "On the machine", titled: true, wrap: true })}
<p class="says">It finds the coding agents there, says what it will read and change, asks, and sends their sessions of the last 30 days; from then on each follows by itself. With <code>--dry-run</code> it changes and sends nothing, and <code>reckon agent scan</code> shows what would leave the machine. <code>reckon agent disconnect</code> undoes it; what was sent stays.</p>
<details class="numbers"><summary>Without installing anything, or for a script of your own</summary>
${codeBlock(exchangeCommand(baseUrl, code), { label: "By HTTP", wrap: true })}
<p class="says">The answer holds the device token. It lives 90 days; <code>/api/connect/rotate</code> replaces it before. What agents export with it by themselves: <a href="${otelHref}">OpenTelemetry</a>.</p></details>`;
}

/** What stands where nothing was sent yet: what will be there, and the line that begins it. */
export const nothingSent = ({ baseUrl, href }: Member, title: string, says: string): Html =>
  empty({
    title,
    intro: html`${says} Connect the machine that agents work on, with a code from <a href="${href("/devices")}">Devices</a>:`,
    code: connectLine(baseUrl),
    actions: html`${buttonLink("Connect a device", href("/devices"), { look: "primary" })}${buttonLink("What is read and sent", href("/docs/capture"))}`,
  });
