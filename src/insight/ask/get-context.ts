import * as v from "valibot";
import { KINDS } from "../../formats/brain-kinds.ts";
import { readToken } from "../../identity/read-tokens/read-tokens.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { Count, RepoKey, whole } from "../../platform/http/fields.ts";
import { stillReading } from "../../platform/projections/projections.ts";
import { Source } from "../../record/brain/brain.ts";
import { READ_LIMITS, recordRead } from "./reads.ts";
import { askBrains } from "./search.ts";

const ContextHits = v.object({
  query: v.pipe(
    v.string(),
    v.description("The question as it was asked, cut at 256 characters. At most 16 of its words are searched for."),
  ),
  total: v.pipe(Count, v.description("Sections found within the token's scope.")),
  shown: Count,
  hits: v.array(
    v.object({
      filePath: v.string(),
      snippet: v.pipe(
        v.string(),
        v.description(
          "Markdown: the whole section, or up to 1,200 characters of it around the words found, with an ellipsis where it was cut.",
        ),
      ),
      kind: v.picklist(KINDS),
      rank: v.pipe(
        v.number(),
        v.description("0 to 1, higher is better, above 0.5 with all the words; comparable within one reply."),
      ),
      repoKey: v.nullable(v.string()),
      teamId: v.string(),
      teamName: v.string(),
      heading: v.pipe(v.string(), v.description("Heading of the section; empty before a file's first heading.")),
      line: v.pipe(Count, v.description("1-based line of the file at which the snippet begins.")),
      source: v.optional(Source.schema),
    }),
  ),
});

/** Cited slices of the brains of the teams that a read token's owner is in, narrowed to the token's scope. */
export const context = endpoint(
  {
    id: "meBrainContext",
    method: "GET",
    path: "/api/me/brain/context",
    summary: "Read cited slices of the token owner's brains",
    tag: "My Brain",
    auth: readToken,
    query: v.object({
      q: v.pipe(v.string(), v.minLength(1, "must not be empty"), v.description("The question.")),
      repoKey: v.optional(RepoKey),
      limit: v.optional(whole(1, 50, "Hits at most; 10 by default, 50 at most.")),
    }),
    ok: ContextHits,
    faults: [stillReading],
    limits: READ_LIMITS,
    example: {
      query: { q: "How do we set cookies?" },
      ok: {
        query: "How do we set cookies?",
        total: 1,
        shown: 1,
        hits: [
          {
            filePath: "docs/decisions.md",
            snippet: "## Cookies\n\nEvery cookie sets Path and SameSite.",
            kind: "decision",
            rank: 0.91,
            repoKey: "github.com/acme/shop",
            teamId: "team_06a15c9c007x7v3w3nbxrw2s5m",
            teamName: "Acme",
            heading: "Cookies",
            line: 12,
            source: Source.example,
          },
        ],
      },
    },
  },
  async ({ core, principal, query: { q, repoKey, limit }, ip }) => {
    const { query, total, hits } = await askBrains(core, principal, q, {
      repoKey,
      limit: limit ? Number(limit) : undefined,
    });
    await recordRead(core, principal, { question: q, total, shown: hits.length, ip: ip() });
    return { query, total, shown: hits.length, hits: [...hits] };
  },
);
