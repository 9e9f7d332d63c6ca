import type { Command } from "commander";
import { fail, forbidden } from "../../kit/problem.ts";

/** What is needed to run a command from elsewhere. Commands that are not listed here work on the server's own machine alone. */
export interface Remote {
  /** The token's scope. */
  readonly scope: "read" | "admin";
  /** `team`: a token of one team is enough, and works for that team; `all`: a token of all teams is needed. */
  readonly of: "team" | "all";
  /** Options that name files of the server, and so cannot be used from elsewhere. */
  readonly except?: readonly string[];
}

const READ: Remote = { scope: "read", of: "team" };
const ADMIN: Remote = { scope: "admin", of: "team" };
const OPERATOR: Remote = { scope: "admin", of: "all" };

/**
 * The commands that can be run from elsewhere, by name. Scope `read` covers what every member of a team sees, `admin` what its owners and
 * admins do; commands of the installation need a token of all teams.
 */
export const REMOTE: Readonly<Record<string, Remote>> = {
  "team create": OPERATOR,
  "team list": READ,
  "team show": READ,
  "team set": ADMIN,
  "user create": OPERATOR,
  "user list": OPERATOR,
  "user reset-password": OPERATOR,
  "user reset-second-factor": OPERATOR,
  "user disable": OPERATOR,
  "user enable": OPERATOR,
  "user set": OPERATOR,
  "user role": OPERATOR,
  "user remove": OPERATOR,
  "user invite": ADMIN,
  "sso add": OPERATOR,
  "sso set": OPERATOR,
  "sso list": OPERATOR,
  "sso unlink": OPERATOR,
  "sso remove": OPERATOR,
  "code create": ADMIN,
  "code list": ADMIN,
  "code revoke": ADMIN,
  "device list": READ,
  "device assign": ADMIN,
  "device rename": ADMIN,
  "device revoke": ADMIN,
  "cli approve": OPERATOR,
  "cli deny": OPERATOR,
  "cli list": OPERATOR,
  "cli revoke": OPERATOR,
  "read-token create": OPERATOR,
  "read-token list": OPERATOR,
  "read-token revoke": OPERATOR,
  "api-token create": ADMIN,
  "api-token list": ADMIN,
  "api-token revoke": ADMIN,
  "webhook create": ADMIN,
  "webhook list": ADMIN,
  "webhook test": ADMIN,
  "webhook rotate": ADMIN,
  "webhook pause": ADMIN,
  "webhook resume": ADMIN,
  "webhook remove": ADMIN,
  "policy show": READ,
  "policy set": ADMIN,
  "license mint": ADMIN,
  "request list": OPERATOR,
  "request set": OPERATOR,
  "request merge": OPERATOR,
  "request unmerge": OPERATOR,
  "release add": { ...OPERATOR, except: ["file"] },
  "release list": READ,
  "release remove": OPERATOR,
  "pack publish": ADMIN,
  "pack list": READ,
  "pack feature": OPERATOR,
  "pack unfeature": OPERATOR,
  "pack restore": OPERATOR,
  "pack remove": OPERATOR,
  "pack verify": OPERATOR,
  spend: READ,
  "budget set": ADMIN,
  "budget list": READ,
  "budget remove": ADMIN,
  "error list": READ,
  "error show": READ,
  "error assign": ADMIN,
  "error resolve": ADMIN,
  "error reopen": ADMIN,
  "error snooze": ADMIN,
  "error comment": ADMIN,
  "error link": ADMIN,
  "key show": OPERATOR,
  "key rotate": OPERATOR,
  "key export": READ,
  "jobs list": OPERATOR,
  audit: ADMIN,
  erase: OPERATOR,
  export: { ...OPERATOR, except: ["format"] },
  "hold place": OPERATOR,
  "hold release": OPERATOR,
  "hold list": OPERATOR,
  "retention set": ADMIN,
  "retention list": ADMIN,
};

/** The name of the command in a command line, where it can be run from elsewhere. */
export function remoteNameOf(argv: readonly string[]): string | undefined {
  return [argv.slice(0, 2).join(" "), argv[0] ?? ""].find((name) => Object.hasOwn(REMOTE, name));
}

/** A command's name as people type it, e.g. `team create`. */
export function nameOf(command: Command): string {
  const names: string[] = [];
  for (let one: Command | null = command; one?.parent; one = one.parent) names.unshift(one.name());
  return names.join(" ");
}

/** Refuses options that name files of the server's machine: those are for people who sit there. @throws Problem */
export function refuseServerFiles(name: string, options: Readonly<Record<string, unknown>>): void {
  const named = ["data", ...(REMOTE[name]?.except ?? [])].find((option) => options[option] !== undefined);
  if (named !== undefined)
    fail(forbidden, `--${named} names what is on the server's own machine: it does not go with --server`);
}

/** The commands that can be run from elsewhere, for a person: one line for each group. */
export function remoteList(): string {
  const groups = Map.groupBy(Object.keys(REMOTE), (name) => name.split(" ")[0] as string);
  return [...groups]
    .map(([group, names]) => {
      const subs = names.map((name) => name.slice(group.length + 1)).filter(Boolean);
      return `  ${group}${subs.length > 0 ? ` ${subs.join(" | ")}` : ""}`;
    })
    .join("\n");
}
