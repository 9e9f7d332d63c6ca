import { type Html, html } from "../../../../kit/html.ts";
import type { PageReply } from "../../../../platform/http/page.ts";
import {
  type Channel,
  chooseEvents,
  getChannel,
  type Message,
  messagesOf,
  type Outcome,
  obstacleOf,
  pauseChannel,
  removeChannel,
  rotateSecret,
  sendAgain,
  targetShown,
  testChannel,
} from "../../../../share/notifications/notifications.ts";
import { actButton, confirmButton } from "../../ui/confirm.ts";
import { type FormError, formSpec } from "../../ui/form-spec.ts";
import { table } from "../../ui/list.ts";
import { badge, codeBlock, empty, facts, pageHead, section } from "../../ui/parts.ts";
import { ago, number, time } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { by } from "../shared/call.ts";
import { changedFields, drawnWith, handleForm } from "../shared/forms.ts";
import { flag, readParams, rowNumber } from "../shared/params.ts";
import { channelState, eventName, eventOptions, KINDS, messageName, messageState, obstacleBox } from "./labels.ts";
import { madePage } from "./list.ts";
import type { Call, Scope } from "./scope.ts";

/** One channel: what it is told, a test of it, what was sent to it. */

const SHOWN = 50;
const REPLY_CHARS = 1_000;

const EVENTS = formSpec({ events: { kind: "checkboxes", label: "Tell it of", options: [] } });

interface Shown {
  readonly outcome?: Outcome;
  readonly error?: FormError;
}

/** @throws Problem 404 */
const channelIn = ({ core, params }: Call, { teamId }: Scope): Channel => getChannel(core, params.id ?? "", teamId);

export function channelPage(call: Call, scope: Scope, { outcome, error }: Shown = {}): Html {
  const { core, href } = call;
  const { base, title } = scope;
  const channel = channelIn(call, scope);
  const now = core.clock.now();
  const obstacle = obstacleOf(core, channel, call.session.operator);
  const path = `${base}/${channel.id}`;
  const main = html`${pageHead({
    title: channel.name,
    crumbs: [{ label: title, href: href(base) }, { label: channel.name }],
    actions: acts(call, channel, path),
  })}
${obstacle && obstacleBox(obstacle.message, obstacle.line)}
${outcome && testResult(outcome)}
${facts([
  { label: "Kind", value: KINDS[channel.kind].name },
  { label: "To", value: html`<span class="mono">${targetShown(channel)}</span>` },
  {
    label: "State",
    value: html`${channelState(channel)} ${channel.disabledAt !== null && time(channel.disabledAt, now)}`,
  },
  { label: "Added", value: time(channel.createdAt, now) },
  { label: "Secret replaced", value: channel.rotatedAt === null ? "" : time(channel.rotatedAt, now) },
])}
${section({ title: "Messages", body: messageTable(call, path, messagesOf(core, channel.id, SHOWN)) })}
${section({
  title: "Events",
  framed: true,
  body: EVENTS.draw(call, {
    action: `${path}/events`,
    values: { events: channel.events },
    hidden: drawnWith(boxesOf(channel, channel.events), call, error),
    vary: { events: { options: eventOptions(channel.teamId) } },
    submit: "Save",
    error,
  }),
})}`;
  return frame(call, { title: channel.name, main });
}

function acts(call: Call, { kind, name, disabledAt }: Channel, path: string): Html {
  const isPaused = disabledAt !== null;
  return html`${actButton(call, { action: `${path}/test`, label: "Send a test", look: "primary" })}${
    kind === "webhook" &&
    confirmButton(call, {
      action: `${path}/rotate`,
      label: "Rotate secret",
      question: html`Give “${name}” another secret? For a day both sign, so that the receiver can follow.`,
      confirm: "Rotate secret",
      look: "plain",
    })
  }${actButton(call, {
    action: `${path}/pause`,
    hidden: { paused: String(!isPaused) },
    label: isPaused ? "Resume" : "Pause",
  })}${confirmButton(call, {
    action: `${path}/remove`,
    label: "Remove",
    question: html`Remove “${name}”? What waits for it is not sent.`,
    confirm: "Remove channel",
  })}`;
}

