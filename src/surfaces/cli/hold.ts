import { type Command, Option } from "commander";
import { instantOrNull, isoInstant } from "../../kit/clock.ts";
import { type Hold, listHolds, placeHold, releaseHold } from "../../share/erasure/erasure.ts";
import { type Cli, type CommonOptions, common, withCore } from "./context.ts";

const asJson = ({ id, placedAt, releasedAt, ...hold }: Hold) => ({
  holdId: id,
  ...hold,
  placedAt: isoInstant(placedAt),
  releasedAt: instantOrNull(releasedAt),
});

interface PlaceOptions extends CommonOptions {
  readonly team?: string;
  readonly device?: string;
  readonly session?: string;
  readonly reason: string;
}

export function holdCommands(program: Command, cli: Cli): void {
  const hold = program.command("hold").description("data that is neither erased nor removed by retention");
  const place = common(hold.command("place").description("keep everything of a team, a device or a session"))
    .addOption(new Option("--team <team>", "id or exact name").conflicts(["device", "session"]))
    .addOption(new Option("--device <id>", "device id").conflicts(["team", "session"]))
    .addOption(new Option("--session <id>", "the number of its page, or its agent's id").conflicts(["team", "device"]))
    .requiredOption("--reason <text>", "why")
    .action((options: PlaceOptions) => {
      const { team, device, session } = options;
      if (team === undefined && device === undefined && session === undefined)
        place.error("error: name what to hold, by --team, --device or --session");
      return withCore(cli, options, async (core, output, { by }) => {
        const placed = await placeHold(core, options, by);
        output.result(asJson(placed), () => `${placed.id} holds the ${placed.kind}`);
      });
    });
  common(hold.command("release").argument("<hold>", "hold id").description("end a hold")).action(
    (id: string, options: CommonOptions) =>
      withCore(cli, options, async (core, output, { by }) => {
        const released = await releaseHold(core, id, by);
        output.result(
          asJson(released),
          () => `${id} is released; what ran out meanwhile goes with the next nightly run`,
        );
      }),
  );
  common(hold.command("list").description("list the holds, those that were released included")).action(
    (options: CommonOptions) =>
      withCore(cli, options, (core, output) => {
        const holds = listHolds(core.store.db);
        return output.list(holds, {
          json: asJson,
          headings: ["ID", "OF", "TEAM", "DEVICE", "SESSION", "PLACED", "RELEASED", "REASON"],
          cells: (one) => [
            one.id,
            one.kind,
            one.teamId,
            one.deviceId,
            one.session,
            isoInstant(one.placedAt),
            instantOrNull(one.releasedAt),
            one.reason,
          ],
          empty: "No holds.",
        });
      }),
  );
}
