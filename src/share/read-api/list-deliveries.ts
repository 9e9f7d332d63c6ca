import * as v from "valibot";
import { devicesOfPerson } from "../../identity/api-tokens/api-tokens.ts";
import { withDeviceLabels } from "../../identity/devices/devices.ts";
import { isoInstant } from "../../kit/clock.ts";
import { Count, Instant, repoKeyOf } from "../../platform/http/fields.ts";
import { browseDeliveries } from "./browse-deliveries.ts";
import { filter, Id, PAGED, PERIOD, PERSON, pageOf, REPO, RepoKey, spanOf, Text } from "./fields.ts";
import { reading } from "./reading.ts";

const KINDS = ["telemetry", "brain", "traces"] as const;
const FLAGS = ["gap", "rollback"] as const;

const Item = v.object({
  id: v.pipe(Id, v.description("Its number in the log; `/ledger/proof` proves it to its device.")),
  deviceId: v.string(),
  deviceLabel: Text,
  kind: v.picklist(KINDS),
  repoKey: RepoKey,
  receivedAt: Instant,
  items: v.pipe(Count, v.description("Entries newly stored, files of the version, or sessions.")),
  redacted: v.pipe(Count, v.description("Of them, those in which the server found a secret.")),
  flagged: v.nullable(v.picklist(FLAGS)),
  captureMode: v.pipe(
    v.nullable(v.picklist(["off", "metadata", "redacted", "full"])),
    v.description("The capture mode when it arrived; null for entries from before that was recorded."),
  ),
  withheld: v.pipe(Count, v.description("Items of which the capture mode withheld something.")),
  erasedItems: v.pipe(Count, v.description("Items that were erased since.")),
});

/** The team's deliveries, the one that arrived last first. */
export const deliveryList = reading(
  {
    id: "readDeliveries",
    path: "/api/deliveries",
    summary: "List deliveries",
    query: v.strictObject({
      repo: REPO,
      device: filter("The device's id."),
      person: PERSON,
      kind: v.optional(v.picklist(KINDS)),
      flagged: v.optional(v.pipe(v.picklist(FLAGS), v.description("Only those flagged so."))),
      ...PERIOD,
      ...PAGED,
    }),
    ok: pageOf(Item),
    example: {
      query: { flagged: "gap" },
      ok: {
        ok: true,
        items: [
          {
            id: 12,
            deviceId: "dev_06a15c9c007x7v3w3nbxrw2s5m",
            deviceLabel: "ada-laptop",
            kind: "telemetry",
            repoKey: "github.com/acme/shop",
            receivedAt: "2026-11-21T08:12:31.000Z",
            items: 20,
            redacted: 1,
            flagged: "gap",
            captureMode: "redacted",
            withheld: 0,
            erasedItems: 0,
          },
        ],
        next: null,
      },
    },
  },
  async ({ core, teamId, query, limit, place, next }) => {
    const { repo, device, person, kind, flagged } = query;
    const { rows, older } = await browseDeliveries(core, teamId, {
      repoKey: repo,
      deviceId: device,
      deviceIds: devicesOfPerson(core, teamId, person),
      ...{ kind, flagged },
      ...spanOf(query),
      cursor: place,
      limit,
    });
    const items = withDeviceLabels(core, rows).map((row) => {
      const { id, deviceId, deviceLabel, items: count, redacted, captureMode, withheld, erasedItems } = row;
      return {
        ...{ id, deviceId, deviceLabel, kind: row.kind, repoKey: repoKeyOf(row.repoKey) },
        receivedAt: isoInstant(row.receivedAt),
        ...{ items: count, redacted, flagged: row.flagged, captureMode, withheld, erasedItems },
      };
    });
    return { items, next: next(older) };
  },
);
