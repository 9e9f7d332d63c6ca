import type { Command } from "commander";
import { getTeam } from "../../identity/accounts/accounts.ts";
import { listDevices, revokeDevice } from "../../identity/devices/devices.ts";
import { isoInstant } from "../../kit/clock.ts";
import { type Cli, type CommonOptions, common, withCore } from "./context.ts";
import { table } from "./output.ts";

const when = (at: number | null) => (at === null ? null : isoInstant(at));

export function deviceCommands(program: Command, cli: Cli): void {
  const device = program.command("device").description("machines bound to teams");

  common(device.command("list").description("list the devices"))
    .option("--team <team>", "id or exact name")
    .action((options: CommonOptions & { team?: string }) =>
      withCore(cli, options, (core, output) => {
        const devices = listDevices(core, options.team === undefined ? undefined : getTeam(core, options.team).id);
        output.result(
          devices.map((one) => ({
            deviceId: one.id,
            teamId: one.teamId,
            label: one.label,
            status: one.status,
            createdAt: isoInstant(one.createdAt),
            lastSeenAt: when(one.lastSeenAt),
            revokedAt: when(one.revokedAt),
            consentVersion: one.consentVersion,
          })),
          () =>
            table(
              ["ID", "TEAM", "LABEL", "STATUS", "LAST SEEN"],
              devices.map((one) => [one.id, one.teamName, one.label, one.status, when(one.lastSeenAt)]),
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
