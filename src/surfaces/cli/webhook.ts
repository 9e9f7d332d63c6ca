import { type Command, Option } from "commander";
import type { Core } from "../../core.ts";
import { getTeam } from "../../identity/teams/teams.ts";
import { instantOrNull, isoInstant } from "../../kit/clock.ts";
import { fail, forbidden } from "../../kit/problem.ts";
import { visibleLine } from "../../kit/strings.ts";
import {
  CHANNEL_KINDS,
  type Channel,
  createChannel,
  eventsFor,
  getChannel,
  listChannels,
  messagesOf,
  obstacleOf,
  pauseChannel,
  removeChannel,
  rotateSecret,
  targetShown,
  testChannel,
} from "../../share/notifications/notifications.ts";
import { type Cli, type CommonOptions, common, teamIdNamed, withCore } from "./context.ts";

/** Of what a receiver replied, where a person reads it. */
const MAX_REPLY_CHARS = 300;

interface CreateOptions extends CommonOptions {
  readonly kind: Channel["kind"];
  readonly name: string;
  readonly to: string;
  readonly team?: string;
  readonly installation?: true;
  readonly events?: string;
}

export function webhookCommands(program: Command, cli: Cli): void {
  const webhook = program.command("webhook").description("channels to which events are sent: webhooks, chats, mail");
  addCreate(webhook, cli);
  addList(webhook, cli);
  addTest(webhook, cli);
  addChanges(webhook, cli);
}

function addCreate(webhook: Command, cli: Cli): void {
  common(webhook.command("create").description("make a channel"))
    .addOption(new Option("--kind <kind>", "what it is sent as").choices(CHANNEL_KINDS).default("webhook"))
    .requiredOption("--name <name>", "a name to recognise it by")
    .requiredOption("--to <target>", "its URL; for mail the addresses, with commas between them")
    .option("--team <team>", "the team whose events it gets: id or exact name")
    .option("--installation", "send it events of the installation and of every team")
    .option("--events <types>", "with commas between them; all when left out")
    .action((options: CreateOptions, command: Command) =>
      withCore(cli, options, async (core, output, caller) => {
        const { kind, name, to: target, team, installation, events } = options;
        if (installation && caller.teamId !== null)
          fail(forbidden, "A token of one team cannot make a channel of the installation.");
        const teamId = teamIdNamed(core, caller, team) ?? null;
        if ((teamId === null) === (installation === undefined))
          command.error("error: say whose events it gets: --team TEAM, or --installation");
        const chosen = events?.split(",").map((one) => one.trim()) ?? eventsFor(teamId);
        const { channel, secret } = await createChannel(
          core,
          { teamId, kind, name, target, events: chosen },
          caller.by,
        );
        output.result({ ...described(core, channel), secret }, () => secret ?? channel.id);
        if (secret !== null) output.note(`Shown once: the secret that signs its messages. Its id is ${channel.id}.`);
        const obstacle = obstacleOf(core, channel, caller.teamId === null);
        if (obstacle) output.note([obstacle.message, obstacle.line].filter(Boolean).join(" Add: "));
      }),
    );
}

function described(core: Core, channel: Channel) {
  const { id, teamId, kind, name, events, createdAt, disabledAt, disabledBecause } = channel;
  const [last] = messagesOf(core, id, 1);
  return {
    id,
    team: teamId === null ? null : getTeam(core, teamId).name,
    kind,
    name,
    to: targetShown(channel),
    events,
    status: disabledBecause ?? "active",
    createdAt: isoInstant(createdAt),
    disabledAt: instantOrNull(disabledAt),
    last: last ? { state: last.state, tries: last.tries, at: instantOrNull(last.lastAt), outcome: last.outcome } : null,
  };
}

function addList(webhook: Command, cli: Cli): void {
  common(webhook.command("list").description("list the channels, and what became of the last message of each"))
    .option("--team <team>", "of this team: id or exact name")
    .action((options: CommonOptions & { team?: string }) =>
      withCore(cli, options, (core, output, caller) => {
        const team = teamIdNamed(core, caller, options.team);
        const channels = listChannels(core, team).map((one) => described(core, one));
        return output.list(channels, {
          json: (one) => one,
          headings: ["ID", "TEAM", "KIND", "NAME", "TO", "STATUS", "LAST"],
          cells: (one) => [
            one.id,
            one.team ?? "installation",
            one.kind,
            one.name,
            one.to,
            one.status,
            one.last ? `${one.last.state}: ${one.last.outcome ?? "not tried yet"}` : "",
          ],
          empty: `No channels yet. Make one: ${output.reckon("webhook create --team TEAM --name NAME --to URL")}`,
        });
      }),
    );
}

function addTest(webhook: Command, cli: Cli): void {
  common(
    webhook.command("test").argument("<id>", "id of the channel").description("send a test to a channel at once"),
  ).action((id: string, options: CommonOptions) =>
    withCore(cli, options, async (core, output, { by, teamId }) => {
      const { delivered, text, reply, add } = await testChannel(core, id, by, teamId ?? undefined);
      output.result(
        { id, delivered, outcome: text, reply },
        () => `${delivered ? "delivered" : "not delivered"}: ${text}`,
      );
      if (reply !== "") output.note(`It replied: ${visibleLine(reply, MAX_REPLY_CHARS)}`);
      const line = add === undefined ? undefined : obstacleOf(core, getChannel(core, id), teamId === null)?.line;
      if (line !== undefined) output.note(`Add: ${line}`);
      if (!delivered) cli.exitCode = 1;
    }),
  );
}

function addChanges(webhook: Command, cli: Cli): void {
  const named = (name: string, description: string) =>
    common(webhook.command(name).argument("<id>", "id of the channel").description(description));
  named("rotate", "give a webhook another secret; the one before signs too for a day").action(
    (id: string, options: CommonOptions) =>
      withCore(cli, options, async (core, output, { by, teamId }) => {
        const secret = await rotateSecret(core, { id, by, teamId: teamId ?? undefined });
        output.result({ id, secret }, () => secret);
        output.note("Shown once: the secret that signs its messages from now on.");
      }),
  );
  for (const [name, paused, status] of [
    ["pause", true, "paused"],
    ["resume", false, "active"],
  ] as const)
    named(name, paused ? "send nothing to a channel until it is resumed" : "send to a channel again").action(
      (id: string, options: CommonOptions) =>
        withCore(cli, options, async (core, output, { by, teamId }) => {
          const changed = await pauseChannel(core, { id, by, teamId: teamId ?? undefined }, paused);
          output.result({ id, status, changed }, () => `${id} is ${status}`);
        }),
    );
  named("remove", "remove a channel; what waits is not sent").action((id: string, options: CommonOptions) =>
    withCore(cli, options, async (core, output, { by, teamId }) => {
      await removeChannel(core, { id, by, teamId: teamId ?? undefined });
      output.result({ id, status: "removed" }, () => `${id} is removed`);
    }),
  );
}
