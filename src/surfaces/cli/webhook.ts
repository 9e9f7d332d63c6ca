import { type Command, Option } from "commander";
import type { Core } from "../../core.ts";
import { getTeam } from "../../identity/teams/teams.ts";
import { instantOrNull, isoInstant } from "../../kit/clock.ts";
import { fail, forbidden } from "../../kit/problem.ts";
import { visibleLine } from "../../kit/strings.ts";
import type { Actor } from "../../platform/audit/audit.ts";
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
import type { Output } from "./output.ts";

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
  addActs(webhook, cli);
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

/** A channel that a command names, by whom, and the only team that it may concern. */
interface Named {
  readonly id: string;
  readonly by: Actor;
  readonly teamId: string | undefined;
}

function addActs(webhook: Command, cli: Cli): void {
  const add = (name: string, description: string, act: (core: Core, output: Output, named: Named) => Promise<void>) =>
    common(webhook.command(name).argument("<id>", "id of the channel").description(description)).action(
      (id: string, options: CommonOptions) =>
        withCore(cli, options, (core, output, { by, teamId }) =>
          act(core, output, { id, by, teamId: teamId ?? undefined }),
        ),
    );
  add("test", "send a test to a channel at once", async (core, output, { id, by, teamId }) => {
    const { delivered, text, reply, add } = await testChannel(core, id, by, teamId);
    output.result(
      { id, delivered, outcome: text, reply },
      () => `${delivered ? "delivered" : "not delivered"}: ${text}`,
    );
    if (reply !== "") output.note(`It replied: ${visibleLine(reply, MAX_REPLY_CHARS)}`);
    const line = add === undefined ? undefined : obstacleOf(core, getChannel(core, id), teamId === undefined)?.line;
    if (line !== undefined) output.note(`Add: ${line}`);
    if (!delivered) cli.exitCode = 1;
  });
  add("rotate", "give a webhook another secret; the one before signs too for a day", async (core, output, named) => {
    const secret = await rotateSecret(core, named);
    output.result({ id: named.id, secret }, () => secret);
    output.note("Shown once: the secret that signs its messages from now on.");
  });
  for (const [name, paused, status] of [
    ["pause", true, "paused"],
    ["resume", false, "active"],
  ] as const)
    add(
      name,
      paused ? "send nothing to a channel until it is resumed" : "send to a channel again",
      async (core, output, named) => {
        const changed = await pauseChannel(core, named, paused);
        output.result({ id: named.id, status, changed }, () => `${named.id} is ${status}`);
      },
    );
  add("remove", "remove a channel; what waits is not sent", async (core, output, named) => {
    await removeChannel(core, named);
    output.result({ id: named.id, status: "removed" }, () => `${named.id} is removed`);
  });
}
