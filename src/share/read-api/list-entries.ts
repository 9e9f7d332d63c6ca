import * as v from "valibot";
import { devicesOfPerson } from "../../identity/api-tokens/api-tokens.ts";
import { listEntries } from "../../record/telemetry/telemetry.ts";
import { EntryFacts, EXAMPLE_ENTRY, factsOf } from "./entry-facts.ts";
import { Document, filter, PAGED, PERIOD, PERSON, pageOf, REPO, spanOf } from "./fields.ts";
import { reading } from "./reading.ts";
import { Verbatim } from "./verbatim.ts";

const MAX_CHARS = 1_000;
/** Payloads beyond this are left to the single entry: a list of 200 stays within 4 MB. */
const MAX_PAYLOAD_BYTES = 16 * 1024;

/** The team's telemetry entries, the one that arrived last first. */
export const entryList = reading(
  {
    id: "readEntries",
    path: "/api/entries",
    summary: "List telemetry entries",
    query: v.strictObject({
      repo: REPO,
      device: filter("The device's id."),
      person: PERSON,
      type: filter("The payload's `type`.", MAX_CHARS),
      text: filter("A text in the payload, in upper or lower case.", MAX_CHARS),
      flagged: v.optional(
        v.pipe(v.literal("conflict"), v.description("Only entries whose seq came with other content, too.")),
      ),
      ...PERIOD,
      ...PAGED,
    }),
    ok: pageOf(
      v.object({
        ...EntryFacts.entries,
        payload: v.pipe(
          Document,
          v.description("As it was sent, but for redactions; null beyond 16 KiB, see `/api/entries/{id}`."),
        ),
      }),
    ),
    example: {
      query: { device: EXAMPLE_ENTRY.deviceId, limit: "1" },
      ok: { ok: true, items: [{ ...EXAMPLE_ENTRY, payload: { type: "tool", sessionId: "b7c0a1" } }], next: null },
    },
  },
  async ({ core, teamId, query, limit, place, next }) => {
    const { repo, device, person, type, text, flagged } = query;
    const { rows, older } = await listEntries(core, teamId, {
      repoKey: repo,
      deviceId: device,
      deviceIds: devicesOfPerson(core, teamId, person),
      ...{ type, text, flagged },
      ...spanOf(query),
      cursor: place,
      limit,
    });
    const items = rows.map((row) => {
      const facts = factsOf(row);
      return { ...facts, payload: facts.payloadBytes > MAX_PAYLOAD_BYTES ? null : new Verbatim(row.payload) };
    });
    return { items, next: next(older) };
  },
);
