import type { Command } from "commander";
import { type Device, listDevices, revokeDevice } from "../../identity/devices/devices.ts";
import { getTeam } from "../../identity/teams/teams.ts";
import { isoInstant } from "../../kit/clock.ts";
import { violationsOf } from "../../record/policy/policy.ts";
import { type Cli, type CommonOptions, common, withCore } from "./context.ts";
import { table } from "./output.ts";

const when = (at: number | null) => (at === null ? null : isoInstant(at));

/** Revoked or not: a token that ran out is the dashboard's to tell. */
const statusOf = ({ revokedAt }: Device) => (revokedAt === null ? "active" : "revoked");

export function deviceCommands(program: Command, cli: Cli): void {
  const device = program.command("device").description("machines bound to teams");

  common(device.command("list").description("list the devices"))
    .option("--team <team>", "id or exact name")
    .action((options: CommonOptions & { team?: string }) =>
      withCore(cli, options, (core, output) => {
        const devices = listDevices(core, options.team === undefined ? undefined : getTeam(core, options.team).id);
        const violations = violationsOf(
          core,
          devices.map(({ id }) => id),
        );
        output.result(
          devices.map((one) => ({
            deviceId: one.id,
            teamId: one.teamId,
            label: one.label,
            status: statusOf(one),
            createdAt: isoInstant(one.createdAt),
            lastSeenAt: when(one.lastSeenAt),
            revokedAt: when(one.revokedAt),
            consentVersion: one.consentVersion,
            againstPolicy: violations(one.id).deliveries,
            againstPolicyAt: when(violations(one.id).lastAt),
          })),
          () =>
            table(
              ["ID", "TEAM", "LABEL", "STATUS", "LAST SEEN"],
              devices.map((one) => [
                one.id,
                getTeam(core, one.teamId).name,
                one.label,
                statusOf(one),
                when(one.lastSeenAt),
              ]),
              "No devices yet. Mint a code with: reckon code create --team T",
            ),
        );
      }),
    );

  common(device.command("revoke").argument("<device>", "device id").description("end a device's binding")).action(
    (id: string, options: CommonOptions) =>
      withCore(cli, options, async (core, output) => {
        const revoked = await revokeDevice(core, id);
        output.result({ deviceId: id, status: "revoked", changed: revoked }, () =>
          revoked ? `${id} is revoked` : `${id} was revoked before`,
        );
      }),
  );
}
