import * as v from "valibot";
import { WIRE_FINGERPRINT } from "../../formats/errors/fingerprint.ts";
import { teamDevice } from "../../identity/sight/sight.ts";
import { forbidden } from "../../kit/problem.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { Count, RepoKey, repoKeyOf } from "../../platform/http/fields.ts";
import { Behind, requireCaughtUp, stillReading } from "../../platform/projections/projections.ts";
import { redactText } from "../../redact/redact.ts";
import { entriesProjection } from "./follow-brains.ts";
import { brainMetrics } from "./metrics.ts";

const Day = v.pipe(v.string(), v.isoDate());

const BrainMetrics = v.looseObject({
  ok: v.boolean(),
  repoKey: v.pipe(v.nullable(v.string()), v.description("Null: all repositories of the team.")),
  weeks: v.pipe(
    v.array(v.object({ start: Day, end: Day, count: Count })),
    v.description("Four rolling weeks of seven days, oldest first; the last ends today (UTC)."),
  ),
  trend: v.pipe(v.picklist(["up", "down", "flat"]), v.description("This week against the mean of the three before.")),
  priorMean: v.number(),
  total: v.pipe(Count, v.description("Entries of the errors files.")),
  skipped: v.pipe(
    Count,
    v.description(
      "Their level-2 headings without a date, entries beyond 5,000 of a file, and files that cannot be read.",
    ),
  ),
  openTotal: Count,
  open: v.pipe(
    v.array(
      v.object({ date: Day, title: v.string(), line: Count, filePath: v.string(), repoKey: v.nullable(v.string()) }),
    ),
    v.description("Up to three open entries, newest first."),
  ),
  recurringClasses: v.pipe(
    v.array(
      v.object({
        fingerprint: v.pipe(v.string(), v.regex(WIRE_FINGERPRINT)),
        occurrences: Count,
        firstSeen: Day,
        lastSeen: Day,
        titles: v.pipe(v.array(v.string()), v.description("Of the newest three entries.")),
        rule: v.pipe(v.nullable(v.string()), v.description("The newest entry's prevention rule.")),
      }),
    ),
    v.description("Fingerprints of more than one entry, most occurrences first; at most 100."),
  ),
  behind: Behind,
});

/** The figures of the errors files: entries a week, open ones, and those that come again. */
export const metrics = endpoint(
  {
    id: "brainMetrics",
    method: "GET",
    path: "/api/brain/metrics",
    summary: "Count the entries of the brain's errors files",
    tag: "Brain",
    auth: teamDevice,
    query: v.object({ repoKey: v.optional(RepoKey) }),
    ok: BrainMetrics,
    faults: [forbidden, stillReading],
    limits: [],
    example: {
      query: { repoKey: "github.com/acme/shop" },
      ok: {
        ok: true,
        repoKey: "github.com/acme/shop",
        weeks: [
          { start: "2026-10-25", end: "2026-10-31", count: 1 },
          { start: "2026-11-01", end: "2026-11-07", count: 0 },
          { start: "2026-11-08", end: "2026-11-14", count: 1 },
          { start: "2026-11-15", end: "2026-11-21", count: 2 },
        ],
        trend: "up",
        priorMean: 0.67,
        total: 9,
        skipped: 0,
        openTotal: 1,
        open: [
          {
            date: "2026-11-20",
            title: "Login loop",
            line: 1,
            filePath: ".claude/brain/errors.md",
            repoKey: "github.com/acme/shop",
          },
        ],
        recurringClasses: [
          {
            fingerprint: "3fa9c1d2",
            occurrences: 2,
            firstSeen: "2026-10-02",
            lastSeen: "2026-11-20",
            titles: ["Login loop", "Cart lost after login"],
            rule: "Set Path on every cookie.",
          },
        ],
      },
    },
  },
  async ({ core, principal, query }) => {
    const repoKey = query.repoKey === undefined ? undefined : redactText(query.repoKey).text;
    const standing = await requireCaughtUp(core, entriesProjection);
    const { weeks, open, recurring, ...figures } = await brainMetrics(core, principal.teamId, repoKey);
    return {
      ok: true,
      repoKey: repoKey ?? null,
      weeks: [...weeks],
      ...figures,
      open: open.map((entry) => {
        const { date, title, line, path: filePath } = entry;
        return { date, title, line, filePath, repoKey: repoKeyOf(entry.repoKey) };
      }),
      recurringClasses: recurring.map(({ titles, ...figures }) => ({ ...figures, titles: [...titles] })),
      ...standing,
    };
  },
);
