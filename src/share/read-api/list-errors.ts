import * as v from "valibot";
import { DEFECT_KINDS, freshenEntries, pageOfClasses } from "../../insight/defects/defects.ts";
import { standings } from "../../insight/triage/triage.ts";
import { ClassFacts, EXAMPLE_CLASS, factsOf } from "./error-facts.ts";
import { PAGED, pageOf, REPO } from "./fields.ts";
import { reading } from "./reading.ts";

/** The classes of the entries in the team's current brains: those that were seen first most lately come first, which no new entry moves. */
export const errorList = reading(
  {
    id: "readErrors",
    path: "/api/errors",
    summary: "List classes of errors with their counts",
    query: v.strictObject({
      repo: REPO,
      kind: v.optional(
        v.pipe(v.picklist(DEFECT_KINDS), v.description("The kind of file that the entries are in; all when left out.")),
      ),
      recurring: v.optional(v.pipe(v.literal("true"), v.description("Only classes with more than one entry."))),
      open: v.optional(v.pipe(v.literal("true"), v.description("Only classes with an entry that is open."))),
      ...PAGED,
    }),
    ok: pageOf(ClassFacts),
    example: { query: { recurring: "true" }, ok: { ok: true, items: [EXAMPLE_CLASS], next: null } },
  },
  async ({ core, teamId, query: { repo, kind, recurring, open }, limit, place, next }) => {
    await freshenEntries(core);
    const { rows, older } = await pageOfClasses(core, teamId, {
      repoKey: repo,
      kind,
      recurring: recurring !== undefined,
      open: open !== undefined,
      cursor: place,
      limit,
    });
    const standing = standings(
      core,
      teamId,
      rows.map(({ fingerprint }) => fingerprint),
    );
    const items = rows.flatMap((row) => {
      const known = standing.get(row.fingerprint);
      return known ? [factsOf(row, known)] : [];
    });
    return { items, next: next(older) };
  },
);
