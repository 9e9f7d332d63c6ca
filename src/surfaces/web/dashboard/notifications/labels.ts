import { type Html, html } from "../../../../kit/html.ts";
import { NOTICE_TYPES, type NoticeName } from "../../../../platform/notices/notices.ts";
import { type Channel, eventsFor, type Message } from "../../../../share/notifications/notifications.ts";
import { badge, codeBlock } from "../../ui/parts.ts";
import { plural } from "../../ui/units.ts";

export const KINDS: Readonly<Record<Channel["kind"], { readonly name: string; readonly hint: string }>> = {
  webhook: { name: "Webhook", hint: "Signed JSON for a program, by Standard Webhooks." },
  slack: { name: "Slack", hint: "The URL of an incoming webhook. Mattermost and Rocket.Chat take the same." },
  teams: { name: "Microsoft Teams", hint: "The URL of a workflow: “When a Teams webhook request is received”." },
  mail: { name: "Mail", hint: "Addresses, with commas between them." },
};

/** What a type is called; of one that an older program knew, its name. */
export const eventName = (type: string): string =>
  Object.hasOwn(NOTICE_TYPES, type) ? NOTICE_TYPES[type as NoticeName].label : type;

/** Types to choose from. */
export const eventOptions = (teamId: string | null) =>
  eventsFor(teamId).map((value) => ({ value, label: eventName(value) }));

export function channelState({ disabledBecause }: Channel): Html {
  if (disabledBecause === null) return badge("good", "active");
  return disabledBecause === "gone" ? badge("bad", "receiver gone") : badge("neutral", "paused");
}

export function messageState({ state, tries }: Message): Html {
  if (state === "delivered") return badge("good", "delivered");
  if (state === "failed") return badge("bad", "given up");
  return tries === 0 ? badge("info", "queued") : badge("warn", "retrying");
}

/** What happened, and how often where a message tells of several. */
export const messageName = ({ type, count }: Message): string =>
  type === null ? plural(count, "notification") : `${eventName(type)}${count > 1 ? ` (${count})` : ""}`;

/** Why nothing can be sent, with the line of the settings that mends it. */
export const obstacleBox = (message: string, line: string | undefined): Html =>
  html`<div class="flash warn" role="status"><p>${message}${line !== undefined && " Set and restart:"}</p></div>
${line !== undefined && codeBlock(line, { label: "Setting" })}`;
