import * as v from "valibot";
import { KINDS } from "../../formats/brain-kinds.ts";
import { teamDevice } from "../../identity/sight/sight.ts";
import { tierHas } from "../../identity/teams/teams.ts";
import { forbidden } from "../../kit/problem.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { Count, RepoKey, whole } from "../../platform/http/fields.ts";
import { requireSoon, stillReading } from "../../platform/projections/projections.ts";
import { questionAsked, searchBrain } from "./query.ts";
import { Source } from "./source.ts";

const BrainHits = v.looseObject({
  ok: v.boolean(),
  query: v.pipe(
    v.string(),
    v.description("The question as it was asked, cut at 256 characters. At most 16 of its words are searched for."),
  ),
  total: Count,
  shown: Count,
  hits: v.array(
    v.object({
      filePath: v.string(),
      snippet: v.pipe(v.string(), v.description("Words of the file, on one line; see `source` for whose they are.")),
      repoKey: v.nullable(v.string()),
      kind: v.picklist(KINDS),
      heading: v.string(),
      line: v.pipe(Count, v.description("1-based line of the section.")),
      rank: v.pipe(v.number(), v.description("Higher is better; comparable within one reply.")),
      source: v.optional(Source.schema),
    }),
  ),
});

/** Ranked sections of the team's current brain files. */
export const search = endpoint(
  {
    id: "brainSearch",
    method: "GET",
    path: "/api/brain/search",
    summary: "Search the team's brain",
    tag: "Brain",
    auth: teamDevice,
    query: v.object({
      q: v.pipe(v.string(), v.minLength(1, "must not be empty"), v.description("Words to look for.")),
      repoKey: v.optional(RepoKey),
      limit: v.optional(whole(1, 50, "Hits at most; 20 by default, 50 at most.")),
    }),
    ok: BrainHits,
    faults: [forbidden, stillReading],
    limits: [],
    example: {
      query: { q: "login cookie" },
      ok: {
        ok: true,
        query: "login cookie",
        total: 1,
        shown: 1,
        hits: [
          {
            filePath: ".claude/brain/errors.md",
            snippet: "## 2026-11-20 Login loop\n\nThe cookie lacked its path.",
            repoKey: "github.com/acme/shop",
            kind: "error",
            heading: "2026-11-20 Login loop",
            line: 1,
            rank: 0.82,
            source: Source.example,
          },
        ],
      },
    },
  },
  async ({ core, principal, query: { q, repoKey, limit } }) => {
    // What came under another tier stays, and is not looked through.
    if (!tierHas(principal.tier, "brain")) return { ok: true, query: questionAsked(q), total: 0, shown: 0, hits: [] };
    const scope = { repoKey, limit: limit ? Number(limit) : undefined };
    const { query, total, hits } = await requireSoon(searchBrain(core, principal.teamId, q, scope));
    return { ok: true, query, total, shown: hits.length, hits: [...hits] };
  },
);
