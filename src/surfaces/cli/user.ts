import { type Command, InvalidArgumentError } from "commander";
import type { Core } from "../../core.ts";
import { membershipsOf, ROLES, type Role, setRole } from "../../identity/members/members.ts";
import { createInvitation, createResetLink } from "../../identity/one-time-links/one-time-links.ts";
import { getUser, hasUsers, type ListedUser, listUsers, setOperator } from "../../identity/people/people.ts";
import { resetFactors } from "../../identity/second-factor/second-factor.ts";
import { createUser, setDisabled, setPassword } from "../../identity/sign-in/sign-in.ts";
import { getTeam } from "../../identity/teams/teams.ts";
import { lastSeenAt } from "../../identity/web-sessions/web-sessions.ts";
import { baseUrlOf } from "../../kit/base-url.ts";
import { instantOrNull, isoInstant } from "../../kit/clock.ts";
import { fail, forbidden } from "../../kit/problem.ts";
import {
  type Cli,
  type CommonOptions,
  common,
  noteGuessedAddress,
  type OfTeam,
  ofPerson,
  ofTeam,
  readSecret,
  withCore,
  withTeam,
} from "./context.ts";
import type { Output } from "./output.ts";
import { addDisable, addRemove } from "./user-leaving.ts";
import { oneOf } from "./values.ts";

const statusOf = (user: { readonly disabledAt: number | null }) => (user.disabledAt === null ? "active" : "disabled");

const asJson = (core: Core, user: ListedUser) => ({
  userId: user.id,
  email: user.email,
  name: user.name,
  operator: user.operator === 1,
  status: statusOf(user),
  teams: membershipsOf(core, user.id).map(({ id, name, role }) => ({ teamId: id, name, role })),
  createdAt: isoInstant(user.createdAt),
  lastSeenAt: instantOrNull(lastSeenAt(core, user.id)),
});

interface Created extends CommonOptions {
  readonly name?: string;
  readonly team?: string;
  readonly role?: Role;
  readonly operator: boolean;
}

export function userCommands(program: Command, cli: Cli): void {
  const user = program.command("user").description("people, who sign in to the dashboard");
  addCreate(user, cli);
  addList(user, cli);
  addResetPassword(user, cli);
  addResetSecondFactor(user, cli);
  addDisable(user, cli);
  addRemove(user, cli);
  addEnable(user, cli);
  addSet(user, cli);
  addRole(user, cli);
  addInvite(user, cli);
}

/** Reads a role, typed with a hyphen or an underscore. */
const role = (text: string): Role => oneOf(ROLES)(text.replaceAll("-", "_"));

function addRole(user: Command, cli: Cli): void {
  ofPerson(user, "role", "put a person into a team, or change their role there")
    .requiredOption("--team <team>", "id or exact name (required)")
    .requiredOption("--role <role>", `one of ${ROLES.join(", ")} (required)`, role)
    .action((who: string, options: CommonOptions & { readonly team: string; readonly role: Role }) =>
      withCore(cli, options, async (core, output, { by }) => {
        const { id: teamId, name } = getTeam(core, options.team);
        await setRole(core, teamId, who, options.role, by);
        const { id, email } = getUser(core, who);
        output.result(
          { userId: id, email, teamId, role: options.role },
          () => `${email} is ${options.role} of ${name}`,
        );
      }),
    );
}

function addInvite(user: Command, cli: Cli): void {
  ofTeam(user.command("invite").argument("[email]", "the address that it is for; left out: whoever has the link"))
    .description("print a one-time link that lets somebody into a team, with an account of their own making")
    .option("--role <role>", `role in that team: one of ${ROLES.join(", ")}`, role, "member" as Role)
    .action((email: string | undefined, options: OfTeam & { readonly role: Role }) =>
      withTeam(cli, options, async (core, output, { id: teamId, name }, caller) => {
        const { by, token } = caller;
        const isTeams = caller.teamId !== null;
        if (isTeams && token?.userId === null && email !== undefined)
          fail(
            forbidden,
            "A token without a person cannot invite by address: leave the address out, or make the token with --user.",
          );
        const whose = token?.userId ? { makerId: token.userId } : {};
        const invitation = { teamId, role: options.role, email: email ?? null, ...whose };
        const link = await createInvitation(core, invitation, by, isTeams ? "admin" : undefined);
        const url = baseUrlOf(core.config) + link.path;
        const expiresAt = isoInstant(link.expiresAt);
        output.result({ teamId, role: options.role, email: email ?? null, url, expiresAt }, () => url);
        output.note(
          `Works once, until ${expiresAt}, and makes ${email ?? "whoever opens it"} ${options.role} of ${name}.`,
        );
        noteGuessedAddress(core, output);
      }),
    );
}

