import type { Command } from "commander";
import { createCode } from "../../identity/devices/devices.ts";
import { getTeam } from "../../identity/teams/teams.ts";
import { DAY_MS, isoInstant } from "../../kit/clock.ts";
import { type Cli, type CommonOptions, common, withCore } from "./context.ts";
import { atMost } from "./values.ts";

/** A code lies about in chats and terminals until it is used. */
const shortDuration = atMost(DAY_MS, "a day");

export function codeCommands(program: Command, cli: Cli): void {
  const code = program.command("code").description("one-time connect codes");
  common(code.command("create").description("mint a code that binds one machine to a team"))
    .requiredOption("--team <team>", "id or exact name")
    .option("--expires <span>", "how long it may be used, e.g. 15m or 2h, a day at most (default: 15m)", shortDuration)
    .action((options: CommonOptions & { team: string; expires?: number }) =>
      withCore(cli, options, async (core, output) => {
        const made = await createCode(core, getTeam(core, options.team).id, options.expires);
        output.result({ code: made.code, expiresAt: isoInstant(made.expiresAt), teamId: made.teamId }, () => made.code);
        output.note(`Shown once; it can be used until ${isoInstant(made.expiresAt)}.`);
      }),
    );
}
