import * as v from "valibot";
import { baseUrlOf } from "../../kit/base-url.ts";
import { DAY_MS, isoInstant } from "../../kit/clock.ts";
import { endpoint, unchanged } from "../../platform/http/endpoint.ts";
import { Count, Instant, whole } from "../../platform/http/fields.ts";
import { archivePath } from "./download.ts";
import type { PackEntry } from "./entry.ts";
import { listPacks, MAX_ENTRIES } from "./list.ts";
import { publicReply } from "./public-reply.ts";
import { rankOf } from "./rank.ts";

const FactorJson = v.object({
  factor: v.string(),
  value: v.pipe(v.union([v.boolean(), v.number(), v.null()]), v.description("What was measured; null: not known.")),
  points: v.pipe(Count, v.description("The points of all factors add up to the rank.")),
  most: Count,
  says: v.string(),
});

const EXAMPLE_AT = Date.UTC(2026, 10, 21, 8);

/** A marketplace entry; more members may come. */
export const PackJson = v.looseObject({
  id: v.string(),
  name: v.pipe(v.string(), v.description("Names the pack in addresses and folders.")),
  title: v.string(),
  summary: v.string(),
  license: v.pipe(v.string(), v.description("An SPDX identifier, or the publisher's own words.")),
  tags: v.array(v.string()),
  publisher: v.object({ name: v.string(), verified: v.boolean() }),
  featured: v.boolean(),
  version: v.pipe(
    v.string(),
    v.description("The newest stable one (semver.org); a pre-release only where there is nothing else."),
  ),
  rules: v.pipe(Count, v.description("Prevention rules in its files.")),
  files: Count,
  bytes: v.pipe(Count, v.description("Size of the archive.")),
  sha256: v.pipe(v.string(), v.description("Of the archive, hexadecimal.")),
  installs: v.pipe(Count, v.description("Distinct devices that installed it.")),
  rank: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100), v.description("Trust, 0 to 100.")),
  why: v.array(FactorJson),
  createdAt: Instant,
  publishedAt: Instant,
  url: v.pipe(v.string(), v.description("Its page.")),
  download: v.pipe(v.string(), v.description("The archive of that version, a tar.gz.")),
});

/** A pack as the public endpoints show it. @param baseUrl without a trailing slash */
export function entryJson(entry: PackEntry, baseUrl: string): v.InferInput<typeof PackJson> {
  const { createdAt, publishedAt, recentInstalls: _, why, tags, ...rest } = entry;
  return {
    ...rest,
    tags: [...tags],
    why: why.map((factor) => ({ ...factor })),
    createdAt: isoInstant(createdAt),
    publishedAt: isoInstant(publishedAt),
    url: `${baseUrl}/marketplace/${entry.name}`,
    download: baseUrl + archivePath(entry.name, entry.version),
  };
}

/** A form sends what was left empty as well, so that counts as not asked for. */
const FORM = { orEmpty: true };

/** An entry for the documents. */
export const EXAMPLE: v.InferInput<typeof PackJson> = entryJson(
  {
    id: "pack_06g9k2v1c7x0q4m8e5z3r1w9yt",
    name: "cookie-rules",
    title: "Cookie rules",
    summary: "What three years of sign-in bugs taught us about cookies.",
    license: "CC-BY-4.0",
    tags: ["typescript", "web"],
    publisher: { name: "Acme", verified: true },
    featured: false,
    version: "1.2.0",
    rules: 14,
    files: 3,
    bytes: 8_214,
    sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    installs: 9,
    recentInstalls: 2,
    createdAt: EXAMPLE_AT - 100 * DAY_MS,
    publishedAt: EXAMPLE_AT - 10 * DAY_MS,
    ...rankOf(
      {
        verified: true,
        createdAt: EXAMPLE_AT - 100 * DAY_MS,
        publishedAt: EXAMPLE_AT - 10 * DAY_MS,
        installs: 7,
        recurrencesRemoved: null,
      },
      EXAMPLE_AT,
    ),
  },
  "https://reckon.example.com",
);

/** The brain packs that teams of this installation published. */
export const marketplace = endpoint(
  {
    id: "marketplacePublic",
    method: "GET",
    path: "/api/marketplace/public",
    summary: "Public brain packs by trust",
    tag: "Marketplace",
    auth: "none",
    query: v.object({
      q: v.optional(
        v.pipe(v.string(), v.description("Words to find in names, titles, summaries, tags and publishers.")),
      ),
      tag: v.optional(v.pipe(v.string(), v.description("One tag, exactly; an empty one narrows nothing."))),
      limit: v.optional(whole(1, MAX_ENTRIES, "Entries at most; 1,000 by default and at most.", FORM)),
      offset: v.optional(whole(0, 1_000_000, "Entries to leave out at the beginning.", FORM)),
    }),
    ok: v.object({
      ok: v.boolean(),
      entries: v.pipe(v.array(PackJson), v.description("Best first; ties by name.")),
      total: v.pipe(Count, v.description("All that match, whatever the limit.")),
    }),
    also: [unchanged],
    faults: [],
    errorShape: "canonical",
    limits: [],
    cache: "public, max-age=60",
    example: { query: { tag: "typescript", limit: "20" }, ok: { ok: true, entries: [EXAMPLE], total: 1 } },
  },
  ({ core, query: { q, tag, limit, offset }, header }) => {
    const baseUrl = baseUrlOf(core.config);
    const whole = !q && !tag && !limit && !offset;
    return publicReply(core, whole ? `all ${baseUrl}` : undefined, header("if-none-match"), () => {
      const { entries, total } = listPacks(core, {
        ...{ q, tag },
        ...(!limit ? {} : { limit: Number(limit) }),
        ...(!offset ? {} : { offset: Number(offset) }),
      });
      return { ok: true, entries: entries.map((entry) => entryJson(entry, baseUrl)), total };
    });
  },
);
