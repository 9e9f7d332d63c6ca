import type { Command } from "commander";
import type { Core } from "../../core.ts";
import { listDevices, revokeDevicesOf } from "../../identity/devices/devices.ts";
import { ownedAlone, removeMember } from "../../identity/members/members.ts";
import { getUser, type User } from "../../identity/people/people.ts";
import { setDisabled } from "../../identity/sign-in/sign-in.ts";
import { getTeam } from "../../identity/teams/teams.ts";
import { shellWord } from "../../kit/strings.ts";
import { type Cli, type CommonOptions, type OfTeam, ofPerson, withCore } from "./context.ts";
import { deviceAsJson } from "./device.ts";
import type { Output } from "./output.ts";

const REVOKE = ["--revoke-devices", "revoke the person's machines, too, which otherwise go on reporting"] as const;

/** Adds `reckon user disable`. */
export function addDisable(user: Command, cli: Cli): void {
  ofPerson(user, "disable", "close an account: sign-ins end, tokens stop working; what the person did stays")
    .option(...REVOKE, false)
    .action((who: string, options: CommonOptions & { revokeDevices: boolean }) =>
      withCore(cli, options, (core, output, { by }) =>
        printLeaving(core, output, who, undefined, async ({ id, email }) => {
          const changed = await setDisabled(core, id, true, by, options.revokeDevices);
          const teamsWithoutOwner = ownedAlone(core, id).map(({ id: teamId, name }) => ({ teamId, name }));
          for (const { name } of teamsWithoutOwner)
            output.note(
              `${name} has no owner now who can sign in. Make one: ${output.reckon(`user role EMAIL --team ${shellWord(name)} --role owner`)}`,
            );
          return {
            ...{
              json: { status: "disabled", changed, teamsWithoutOwner },
              did: changed ? "is disabled" : "was so before",
            },
            revoke: `user disable ${shellWord(email)} --revoke-devices`,
          };
        }),
      ),
    );
}

/** Adds `reckon user remove`. */
export function addRemove(user: Command, cli: Cli): void {
  ofPerson(user, "remove", "take a person out of a team; the account and what was done with it stay")
    .requiredOption("--team <team>", "id or exact name (required)")
    .option(...REVOKE, false)
    .action((who: string, options: OfTeam & { team: string; revokeDevices: boolean }) =>
      withCore(cli, options, (core, output, { by }) => {
        const { id: teamId, name } = getTeam(core, options.team);
        return printLeaving(core, output, who, teamId, async ({ id }) => {
          await removeMember(core, teamId, id, by, undefined, () => {
            if (options.revokeDevices) revokeDevicesOf(core, id, by, teamId);
          });
          return { json: { teamId }, did: `is no longer in ${name}`, revoke: "device revoke DEVICE" };
        });
      }),
    );
}

/** How a person left. */
interface Left {
  readonly json: object;
  readonly did: string;
  /** The command that revokes machines which go on reporting. */
  readonly revoke: string;
}

/** Prints how somebody left, and which machines of theirs that revoked or still report. @param teamId the only team whose machines are meant */
async function printLeaving(
  core: Core,
  output: Output,
  who: string,
  teamId: string | undefined,
  leave: (user: User) => Promise<Left>,
): Promise<void> {
  const user = getUser(core, who);
  const { id: userId, email } = user;
  const canReport = () => listDevices(core, teamId, userId, "active");
  const before = canReport();
  const { json, did, revoke } = await leave(user);
  const reporting = canReport();
  const left = new Set(reporting.map(({ id }) => id));
  const revoked = before.map(({ id }) => id).filter((id) => !left.has(id));
  output.result({ userId, email, ...json, revoked, reporting: reporting.map(deviceAsJson) }, () =>
    [`${email} ${did}`, ...revoked.map((id) => `${id} is revoked`)].join("\n"),
  );
  if (reporting.length === 0) return;
  const named = reporting.map(({ id, label }) => (label === null ? id : `${id} (${label})`)).join(", ");
  output.note(`Machines of ${email} go on reporting: ${named}\nRevoke them with: ${output.reckon(revoke)}`);
}
