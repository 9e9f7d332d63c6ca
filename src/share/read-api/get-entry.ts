import * as v from "valibot";
import { instantOrNull } from "../../kit/clock.ts";
import { fail, notFound } from "../../kit/problem.ts";
import { findEntry } from "../../record/telemetry/telemetry.ts";
import { EntryFacts, EXAMPLE_ENTRY, factsOf } from "./entry-facts.ts";
import { Document, Id, numberIn, TEAM, When } from "./fields.ts";
import { reading } from "./reading.ts";
import { Verbatim } from "./verbatim.ts";

/** An entry, whole, with its neighbours in its stream and what else came under its seq. */
export const entryOne = reading(
  {
    id: "readEntry",
    path: "/api/entries/:id",
    numbered: true,
    summary: "Read one telemetry entry",
    query: v.object(TEAM),
    ok: v.object({
      ok: v.literal(true),
      ...EntryFacts.entries,
      previousId: v.nullable(Id),
      nextId: v.nullable(Id),
      conflicts: v.pipe(
        v.array(v.object({ receivedAt: When, payload: Document })),
        v.description("Other content under its seq, the oldest first; 20 at most."),
      ),
      payload: Document,
    }),
    example: {
      ok: {
        ok: true,
        ...EXAMPLE_ENTRY,
        previousId: 10,
        nextId: null,
        conflicts: [],
        payload: { type: "tool", sessionId: "b7c0a1" },
      },
    },
  },
  ({ core, teamId, params }) => {
    const entry = findEntry(core, teamId, numberIn(params.id));
    if (!entry) fail(notFound, "There is no such entry.");
    return {
      ...factsOf(entry),
      previousId: entry.previousId,
      nextId: entry.nextId,
      conflicts: entry.conflicts.map(({ receivedAt, payload }) => ({
        receivedAt: instantOrNull(receivedAt),
        payload: new Verbatim(payload),
      })),
      payload: new Verbatim(entry.payload),
    };
  },
);
