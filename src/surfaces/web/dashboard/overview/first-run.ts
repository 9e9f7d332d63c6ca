import { type Html, html } from "../../../../kit/html.ts";
import { buttonLink } from "../../ui/button.ts";
import { connectLine } from "../../ui/connect-line.ts";
import { badge, codeBlock, section } from "../../ui/parts.ts";
import { ASK_AN_ADMIN, brainCommand, mayConnect, tokenCommand } from "../devices/connect.ts";
import type { Member } from "../shared/call.ts";

/** What a team has done already of what it takes to begin. */
export interface Begun {
  readonly device: boolean;
  readonly telemetry: boolean;
  /** Null where the team's tier holds no brain. */
  readonly brain: boolean | null;
}

/** Whether there is anything left to begin with. */
export const isBegun = ({ device, telemetry, brain }: Begun): boolean => device && telemetry && brain !== false;

interface Step {
  readonly title: string;
  readonly done: boolean;
  readonly body: Html;
}

/** The steps from nothing to a first record. Of those not done only the first is spelled out. */
export function firstRun(call: Member, begun: Begun): Html {
  const { baseUrl, href } = call;
  const command = (text: string, label: string) => codeBlock(text, { label, wrap: true });
  const steps: Step[] = [
    {
      title: "Connect a device",
      done: begun.device,
      body: html`<p class="says">Machines are bound to the team with a connect code, which works once, for 15 minutes. ${mayConnect(call) ? "Mint one, then on the machine that agents work on:" : ASK_AN_ADMIN}</p>
${mayConnect(call) && html`<p>${buttonLink("Mint a connect code", href("/devices"), { look: "primary" })}</p>`}${command(connectLine(baseUrl), "Connect the machine")}<p class="says">It says what it reads, sends and changes before it does so, and <a href="${href("/docs/capture")}">all of that is written down</a>. <code>--dry-run</code> changes and sends nothing.</p>`,
    },
    {
      title: "Receive a session",
      done: begun.telemetry,
      body: html`<p class="says">What agents did in the last 30 days is sent when a machine is connected, and each new session by itself. Nothing came yet: give an agent on it something to do, then send at once, or ask what is watched and what waits:</p>${command("reckon agent run\nreckon agent status", "On the machine")}`,
    },
    ...(begun.brain === null
      ? []
      : [
          {
            title: "Publish a brain",
            done: begun.brain,
            body: html`<p class="says">A repository's brain is its markdown files: errors, decisions, notes. A connected machine publishes those below <code>.claude/brain</code> whenever they change; every version is kept and can be searched. By hand:</p>${command(`${tokenCommand}\n${brainCommand(baseUrl)}`, "Publish a first snapshot")}`,
          },
        ]),
  ];
  const next = steps.findIndex(({ done }) => !done);
  return section({
    title: "First steps",
    intro: `${steps.filter(({ done }) => done).length} of ${steps.length} done.`,
    framed: true,
    body: html`<ol class="timeline">${steps.map(
      ({ title, done, body }, i) =>
        html`<li class="${done ? "good" : i === next ? "info" : "neutral"}"><p class="timeline-head"><strong>${i + 1}. ${title}</strong> ${done ? badge("good", "done") : i === next && badge("info", "next")}</p>${i === next && html`<div class="timeline-body stack">${body}</div>`}</li>`,
    )}</ol>`,
  });
}
