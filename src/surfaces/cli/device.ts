import { type Command, Option } from "commander";
import type { Core } from "../../core.ts";
import {
  assignDevice,
  type Device,
  deviceFinder,
  devicesInPortions,
  renameDevice,
  revokeDevice,
} from "../../identity/devices/devices.ts";
import { listTeams } from "../../identity/teams/teams.ts";
import { instantOrNull, isoInstant } from "../../kit/clock.ts";
import { fail, notFound } from "../../kit/problem.ts";
import { violationsOf } from "../../record/policy/policy.ts";
import { addRevoke, type Cli, type CommonOptions, common, personNamed, teamIdNamed, withCore } from "./context.ts";

/** As commands print a device. */
export const deviceAsJson = (one: Device) => ({
  deviceId: one.id,
  teamId: one.teamId,
  label: one.label,
  status: one.status,
  person: one.person && { userId: one.person.id, email: one.person.email, name: one.person.name },
  createdAt: isoInstant(one.createdAt),
  lastSeenAt: instantOrNull(one.lastSeenAt),
  revokedAt: instantOrNull(one.revokedAt),
  consentVersion: one.consentVersion,
});

export function deviceCommands(program: Command, cli: Cli): void {
  const device = program.command("device").description("machines bound to teams");
  addList(device, cli);
  addAssign(device, cli);
  addRename(device, cli);
  addRevoke(device, cli, "device id", "end a device's binding", revokeDevice, "deviceId");
}

interface Listed extends CommonOptions {
  readonly team?: string;
  readonly person?: string;
  readonly nobody: boolean;
}

function addList(device: Command, cli: Cli): void {
  common(device.command("list").description("list the devices"))
    .option("--team <team>", "id or exact name")
    .option("--person <email>", "only those of this person: e-mail address or id")
    .addOption(new Option("--nobody", "only devices that are assigned to nobody").default(false).conflicts("person"))
    .action((options: Listed) =>
      withCore(cli, options, (core, output, caller) => {
        const personId = options.person === undefined ? undefined : personNamed(core, caller, options.person).id;
        const teamId = teamIdNamed(core, caller, options.team);
        const teams = new Map(listTeams(core).map(({ id, name }) => [id, name]));
        return output.list(listed(core, options.nobody, teamId, personId), {
          json: ({ device, againstPolicy, againstPolicyAt }) => ({
            ...deviceAsJson(device),
            againstPolicy,
            againstPolicyAt: instantOrNull(againstPolicyAt),
          }),
          headings: ["ID", "TEAM", "LABEL", "STATUS", "PERSON", "LAST SEEN"],
          cells: ({ device: one }) => [
            one.id,
            teams.get(one.teamId) ?? one.teamId,
            one.label,
            one.status,
            one.person?.email ?? null,
            instantOrNull(one.lastSeenAt),
          ],
          empty:
            options.nobody || personId !== undefined
              ? "No such device."
              : `No devices yet. Mint a code with: ${output.reckon("code create --team TEAM")}`,
        });
      }),
    );
}

function* listed(core: Core, nobody: boolean, teamId: string | undefined, personId: string | undefined) {
  for (const some of devicesInPortions(core, teamId, personId)) {
    const violations = violationsOf(
      core,
      some.map(({ id }) => id),
    );
    for (const device of some) {
      if (nobody && device.personId !== null) continue;
      const { deliveries, lastAt } = violations(device.id);
      yield { device, againstPolicy: deliveries, againstPolicyAt: lastAt };
    }
  }
}

function addAssign(device: Command, cli: Cli): void {
  const assign = common(device.command("assign").argument("<device>", "device id").argument("[email]"))
    .description("assign a device to a person, e.g. ada@example.com; its sessions and spend count as theirs")
    .option("--nobody", "take it away from whoever has it", false)
    .action((id: string, email: string | undefined, options: CommonOptions & { nobody: boolean }) => {
      if ((email !== undefined) === options.nobody)
        assign.error("error: name a person of the device's team, or --nobody");
      return withCore(cli, options, async (core, output, caller) => {
        const person = email === undefined ? null : personNamed(core, caller, email);
        const changed = await assignDevice(core, id, person?.id ?? null, caller.by, caller.teamId ?? undefined);
        output.result({ deviceId: id, person: person?.email ?? null, changed }, () =>
          changed ? `${id} is ${person ? `${person.email}'s` : "nobody's"} now` : `${id} was so before`,
        );
      });
    });
}

function addRename(device: Command, cli: Cli): void {
  common(
    device.command("rename").argument("<device>", "device id").argument("<name>", 'what it is called; "" for nothing'),
  )
    .description("give a device another name")
    .action((id: string, name: string, options: CommonOptions) =>
      withCore(cli, options, async (core, output, caller) => {
        const teamId = caller.teamId ?? deviceFinder(core)(id)?.teamId ?? "";
        if (!(await renameDevice(core, teamId, id, name, caller.by)))
          fail(notFound, `there is no device with the id "${id}" (see: reckon device list)`);
        const label = deviceFinder(core)(id)?.label ?? null;
        output.result({ deviceId: id, label }, () =>
          label === null ? `${id} has no name now` : `${id} is ${label} now`,
        );
      }),
    );
}