function testResult({ delivered, text, reply }: Outcome): Html {
  const outcome = html`${badge(delivered ? "good" : "bad", delivered ? "delivered" : "not delivered")} <span class="mono">${text}</span>`;
  return section({
    title: "Test",
    body: html`<div role="status">${facts([{ label: "Outcome", value: outcome }])}</div>
${reply !== "" && codeBlock(reply.slice(0, REPLY_CHARS), { label: "Reply", titled: true, wrap: true, tall: true })}`,
  });
}

function messageTable(call: Call, path: string, messages: readonly Message[]): Html {
  const now = call.core.clock.now();
  return table({
    caption: "Messages",
    columns: [
      { label: "What", heading: true, cell: messageName },
      {
        label: "State",
        cell: (message) =>
          html`${messageState(message)} ${message.dueAt !== null && message.tries > 0 && html`<small class="muted">next ${ago(message.dueAt, now)}</small>`}`,
      },
      { label: "Outcome", grow: true, cell: ({ outcome }) => outcome ?? "–" },
      { label: "Tries", numeric: true, cell: ({ tries }) => number(tries) },
      { label: "When", cell: ({ lastAt, firstAt }) => ago(lastAt ?? firstAt, now) },
      {
        label: "Actions",
        hidden: true,
        cell: (message) =>
          message.dueAt === null &&
          actButton(call, {
            action: `${path}/again`,
            hidden: { message: String(message.id) },
            label: html`Send again<span class="vh"> ${messageName(message)}</span>`,
            small: true,
          }),
      },
    ],
    rows: messages,
    empty: empty({ title: "Nothing was sent yet", intro: "Send a test, or wait for the first event." }),
  });
}

export const changeEvents = (call: Call, scope: Scope) =>
  handleForm(
    call,
    EVENTS,
    async ({ events }) => {
      const channel = channelIn(call, scope);
      const now = boxesOf(channel, channel.events);
      const mine = changedFields(call, now, boxesOf(channel, events), eventName);
      const chosen = Object.keys(now).filter((name) =>
        (mine.includes(name) ? events : channel.events).some((one) => one === name),
      );
      const changed = await chooseEvents(call.core, { id: channel.id, teamId: scope.teamId, by: by(call) }, chosen);
      return done(call, scope, changed ? "Saved." : "Nothing differed, so nothing was changed.");
    },
    (error) => channelPage(call, scope, { error }),
  );

/** The boxes of the form, each as a value of its own: ticking one must not undo what somebody else ticked meanwhile. */
const boxesOf = ({ teamId }: Channel, ticked: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(eventOptions(teamId).map(({ value }) => [value, ticked.includes(value) ? "on" : ""]));

const done = ({ params }: Call, { base }: Scope, text: string): PageReply => ({
  location: `${base}/${params.id}`,
  flash: { kind: "done", text },
});

export async function test(call: Call, scope: Scope): Promise<Html> {
  const { id } = channelIn(call, scope);
  return channelPage(call, scope, { outcome: await testChannel(call.core, id, by(call), scope.teamId) });
}

export async function rotate(call: Call, scope: Scope): Promise<Html> {
  const channel = channelIn(call, scope);
  const secret = await rotateSecret(call.core, { id: channel.id, teamId: scope.teamId, by: by(call) });
  return madePage(call, scope, channel, secret);
}

export async function pause(call: Call, scope: Scope): Promise<PageReply> {
  const { paused } = readParams({ paused: flag }, call.form);
  await pauseChannel(call.core, { id: call.params.id ?? "", teamId: scope.teamId, by: by(call) }, paused);
  return done(call, scope, paused ? "Paused: nothing is sent until it is resumed." : "Resumed.");
}

export async function remove(call: Call, scope: Scope): Promise<PageReply> {
  await removeChannel(call.core, { id: call.params.id ?? "", teamId: scope.teamId, by: by(call) });
  return { location: scope.base, flash: { kind: "done", text: "The channel is removed." } };
}

export async function again(call: Call, scope: Scope): Promise<PageReply> {
  const { message } = readParams({ message: rowNumber }, call.form);
  channelIn(call, scope);
  await sendAgain(call.core, message ?? 0, scope.teamId, by(call));
  return done(call, scope, "It is sent again.");
}
