import type { Command } from "commander";
import type { Core } from "../../core.ts";
import { createScimToken, listScimTokens, revokeScimToken } from "../../identity/directory/directory.ts";
import { SCIM_PATH } from "../../identity/scim/scim.ts";
import {
  addIssuer,
  blockedBy,
  callbackPath,
  changeIssuer,
  countIdentities,
  getIssuer,
  groupLine,
  type Issuer,
  type IssuerChange,
  listIssuers,
  removeIssuer,
  waysIn,
} from "../../identity/sso/sso.ts";
import { getTeam } from "../../identity/teams/teams.ts";
import { baseUrlOf } from "../../kit/base-url.ts";
import { instantOrNull, isoInstant } from "../../kit/clock.ts";
import { type Cli, type CommonOptions, common, noteGuessedAddress, readSecret, withCore } from "./context.ts";
import { type Output, revokedText } from "./output.ts";
import { several } from "./values.ts";

interface IssuerOptions extends CommonOptions {
  readonly issuer?: string;
  readonly clientId?: string;
  readonly clientSecretStdin?: true;
  readonly label?: string;
  readonly scopes?: string;
  readonly groupsClaim?: string;
  readonly map?: string[];
  readonly domains?: string;
  readonly jit?: boolean;
  readonly trustEmail?: boolean;
  readonly sessionHours?: string;
}

export function ssoCommands(program: Command, cli: Cli): void {
  const sso = program.command("sso").description("single sign-on by OpenID Connect");
  addAdd(sso, cli);
  addSet(sso, cli);
  addList(sso, cli);
  addScim(sso, cli);
  addUnlink(sso, cli);
  addRemove(sso, cli);
}

const withSettings = (command: Command) =>
  command
    .option("--client-secret-stdin", "read the client's secret from standard input; without one it is a public client")
    .option("--label <text>", "what the button of the sign-in page says (default: the name)")
    .option("--scopes <scopes>", "requested beside openid (default: email profile)")
    .option("--groups-claim <claim>", "the claim that lists a person's groups (default: groups)")
    .option("--map <group=team:role>", "what a group means here; * is everybody; may be given again", several)
    .option(
      "--domains <domains>",
      "domains of e-mail addresses whose accounts are linked and made, separated by commas",
    )
    .option("--trust-email", "take its e-mail addresses as verified although it does not say so")
    .option("--session-hours <n>", "how long a sign-in lasts (default: 24)");

const changeOf = async (cli: Cli, options: IssuerOptions): Promise<IssuerChange> => ({
  issuer: options.issuer,
  clientId: options.clientId,
  clientSecret: options.clientSecretStdin ? await readSecret(cli, "secret", "sso … --client-secret-stdin") : undefined,
  label: options.label,
  scopes: options.scopes,
  groupsClaim: options.groupsClaim,
  groups: options.map,
  domains: options.domains?.split(","),
  jit: options.jit,
  trustEmail: options.trustEmail,
  sessionHours: options.sessionHours === undefined ? undefined : Number(options.sessionHours),
});

function addAdd(sso: Command, cli: Cli): void {
  const command = common(
    sso.command("add").argument("<name>", "in addresses").description("let people sign in by an issuer"),
  )
    .requiredOption("--issuer <url>", "its issuer identifier; the host has to be listed in RECKON_OUTBOUND")
    .requiredOption("--client-id <id>", "the client's id there")
    .option("--jit", "make an account for people without one who are in a mapped group");
  withSettings(command).action(async (name: string, options: IssuerOptions) => {
    const change = await changeOf(cli, options);
    return withCore(cli, options, async (core, output, { by }) => {
      const made = await addIssuer(core, name, change, by);
      output.result(described(core, made), () => `${made.name} is added`);
      output.note(`Redirect address to register there: ${baseUrlOf(core.config)}${callbackPath(made.name)}`);
      noteGuessedAddress(core, output);
      if (blockedBy(core, made) !== undefined)
        output.note(`The server may call it once RECKON_OUTBOUND lists ${new URL(made.issuer).host}.`);
    });
  });
}

function addSet(sso: Command, cli: Cli): void {
  const command = common(sso.command("set").argument("<name>", "of the issuer").description("change an issuer"))
    .option("--issuer <url>", "its issuer identifier, while nobody has signed in by it")
    .option("--client-id <id>", "the client's id there")
    .option("--jit", "make an account for people without one who are in a mapped group")
    .option("--no-jit", "do not");
  withSettings(command).option("--no-trust-email", "do not");
  command.action(async (name: string, options: IssuerOptions) => {
    const change = await changeOf(cli, options);
    if (Object.values(change).every((value) => value === undefined))
      command.error("error: name what to change, e.g. --label Okta");
    return withCore(cli, options, async (core, output, { by }) => {
      const changed = await changeIssuer(core, name, change, by);
      output.result(described(core, changed), () => `${changed.name} is changed`);
    });
  });
}

