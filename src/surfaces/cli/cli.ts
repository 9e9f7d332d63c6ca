import type { Command } from "commander";
import {
  decideAuthorization,
  listAuthorizations,
  listCliTokens,
  revokeCliToken,
} from "../../identity/device-flow/device-flow.ts";
import { getUser } from "../../identity/people/people.ts";
import { instantOrNull, isoInstant } from "../../kit/clock.ts";
import { addRevoke, type Cli, type CommonOptions, common, withCore } from "./context.ts";
import { table } from "./output.ts";

export function cliCommands(program: Command, cli: Cli): void {
  const group = program.command("cli").description("command-line tools that sign in as people");
  addApprove(group, cli);
  addDeny(group, cli);
  addList(group, cli);
  addRevoke(group, cli, "token id, as list shows it", "end a tool's access token", (core, id, by) =>
    revokeCliToken(core, null, id, by),
  );
}

function addApprove(group: Command, cli: Cli): void {
  common(group.command("approve").argument("<user-code>", "the code that the tool shows"))
    .description("let a waiting tool sign in as somebody, without a browser")
    .requiredOption("--user <email>", "whose access it gets: e-mail address or id")
    .action((userCode: string, options: CommonOptions & { user: string }) =>
      withCore(cli, options, async (core, output, { by }) => {
        const user = getUser(core, options.user);
        const answered = await decideAuthorization(core, userCode, "approved", user, by);
        output.result(
          { ok: true, userCode: answered.userCode, decision: "approved", userId: user.id, email: user.email },
          () => `${answered.userCode} may sign in as ${user.email}`,
        );
        output.note(
          `Asked for from ${answered.ip}; the tool has until ${isoInstant(answered.expiresAt)} to fetch its token.`,
        );
      }),
    );
}

function addDeny(group: Command, cli: Cli): void {
  common(group.command("deny").argument("<user-code>", "the code that the tool shows"))
    .description("refuse a waiting tool")
    .action((userCode: string, options: CommonOptions) =>
      withCore(cli, options, async (core, output, { by }) => {
        const answered = await decideAuthorization(core, userCode, "denied", null, by);
        output.result(
          { ok: true, userCode: answered.userCode, decision: "denied" },
          () => `${answered.userCode} is denied`,
        );
      }),
    );
}

function addList(group: Command, cli: Cli): void {
  common(group.command("list").description("list the tools that wait for an answer and the tokens in force"))
    .option("--user <email>", "only this person's tokens: e-mail address or id")
    .action((options: CommonOptions & { user?: string }) =>
      withCore(cli, options, (core, output) => {
        const pending = listAuthorizations(core);
        const tokens = listCliTokens(core, options.user === undefined ? null : getUser(core, options.user).id);
        output.result(
          {
            pending: pending.map(({ createdAt, expiresAt, ...one }) => ({
              ...one,
              createdAt: isoInstant(createdAt),
              expiresAt: isoInstant(expiresAt),
            })),
            tokens: tokens.map(({ createdAt, expiresAt, lastUsedAt, revokedAt: _, ...one }) => ({
              ...one,
              createdAt: isoInstant(createdAt),
              expiresAt: isoInstant(expiresAt),
              lastUsedAt: instantOrNull(lastUsedAt),
            })),
          },
          () =>
            table(
              ["CODE OR ID", "STATUS", "USER", "ADDRESS", "CHANNEL", "EXPIRES", "LAST USED"],
              [
                ...pending.map((one) => [
                  one.userCode,
                  "waiting",
                  null,
                  one.ip,
                  one.channel,
                  instantOrNull(one.expiresAt),
                  null,
                ]),
                ...tokens.map((one) => [
                  one.id,
                  "active",
                  one.email,
                  one.ip,
                  one.channel,
                  instantOrNull(one.expiresAt),
                  instantOrNull(one.lastUsedAt),
                ]),
              ],
              "No tool waits, and none is signed in.",
            ),
        );
      }),
    );
}
