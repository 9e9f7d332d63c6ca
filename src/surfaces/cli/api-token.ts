import { type Command, Option } from "commander";
import type { Core } from "../../core.ts";
import {
  type ApiScope,
  type ApiTokenFacts,
  apiReads,
  createApiToken,
  listApiTokens,
  MAX_LIFETIME_DAYS,
  type NewApiToken,
  revokeApiToken,
} from "../../identity/api-tokens/api-tokens.ts";
import { getUser } from "../../identity/people/people.ts";
import { getTeam } from "../../identity/teams/teams.ts";
import { instantOrNull, isoInstant } from "../../kit/clock.ts";
import { fail, forbidden } from "../../kit/problem.ts";
import {
  addRevoke,
  type Caller,
  type Cli,
  type CommonOptions,
  common,
  personNamed,
  teamIdNamed,
  withCore,
} from "./context.ts";
import { duration } from "./values.ts";

interface CreateOptions extends CommonOptions {
  readonly name: string;
  readonly team?: string;
  readonly allTeams?: true;
  readonly user?: string;
  readonly expires?: number;
  readonly scope: ApiScope;
}

export function apiTokenCommands(program: Command, cli: Cli): void {
  const token = program
    .command("api-token")
    .description("tokens with which programs read what was recorded, or administer");
  addCreate(token, cli);
  addList(token, cli);
  addRevoke(token, cli, "id of the token", "end an API token", revokeApiToken);
}

function addCreate(token: Command, cli: Cli): void {
  common(token.command("create").description("make an API token"))
    .requiredOption("--name <name>", "a name to recognise it by")
    .option("--team <team>", "the team that it reads: id or exact name")
    .option("--all-teams", "let it read every team")
    .option("--user <email>", "the person who answers for it: it ends with their rights (default: nobody)")
    .addOption(
      new Option("--scope <scope>", "read what was recorded, or administer as well, see docs/remote.md")
        .choices(Object.keys(MAX_LIFETIME_DAYS))
        .default("read"),
    )
    .option(
      "--expires <span>",
      `how long it works, e.g. 12h; ${MAX_LIFETIME_DAYS.read}d at most (default: 90d), with the scope admin ${MAX_LIFETIME_DAYS.admin}d (required)`,
      duration,
    )
    .action((options: CreateOptions, command: Command) =>
      withCore(cli, options, async (core, output, caller) => {
        const { team, allTeams, user, name, expires, scope } = options;
        if (allTeams && caller.teamId !== null) fail(forbidden, "A token of one team cannot make one for all teams.");
        const teamId = teamIdNamed(core, caller, team) ?? null;
        if ((teamId === null) === (allTeams === undefined))
          command.error("error: say which team the token reads: --team TEAM, or --all-teams");
        const wish: NewApiToken = {
          teamId,
          userId: user === undefined ? null : personNamed(core, caller, user).id,
          ...{ name, lifetimeMs: expires, scope },
        };
        const made = await createApiToken(core, boundedBy(core, caller, wish), caller.by);
        output.result({ ...made, expiresAt: isoInstant(made.expiresAt) }, () => made.token);
        output.note(`Shown once; its id is ${made.id} and it works until ${isoInstant(made.expiresAt)}.`);
      }),
    );
}

/** Bounds a token that is made with another one: it may do no more, belongs to the same person, and does not outlive it. @throws Problem */
function boundedBy(core: Core, { token }: Caller, wish: NewApiToken): NewApiToken {
  if (!token) return wish;
  const left = token.expiresAt - core.clock.now();
  if (wish.scope === "admin")
    fail(forbidden, "A token that administers is made on the dashboard or on the server itself.");
  if (wish.userId !== null && wish.userId !== token.userId) fail(forbidden, "It can be yours alone.");
  return { ...wish, userId: token.userId, lifetimeMs: Math.min(wish.lifetimeMs ?? left, left) };
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
      withCore(cli, options, (core, output, caller) => {
        const team = teamIdNamed(core, caller, options.team);
        const tokens = listApiTokens(core, team).values();
        return output.list(
          tokens.map((one) => described(core, one)),
          {
            json: (one) => one,
            headings: ["ID", "TEAM", "USER", "NAME", "SCOPE", "STATUS", "LAST USED", "TODAY", "EXPIRES"],
            cells: (one) => [
              one.id,
              one.team ?? "all teams",
              one.user,
              one.name,
              one.scopes.at(-1) ?? null,
              one.status,
              one.lastUsedAt,
              String(one.readsToday),
              one.expiresAt,
            ],
            empty: `No API tokens yet. Make one: ${output.reckon("api-token create --team TEAM --name NAME")}`,
          },
        );
      }),
    );
}