const described = (core: Core, one: Issuer) => ({
  name: one.name,
  issuer: one.issuer,
  clientId: one.clientId,
  secret: one.clientSecret !== null,
  label: one.label,
  scopes: one.scopes,
  groupsClaim: one.groupsClaim,
  groups: one.groups.map(({ groupName, teamId, role }) => ({
    group: groupName,
    team: getTeam(core, teamId).name,
    role,
  })),
  domains: one.domains,
  jit: one.jit,
  trustEmail: one.trustEmail,
  sessionHours: one.sessionHours,
  people: countIdentities(core, one.id),
  createdAt: isoInstant(one.createdAt),
});

function addList(sso: Command, cli: Cli): void {
  common(sso.command("list").description("list the issuers, and what their groups mean here")).action(
    (options: CommonOptions) =>
      withCore(cli, options, (core, output) => {
        return output.list(listIssuers(core), {
          json: (one) => described(core, one),
          headings: ["NAME", "ISSUER", "CLIENT", "GROUPS", "DOMAINS", "ACCOUNTS", "PEOPLE"],
          cells: (one) => [
            one.name,
            one.issuer,
            one.clientId,
            one.groups.map((group) => groupLine(core, group)).join(" "),
            one.domains.join(" "),
            one.jit ? "are made" : "are there",
            countIdentities(core, one.id),
          ],
          empty: `No single sign-on yet. Add one: ${output.reckon("sso add NAME --issuer URL --client-id ID")}`,
        });
      }),
  );
}

function addScim(sso: Command, cli: Cli): void {
  common(
    sso
      .command("scim")
      .argument("<name>", "of the issuer")
      .description("make a token with which the issuer's directory provisions people (SCIM), two at most"),
  )
    .option("--list", "list those that work instead")
    .option("--revoke <id>", "end one instead")
    .action((name: string, options: CommonOptions & { list?: true; revoke?: string }) =>
      withCore(cli, options, async (core, output, { by }) => {
        const issuer = getIssuer(core, name);
        const { revoke: id } = options;
        if (options.list) return listTokens(core, issuer, output);
        if (id !== undefined) {
          const changed = await revokeScimToken(core, issuer, id, by);
          return output.result({ id, changed }, () => revokedText(id, changed));
        }
        const made = await createScimToken(core, issuer, by);
        output.result({ ...made, url: `${baseUrlOf(core.config)}${SCIM_PATH}` }, () => made.token);
        output.note(`Shown once; its id is ${made.id}. Tenant URL: ${baseUrlOf(core.config)}${SCIM_PATH}`);
        noteGuessedAddress(core, output);
      }),
    );
}

const listTokens = (core: Core, { id, name }: Issuer, output: Output): Promise<void> =>
  output.list(listScimTokens(core, id), {
    json: (one) => ({
      id: one.id,
      createdAt: isoInstant(one.createdAt),
      lastUsedAt: instantOrNull(one.lastUsedAt),
    }),
    headings: ["ID", "MADE", "LAST USED"],
    cells: (one) => [one.id, isoInstant(one.createdAt), instantOrNull(one.lastUsedAt)],
    empty: `No SCIM token yet. Make one: ${output.reckon(`sso scim ${name}`)}`,
  });

function addUnlink(sso: Command, cli: Cli): void {
  common(
    sso
      .command("unlink")
      .argument("<email>", "of the account")
      .description("free an account for the person whom an issuer names by its address next; all ways into it end"),
  ).action((email: string, options: CommonOptions) =>
    withCore(cli, options, async (core, output, { by }) => {
      await waysIn.release(core, email, by);
      output.result({ email, unlinked: true }, () => `nothing leads into the account of ${email}`);
    }),
  );
}

function addRemove(sso: Command, cli: Cli): void {
  common(
    sso
      .command("remove")
      .argument("<name>", "of the issuer")
      .description("take an issuer away; its people are signed out, and keep their accounts"),
  ).action((name: string, options: CommonOptions) =>
    withCore(cli, options, async (core, output, { by }) => {
      await removeIssuer(core, name, by);
      output.result({ name, removed: true }, () => `${name} is removed`);
    }),
  );
}
