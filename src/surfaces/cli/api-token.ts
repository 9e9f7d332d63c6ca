import type { Command } from "commander";
import type { Core } from "../../core.ts";
import {
  type ApiTokenFacts,
  apiReads,
  createApiToken,
  listApiTokens,
  revokeApiToken,
} from "../../identity/api-tokens/api-tokens.ts";
import { getUser } from "../../identity/people/people.ts";
import { getTeam } from "../../identity/teams/teams.ts";
import { instantOrNull, isoInstant } from "../../kit/clock.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { type Cli, type CommonOptions, common, withCore } from "./context.ts";
import { table } from "./output.ts";
import { duration } from "./values.ts";

interface CreateOptions extends CommonOptions {
  readonly name: string;
  readonly team?: string;
  readonly allTeams?: true;
  readonly user?: string;
  readonly expires?: number;
}

export function apiTokenCommands(program: Command, cli: Cli): void {
  const token = program.command("api-token").description("tokens with which programs read what was recorded");
  addCreate(token, cli);
  addList(token, cli);
  addRevoke(token, cli);
}

function addCreate(token: Command, cli: Cli): void {
  common(token.command("create").description("make an API token"))
    .requiredOption("--name <name>", "what it will be recognised by")
    .option("--team <team>", "the team that it reads: id or exact name")
    .option("--all-teams", "let it read every team")
    .option("--user <email>", "who answers for it: it ends with their rights; nobody when left out")
    .option("--expires <span>", "how long it works, e.g. 12h; 365d at most (default: 90d)", duration)
    .action((options: CreateOptions) =>
      withCore(cli, options, async (core, output) => {
        if ((options.team === undefined) === (options.allTeams === undefined))
          fail(invalid, "Say which team the token reads: --team TEAM, or --all-teams.");
        const made = await createApiToken(core, {
          teamId: options.team === undefined ? null : getTeam(core, options.team).id,
          userId: options.user === undefined ? null : getUser(core, options.user).id,
          name: options.name,
          lifetimeMs: options.expires,
        });
        output.result({ ...made, expiresAt: isoInstant(made.expiresAt) }, () => made.token);
        output.note(`Shown once; its id is ${made.id} and it works until ${isoInstant(made.expiresAt)}.`);
      }),
    );
}

const described = (core: Core, one: ApiTokenFacts) => ({
  id: one.id,
  team: one.teamId === null ? null : getTeam(core, one.teamId).name,
  user: one.userId === null ? null : getUser(core, one.userId).email,
  name: one.name,
  scopes: one.scopes,
  status: one.status,
  createdAt: isoInstant(one.createdAt),
  expiresAt: isoInstant(one.expiresAt),
  lastUsedAt: instantOrNull(one.lastUsedAt),
  revokedAt: instantOrNull(one.revokedAt),
  readsToday: apiReads(core, one.id).today,
  reads30Days: apiReads(core, one.id).month,
});

function addList(token: Command, cli: Cli): void {
  common(token.command("list").description("list the API tokens, and how often each was used"))
    .option("--team <team>", "of this team: id or exact name")
    .action((options: CommonOptions & { team?: string }) =>
      withCore(cli, options, (core, output) => {
        const team = options.team === undefined ? undefined : getTeam(core, options.team).id;
        const tokens = listApiTokens(core, team).map((one) => described(core, one));
        output.result(tokens, () =>
          table(
            ["ID", "TEAM", "USER", "NAME", "STATUS", "LAST USED", "TODAY", "EXPIRES"],
            tokens.map((one) => [
              one.id,
              one.team ?? "all teams",
              one.user,
              one.name,
              one.status,
              one.lastUsedAt,
              String(one.readsToday),
              one.expiresAt,
            ]),
            "No API tokens yet. Make one: reckon api-token create --team TEAM --name NAME",
          ),
        );
      }),
    );
}

function addRevoke(token: Command, cli: Cli): void {
  common(token.command("revoke").argument("<id>", "id of the token").description("end an API token")).action(
    (id: string, options: CommonOptions) =>
      withCore(cli, options, async (core, output) => {
        const changed = await revokeApiToken(core, id);
        output.result(
          { id, status: "revoked", changed },
          () => `${id} ${changed ? "is revoked" : "was revoked before"}`,
        );
      }),
  );
}
