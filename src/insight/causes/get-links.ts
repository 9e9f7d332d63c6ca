import * as v from "valibot";
import { teamDevice } from "../../identity/sight/sight.ts";
import { forbidden } from "../../kit/problem.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { Count, identifier, RepoKey, whole } from "../../platform/http/fields.ts";
import { Behind, requireCaughtUp, stillReading } from "../../platform/projections/projections.ts";
import { linksProjection } from "./follow-deliveries.ts";
import { LINK_CURSOR, listLinks } from "./links.ts";
import { CausalLink, EXAMPLE_LINK, linkReply } from "./replies.ts";

const DEFAULT_LIMIT = 50;

/** The team's defects with what they are put down to; what somebody rejected is left out. */
export const listCausalLinks = endpoint(
  {
    id: "causalLinkList",
    method: "GET",
    path: "/api/causal-link",
    summary: "List what defects are put down to",
    tag: "Causes",
    auth: teamDevice,
    query: v.object({
      repoKey: v.optional(RepoKey),
      file: v.optional(v.pipe(identifier(512), v.description("Path of the brain file."))),
      fingerprint: v.optional(
        v.pipe(
          v.string(),
          v.regex(/^[0-9a-fA-F]{8,64}$/, "must have 8 to 64 hexadecimal digits"),
          v.description("First digits of a class of defects."),
        ),
      ),
      sessionId: v.optional(v.pipe(identifier(256), v.description("As its agent named it."))),
      limit: v.optional(whole(1, 200, "Links at most; 50 by default, 200 at most.")),
      after: v.optional(
        v.pipe(
          v.string(),
          v.regex(LINK_CURSOR, "must be what an earlier reply gave as next"),
          v.description("Goes on where an earlier reply ended: its `next`."),
        ),
      ),
    }),
    ok: v.object({
      ok: v.boolean(),
      total: v.pipe(Count, v.description("All matches, however many are listed.")),
      links: v.array(CausalLink),
      next: v.optional(v.pipe(v.string(), v.description("Ask for it as `after`; absent when nothing follows."))),
      behind: Behind,
    }),
    faults: [forbidden, stillReading],
    limits: [],
    example: {
      query: { repoKey: "github.com/acme/shop", fingerprint: "3fa9c1d2" },
      ok: { ok: true, total: 1, links: [EXAMPLE_LINK] },
    },
  },
  async ({ core, principal, query: { repoKey, file, fingerprint, sessionId, limit, after } }) => {
    const standing = await requireCaughtUp(core, linksProjection);
    const { links, ...rest } = await listLinks(core, principal.teamId, {
      repoKey,
      path: file,
      sessionId,
      fingerprint: fingerprint?.toLowerCase(),
      limit: limit === undefined ? DEFAULT_LIMIT : Number(limit),
      after,
    });
    return { ok: true, ...rest, links: links.map(linkReply), ...standing };
  },
);