function addCreate(user: Command, cli: Cli): void {
  const create = common(user.command("create").argument("<email>").description("make an account"))
    .option("--name <name>", "what the person is called")
    .option("--team <team>", "put the person into this team: id or exact name")
    .option("--role <role>", `role in that team: one of ${ROLES.join(", ")} (default: member)`, role)
    .option("--operator", "let the person run the installation: teams, tiers, everyone's accounts", false)
    .requiredOption("--password-stdin", "read the password from standard input (required)");
  create.action(async (email: string, options: Created) => {
    if (options.role && options.team === undefined) create.error("error: --role needs --team");
    const password = await readSecret(cli, "password", "user … --password-stdin");
    return withCore(
      cli,
      options,
      async (core, output, { by }) => {
        const first = !hasUsers(core);
        const team =
          options.team === undefined
            ? {}
            : { team: { id: getTeam(core, options.team).id, role: options.role ?? "member" } };
        const { name, operator } = options;
        const named = name === undefined ? {} : { name };
        const made = await createUser(core, { email, password, operator, ...named, ...team }, by);
        printDone(output, made, "created");
        if (first && !operator)
          output.note(`Nobody runs this installation yet: ${output.reckon(`user set ${made.email} --operator true`)}`);
      },
      true,
    );
  });
}

function addList(user: Command, cli: Cli): void {
  common(user.command("list").description("list the people")).action((options: CommonOptions) =>
    withCore(cli, options, (core, output) =>
      output.list(listUsers(core), {
        json: (one) => asJson(core, one),
        headings: ["ID", "E-MAIL", "NAME", "STATUS", "OPERATOR", "TEAMS", "LAST SEEN"],
        cells: (one) => [
          one.id,
          one.email,
          one.name,
          statusOf(one),
          one.operator === 1 ? "yes" : "no",
          membershipsOf(core, one.id)
            .map(({ name, role }) => `${name} (${role})`)
            .join(", ") || null,
          instantOrNull(lastSeenAt(core, one.id)),
        ],
        empty: `Nobody has an account yet. Make one: ${output.reckon("user create EMAIL --operator --password-stdin")}`,
      }),
    ),
  );
}

function addResetSecondFactor(user: Command, cli: Cli): void {
  ofPerson(
    user,
    "reset-second-factor",
    "remove the second factors of somebody who lost them; their sign-ins end",
  ).action((who: string, options: CommonOptions) =>
    withCore(cli, options, async (core, output, { by }) => {
      const changed = await resetFactors(core, who, by);
      const { id, email } = getUser(core, who);
      output.result({ userId: id, email, changed }, () =>
        changed ? `${email} has no second factor any more` : `${email} had no second factor`,
      );
    }),
  );
}

function addResetPassword(user: Command, cli: Cli): void {
  ofPerson(user, "reset-password", "print a one-time link to choose a new password, or set one")
    .option("--password-stdin", "set the password that standard input holds instead", false)
    .action(async (who: string, options: CommonOptions & { passwordStdin: boolean }) => {
      const password = options.passwordStdin ? await readSecret(cli, "password", "user … --password-stdin") : undefined;
      return withCore(cli, options, async (core, output, { by }) => {
        const { id, email } = getUser(core, who);
        if (password !== undefined) {
          await setPassword(core, id, password, by);
          return printDone(output, { id, email }, "has a new password and is signed out everywhere");
        }
        const link = await createResetLink(core, id, by);
        const url = baseUrlOf(core.config) + link.path;
        const expiresAt = isoInstant(link.expiresAt);
        output.result({ userId: id, email, url, expiresAt }, () => url);
        output.note(`Works once, until ${expiresAt}; whoever opens it has the account.`);
        noteGuessedAddress(core, output);
      });
    });
}

function addEnable(user: Command, cli: Cli): void {
  ofPerson(user, "enable", "open a closed account again").action((who: string, options: CommonOptions) =>
    withCore(cli, options, async (core, output, { by }) => {
      const changed = await setDisabled(core, who, false, by);
      const { id, email } = getUser(core, who);
      output.result({ userId: id, email, status: "active", changed }, () =>
        changed ? `${email} is enabled` : `${email} was so before`,
      );
    }),
  );
}

function addSet(user: Command, cli: Cli): void {
  ofPerson(user, "set", "change what a person may do")
    .requiredOption("--operator <true|false>", "whether the person runs the installation", trueOrFalse)
    .action((who: string, options: CommonOptions & { operator: boolean }) =>
      withCore(cli, options, async (core, output, { by }) => {
        const changed = await setOperator(core, who, options.operator, by);
        const { id, email } = getUser(core, who);
        output.result({ userId: id, email, operator: options.operator, changed }, () =>
          changed ? `${email} is ${options.operator ? "an" : "no"} operator now` : `${email} was so before`,
        );
      }),
    );
}

function trueOrFalse(text: string): boolean {
  if (text !== "true" && text !== "false") throw new InvalidArgumentError("It must be true or false.");
  return text === "true";
}

function printDone(output: Output, { id, email }: { readonly id: string; readonly email: string }, what: string): void {
  output.result({ userId: id, email }, () => `${email} ${what} (${id})`);
}
