import { countDevices } from "../../../../identity/devices/devices.ts";
import { getTeam, tierHas } from "../../../../identity/teams/teams.ts";
import { errorCalendar } from "../../../../insight/defects/defects.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { listRepoKeys } from "../../../../record/telemetry/telemetry.ts";
import { listSessions } from "../../../../record/traces/traces.ts";
import { actButton } from "../../ui/confirm.ts";
import { connectLine } from "../../ui/connect-line.ts";
import { badge, codeBlock } from "../../ui/parts.ts";
import { askAnAdmin, mayConnect } from "../devices/connect.ts";
import type { Member } from "../shared/call.ts";

/** The way from nothing to a first error: what is done of it, and a command line for each step that is not. */

/** The first steps that a team has done already. */
export interface Begun {
  readonly device: boolean;
  readonly session: boolean;
  /** A session or entries of telemetry, which is all that some programs send. */
  readonly record: boolean;
  /** An entry of an errors file; null where the team's tier holds no brain. */
  readonly error: boolean | null;
}

/** Whether there is anything left to begin with. */
export const isBegun = ({ device, record, error }: Begun): boolean => device && record && error !== false;

export async function begunBy({ core, session }: Member): Promise<Begun> {
  const { id } = session.team;
  const hasSession = (await listSessions(core, id, { limit: 1 })).rows.length > 0;
  const holdsBrain = tierHas(getTeam(core, id).tier, "brain");
  return {
    device: countDevices(core, id, core.clock.now()).all > 0,
    session: hasSession,
    record: hasSession || listRepoKeys(core, id).length > 0,
    error: holdsBrain ? errorCalendar.holdsErrors(core, id) : null,
  };
}

/** Writes an entry as agents do, and sends it. */
const FIRST_ERROR = `mkdir -p .claude/brain && printf '## %s Tests failed after the upgrade\\n\\n**Prevention rule:** pin the version.\\n' "$(date +%F)" >> .claude/brain/errors.md && reckon agent run`;

interface Step {
  readonly title: string;
  readonly done: boolean;
  readonly says: Html;
  readonly line: string;
  /** Shown beside the step's text. */
  readonly act?: Html | false;
}

function stepsOf(call: Member, { device, session, error }: Begun): Step[] {
  const { baseUrl, href } = call;
  const docs = (slug: string, text: string) => html`<a href="${href(`/docs/${slug}`)}">${text}</a>`;
  return [
    {
      title: "Connect a device",
      done: device,
      says: mayConnect(call)
        ? html`On the machine that agents work on. The code works once, for 15 minutes; <code>--dry-run</code> changes and sends nothing. ${docs("capture", "What is read and sent")}.`
        : html`${askAnAdmin(call)}`,
      act:
        mayConnect(call) &&
        actButton(call, { action: "/devices/codes", label: "Make a connect code", look: "primary" }),
      line: connectLine(baseUrl),
    },
    {
      title: "Receive a session",
      done: session,
      says: html`Give an agent on it something to do. The last 30 days and each new session come by themselves; this sends at once:`,
      line: "reckon agent run",
    },
    ...(error === null
      ? []
      : [
          {
            title: "Record an error",
            done: error,
            says: html`Agents write down what went wrong in <code>.claude/brain/errors.md</code> of a repository, and Reckon finds the session that caused it. ${docs("defects", "How entries look")}. By hand, in a repository:`,
            line: FIRST_ERROR,
          },
        ]),
  ];
}

/** The steps; of those not done only the first is spelled out. The script looks every few seconds whether more is done. */
export function firstRun(call: Member, begun: Begun): Html {
  const steps = stepsOf(call, begun);
  const next = steps.findIndex(({ done }) => !done);
  const open = ({ says, act, line, title }: Step) =>
    html`<div class="timeline-body stack"><p class="says">${says}</p>${act && html`<p>${act}</p>`}${codeBlock(line, { label: title, wrap: true })}</div>`;
  return html`<section class="section" id="first-steps" data-poll="4" data-state="${next}" aria-label="First steps"><div class="section-head"><div><h2>First steps</h2><p class="says">${steps.filter(({ done }) => done).length} of ${steps.length} done.</p></div></div>
<div class="card"><ol class="timeline">${steps.map(
    (step, i) =>
      html`<li class="${step.done ? "good" : i === next ? "info" : "neutral"}"><p class="timeline-head"><strong>${i + 1}. ${step.title}</strong> ${step.done ? badge("good", "done") : i === next && badge("info", "next")}</p>${i === next && open(step)}</li>`,
  )}</ol></div></section>`;
}
