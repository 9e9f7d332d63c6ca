import { type Html, html } from "../../../../kit/html.ts";
import { buttonLink } from "../../ui/button.ts";
import { badge, codeBlock, section } from "../../ui/parts.ts";
import {
  ASK_AN_ADMIN,
  brainCommand,
  CODE_PLACE,
  exchangeCommand,
  mayConnect,
  telemetryCommand,
  tokenCommand,
} from "../devices/connect.ts";
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
      body: html`<p class="says">Machines are bound to the team with a connect code, which works once, for 15 minutes. ${mayConnect(call) ? "Mint one, then trade it for a device token on the machine:" : ASK_AN_ADMIN}</p>
${mayConnect(call) && html`<p>${buttonLink("Mint a connect code", href("/devices"), { look: "primary" })}</p>`}${command(exchangeCommand(baseUrl, CODE_PLACE), "Trade the code for a token")}`,
    },
    {
      title: "Send telemetry",
      done: begun.telemetry,
      body: html`<p class="says">Entries are numbered from 1 in each repository. The token is what the exchange answered as <code>deviceToken</code>.</p>${command(`${tokenCommand}\n${telemetryCommand(baseUrl)}`, "Send a first entry")}`,
    },
    ...(begun.brain === null
      ? []
      : [
          {
            title: "Publish a brain",
            done: begun.brain,
            body: html`<p class="says">A repository's brain is its markdown files: errors, decisions, notes. Every version is kept and can be searched.</p>${command(`${tokenCommand}\n${brainCommand(baseUrl)}`, "Publish a first snapshot")}`,
          },
        ]),
  ];
  const next = steps.findIndex(({ done }) => !done);
  return section({
    title: "First steps",
    intro: `${steps.filter(({ done }) => done).length} of ${steps.length} done. No capture client ships with Reckon yet: these are the requests that an agent, or a script beside it, makes.`,
    framed: true,
    body: html`<ol class="timeline">${steps.map(
      ({ title, done, body }, i) =>
        html`<li class="${done ? "good" : i === next ? "info" : "neutral"}"><p class="timeline-head"><strong>${i + 1}. ${title}</strong> ${done ? badge("good", "done") : i === next && badge("info", "next")}</p>${i === next && html`<div class="timeline-body stack">${body}</div>`}</li>`,
    )}</ol>`,
  });
}
