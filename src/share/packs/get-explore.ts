import * as v from "valibot";
import { baseUrlOf } from "../../kit/base-url.ts";
import { endpoint, Reply, unchanged } from "../../platform/http/endpoint.ts";
import type { PackEntry } from "./entry.ts";
import { sectionsOf } from "./explore.ts";
import { publishedPacks } from "./list.ts";
import { EXAMPLE, entryJson, PackJson } from "./marketplace-public.ts";
import { publicReply } from "./public-reply.ts";

const Entries = v.array(PackJson);

/** Sections of packs to discover. A public front page must not break for them: what fails is empty. */
export const explore = endpoint(
  {
    id: "explore",
    method: "GET",
    path: "/api/explore",
    summary: "Packs to discover, in sections",
    tag: "Marketplace",
    auth: "none",
    ok: v.looseObject({
      featured: v.pipe(Entries, v.description("Chosen by operators.")),
      trending: v.pipe(Entries, v.description("Most devices in the last fourteen days.")),
      new: v.pipe(Entries, v.description("Newest first.")),
      byStack: v.pipe(v.record(v.string(), Entries), v.description("Tag to its packs; the tags with most packs.")),
    }),
    also: [unchanged],
    faults: [],
    errorShape: "canonical",
    limits: [],
    cache: "public, max-age=60",
    example: {
      ok: { featured: [], trending: [EXAMPLE], new: [EXAMPLE], byStack: { typescript: [EXAMPLE], web: [EXAMPLE] } },
    },
  },
  ({ core, header }) => {
    try {
      const baseUrl = baseUrlOf(core.config);
      const json = (list: readonly PackEntry[]) => list.map((entry) => entryJson(entry, baseUrl));
      const packs = publishedPacks(core);
      return publicReply(core, `sections ${baseUrl}`, header("if-none-match"), () => {
        const { byStack, ...lists } = sectionsOf(packs);
        return {
          featured: json(lists.featured),
          trending: json(lists.trending),
          new: json(lists.new),
          byStack: Object.fromEntries(Object.entries(byStack).map(([tag, packs]) => [tag, json(packs)])),
        };
      });
    } catch (error) {
      core.log.error("explore_failed", { cause: error instanceof Error ? error.message : String(error) });
      const headers = { "cache-control": "no-store" };
      return new Reply({ featured: [], trending: [], new: [], byStack: {} }, { headers });
    }
  },
);
