import * as v from "valibot";
import { instantOrNull } from "../../kit/clock.ts";
import { fail, notFound } from "../../kit/problem.ts";
import { sessionSpans } from "../../record/traces/traces.ts";
import { Document, numberIn, PAGED, pageOf, Text, When } from "./fields.ts";
import { reading } from "./reading.ts";
import { Verbatim } from "./verbatim.ts";

const Item = v.object({
  spanId: v.pipe(v.string(), v.description("As its agent named it.")),
  parentId: Text,
  name: Text,
  kind: Text,
  startedAt: When,
  endedAt: When,
  document: Document,
});

/** A session's spans in the order in which they came. */
export const spanList = reading(
  {
    id: "readSpans",
    path: "/api/sessions/:id/spans",
    numbered: true,
    summary: "List a session's spans",
    query: v.strictObject(PAGED),
    ok: pageOf(Item),
    example: {
      ok: {
        ok: true,
        items: [
          {
            spanId: "s1",
            parentId: null,
            name: "Bash",
            kind: "tool",
            startedAt: "2026-11-21T08:00:00.000Z",
            endedAt: "2026-11-21T08:00:02.000Z",
            document: { id: "s1", name: "Bash", kind: "tool" },
          },
        ],
        next: null,
      },
    },
  },
  ({ core, teamId, params, limit, place, next }) => {
    const found = sessionSpans.page(core, teamId, numberIn(params.id), Number(place ?? 0), limit);
    if (!found) fail(notFound, "There is no such session.");
    const { rows, after } = found;
    const items = rows.map(({ externalId, parentId, name, kind, startedAt, endedAt, document }) => ({
      ...{
        spanId: externalId,
        parentId,
        name,
        kind,
        startedAt: instantOrNull(startedAt),
        endedAt: instantOrNull(endedAt),
      },
      document: new Verbatim(document),
    }));
    return { items, next: next(after === undefined ? undefined : String(after)) };
  },
);
