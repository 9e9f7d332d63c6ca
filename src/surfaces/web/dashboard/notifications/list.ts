import * as v from "valibot";
import { type Html, html } from "../../../../kit/html.ts";
import {
  CHANNEL_KINDS,
  type Channel,
  createChannel,
  listChannels,
  messagesOf,
  obstacleOf,
  targetShown,
} from "../../../../share/notifications/notifications.ts";
import { buttonLink } from "../../ui/button.ts";
import { type FormError, formSpec } from "../../ui/form-spec.ts";
import { table } from "../../ui/list.ts";
import { anchor, badge, empty, pageHead, secretOnce, section } from "../../ui/parts.ts";
import { ago } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { by } from "../shared/call.ts";
import { handleForm } from "../shared/forms.ts";
import { channelState, eventOptions, KINDS, messageState, obstacleBox } from "./labels.ts";
import type { Call, Scope } from "./scope.ts";

/** The channels of a team or of the installation, and adding one. */

const CHANNEL = formSpec({
  kind: {
    kind: "radios",
    label: "Kind",
    required: true,
    options: CHANNEL_KINDS.map((value) => ({ value, label: KINDS[value].name, hint: KINDS[value].hint })),
    schema: v.picklist(CHANNEL_KINDS, "Choose a kind."),
  },
  name: { kind: "text", label: "Name", required: true, maxLength: 100, autocomplete: "off" },
  target: {
    kind: "text",
    label: "URL or addresses",
    required: true,
    maxLength: 2_000,
    autocomplete: "off",
    mono: true,
    placeholder: "https://hooks.example.com/reckon",
  },
  events: { kind: "checkboxes", label: "Events", options: [] },
});

export function listPage(call: Call, scope: Scope, error?: FormError): Html {
  const { core, href } = call;
  const { base, teamId, title } = scope;
  const channels = listChannels(core, teamId);
  const events = eventOptions(teamId);
  const main = html`${pageHead({
    title,
    intro: "Where events are sent: webhooks, chats and mail.",
    actions: buttonLink("Events and signatures", href("/docs/notifications")),
  })}
${core.config.outbound.hosts.length === 0 && obstacleBox("Nothing leaves this server: RECKON_OUTBOUND lists no host.", "RECKON_OUTBOUND=hooks.example.com")}
${section({ title: "Channels", body: channelTable(call, scope, channels) })}
${section({
  title: "New channel",
  framed: true,
  body: CHANNEL.draw(call, {
    action: base,
    values: { kind: "webhook", events: events.map(({ value }) => value).filter((name) => name !== "digest.weekly") },
    vary: { events: { options: events } },
    submit: "Add the channel",
    error,
  }),
})}`;
  return frame(call, { title, main });
}

function channelTable({ core, href }: Call, { base }: Scope, channels: readonly Channel[]): Html {
  const now = core.clock.now();
  const rows = channels.map((channel) => ({
    channel,
    last: messagesOf(core, channel.id, 1)[0],
    blocked: obstacleOf(core, channel, false) !== undefined,
  }));
  return table({
    caption: "Channels",
    columns: [
      {
        label: "Name",
        heading: true,
        grow: true,
        cell: ({ channel }) =>
          html`${anchor(href(`${base}/${channel.id}`), channel.name)}<br><small class="muted">${KINDS[channel.kind].name} · ${targetShown(channel)}</small>`,
      },
      {
        label: "State",
        cell: ({ channel, blocked }) =>
          blocked && channel.disabledAt === null ? badge("warn", "blocked") : channelState(channel),
      },
      { label: "Events", numeric: true, cell: ({ channel }) => channel.events.length },
      {
        label: "Last message",
        cell: ({ last }) => (last ? html`${messageState(last)} ${ago(last.lastAt, now, "")}` : "none yet"),
      },
    ],
    rows,
    empty: empty({ title: "No channel yet", intro: "Add a webhook, a chat or mail below." }),
  });
}

export const addChannel = (call: Call, scope: Scope) =>
  handleForm(
    call,
    CHANNEL,
    async ({ kind, name, target, events }) => {
      const made = await createChannel(call.core, { teamId: scope.teamId, kind, name, target, events }, by(call));
      return madePage(call, scope, made.channel, made.secret);
    },
    (error) => listPage(call, scope, error),
  );

/** A channel that was made, or has another secret, which is shown this once. */
export function madePage(call: Call, { base, title }: Scope, channel: Channel, secret: string | null): Html {
  const { core, href } = call;
  const obstacle = obstacleOf(core, channel, call.session.operator);
  const path = href(`${base}/${channel.id}`);
  const main = html`${pageHead({
    title: channel.name,
    crumbs: [{ label: title, href: href(base) }, { label: channel.name, href: path }, { label: "Secret" }].slice(
      0,
      secret === null ? 2 : 3,
    ),
  })}
${
  secret !== null &&
  secretOnce({
    label: "Signing secret",
    value: secret,
    intro: html`Copy it now: it is not shown again. The receiver ${anchor(href("/docs/notifications"), "verifies signatures")} with it.`,
  })
}
${obstacle && obstacleBox(obstacle.message, obstacle.line)}
<p class="actions">${buttonLink(obstacle ? "Done" : "Go on to a test", path, { look: "primary" })}</p>`;
  return frame(call, { title: channel.name, main });
}
