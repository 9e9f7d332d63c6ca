import type { Command } from "commander";
import { KINDS } from "../../formats/brain-kinds.ts";
import { getUser } from "../../identity/people/people.ts";
import {
  createReadToken,
  listAllReadTokens,
  listReadTokens,
  type ReadTokenFacts,
  revokeAnyReadToken,
} from "../../identity/read-tokens/read-tokens.ts";
import { getTeam } from "../../identity/teams/teams.ts";
import { readsToday } from "../../insight/ask/ask.ts";
import { instantOrNull, isoInstant } from "../../kit/clock.ts";
import { addRevoke, type Cli, type CommonOptions, common, withCore } from "./context.ts";
import { duration, oneOf, several } from "./values.ts";

const kind = oneOf(KINDS);

interface CreateOptions extends CommonOptions {
  readonly user: string;
  readonly name: string;
  readonly team?: string[];
  readonly repo?: string[];
  readonly path?: string[];
  readonly kind?: string[];
  readonly expires?: number;
}

function scopeText({ scope }: ReadTokenFacts): string {
  const lists = Object.entries(scope).filter(([, values]) => values.length > 0);
  return lists.map(([name, values]) => `${name}: ${values.join(", ")}`).join("; ") || "everything";
}

export function readTokenCommands(program: Command, cli: Cli): void {
  const token = program.command("read-token").description("people's tokens for reading their brains from elsewhere");
  addCreate(token, cli);
  addList(token, cli);
  addRevoke(token, cli, "id of the token", "end a read token", revokeAnyReadToken);
}

function addCreate(token: Command, cli: Cli): void {
  common(token.command("create").description("make a read token; options that narrow it may be given several times"))
    .requiredOption("--user <email>", "whose token it is: e-mail address or id")
    .requiredOption("--name <name>", "a name by which its owner recognises it")
    .option("--team <team>", "only this team: id or exact name", several)
    .option("--repo <key>", "only this repository", several)
    .option("--path <glob>", "only files whose path matches, e.g. docs/**", several)
    .option("--kind <kind>", `only this kind: ${KINDS.join(", ")}`, (text, before?: string[]) =>
      several(kind(text), before),
    )
    .option("--expires <span>", "how long it works, e.g. 12h; 365d at most (default: 90d)", duration)
    .action((options: CreateOptions) =>
      withCore(cli, options, async (core, output, { by }) => {
        const { id: userId } = getUser(core, options.user);
        const teams = (options.team ?? []).map((team) => getTeam(core, team).id);
        const scope = { teams, repos: options.repo ?? [], paths: options.path ?? [], kinds: options.kind ?? [] };
        const { name, expires: lifetimeMs = null } = options;
        const made = await createReadToken(core, { userId, name, scope, lifetimeMs }, by);
        output.result({ ...made, expiresAt: isoInstant(made.expiresAt) }, () => made.token);
        output.note(`Shown once; its id is ${made.id} and it works until ${isoInstant(made.expiresAt)}.`);
      }),
    );
}

function addList(token: Command, cli: Cli): void {
  common(token.command("list").description("list the read tokens"))
    .option("--user <email>", "whose: e-mail address or id")
    .action((options: CommonOptions & { user?: string }) =>
      withCore(cli, options, (core, output) => {
        const tokens =
          options.user === undefined ? listAllReadTokens(core) : listReadTokens(core, getUser(core, options.user).id);
        return output.list(tokens, {
          json: (one) => ({
            id: one.id,
            user: getUser(core, one.userId).email,
            name: one.name,
            scope: one.scope,
            status: one.status,
            createdAt: isoInstant(one.createdAt),
            expiresAt: instantOrNull(one.expiresAt),
            lastUsedAt: instantOrNull(one.lastUsedAt),
            revokedAt: instantOrNull(one.revokedAt),
            readsToday: readsToday(core, one.id),
          }),
          headings: ["ID", "USER", "NAME", "STATUS", "LAST USED", "EXPIRES", "SCOPE"],
          cells: (one) => [
            one.id,
            getUser(core, one.userId).email,
            one.name,
            one.status,
            instantOrNull(one.lastUsedAt),
            instantOrNull(one.expiresAt),
            scopeText(one),
          ],
          empty: `No read tokens yet. Make one: ${output.reckon("read-token create --user EMAIL --name NAME")}`,
        });
      }),
    );
}
