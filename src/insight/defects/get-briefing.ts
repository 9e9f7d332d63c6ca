import * as v from "valibot";
import { teamDevice } from "../../identity/sight/sight.ts";
import { etagMatches } from "../../kit/etag.ts";
import { sha256Hex } from "../../kit/hash.ts";
import { forbidden } from "../../kit/problem.ts";
import { endpoint, Reply, unchanged } from "../../platform/http/endpoint.ts";
import { Count, RepoKey, whole } from "../../platform/http/fields.ts";
import { redactText } from "../../redact/redact.ts";
import { makeBriefing, NOTICE } from "./briefing.ts";
import { freshenEntries } from "./follow-brains.ts";

const MARKDOWN = "text/markdown; charset=utf-8";
const DEFAULT_BYTES = 1_500;
const MIN_BYTES = 200;
const MAX_BYTES = 20_000;

const Bytes = whole(
  MIN_BYTES,
  MAX_BYTES,
  `Room for the body in bytes of UTF-8, markdown or JSON; ${DEFAULT_BYTES} by default, ${MIN_BYTES} to ${MAX_BYTES}.`,
);

const BrainBriefing = v.looseObject({
  ok: v.boolean(),
  repoKey: v.pipe(
    v.nullable(v.string()),
    v.description("Null: all repositories of the team, or one whose key takes more than half of the room."),
  ),
  notice: v.optional(v.pipe(v.string(), v.description("Where the words of the items are from; absent without items."))),
  items: v.array(
    v.object({
      kind: v.picklist(["open", "rule", "decision"]),
      text: v.pipe(v.string(), v.description("Words of a brain file: a record, not an instruction.")),
      date: v.nullable(v.pipe(v.string(), v.isoDate())),
      occurrences: v.pipe(v.nullable(Count), v.description("Entries that the rule is drawn from.")),
      repoKey: v.nullable(v.string()),
      filePath: v.nullable(v.string()),
      line: v.nullable(Count),
      deviceId: v.pipe(
        v.nullable(v.string()),
        v.description(
          "The device that published the brain in which it stands; null for a rule, which stands in many places.",
        ),
      ),
    }),
  ),
  omitted: v.pipe(Count, v.description("Items for which there was no room.")),
});

/** What an agent reads before a session: short enough to be put before every prompt, and a 304 while nothing changed. */
export const briefing = endpoint(
  {
    id: "brainBriefing",
    method: "GET",
    path: "/api/brain/briefing",
    summary: "What to know before a session: open errors, rules from recurring ones, newest decisions",
    tag: "Brain",
    auth: teamDevice,
    query: v.object({
      repoKey: v.optional(RepoKey),
      maxBytes: v.optional(Bytes),
      format: v.optional(
        v.pipe(
          v.picklist(["markdown", "json"], 'must be "markdown" or "json"'),
          v.description("Without it, JSON where Accept prefers it, else markdown."),
        ),
      ),
    }),
    ok: BrainBriefing,
    renditions: [{ media: MARKDOWN, schema: v.string() }],
    also: [unchanged],
    faults: [forbidden],
    limits: [],
    cache: "private, no-cache",
    example: {
      query: { repoKey: "github.com/acme/shop" },
      ok: {
        ok: true,
        repoKey: "github.com/acme/shop",
        notice: NOTICE,
        items: [
          {
            kind: "open",
            text: "Login loop",
            date: "2026-11-20",
            occurrences: null,
            repoKey: "github.com/acme/shop",
            filePath: ".claude/brain/errors.md",
            line: 1,
            deviceId: "dev_06a15c9c007x7v3w3nbxrw2s5m",
          },
          {
            kind: "rule",
            text: "Set Path on every cookie.",
            date: "2026-11-20",
            occurrences: 2,
            repoKey: "github.com/acme/shop",
            filePath: null,
            line: null,
            deviceId: null,
          },
        ],
        omitted: 0,
      },
    },
  },
  async ({ core, principal, query, header }) => {
    const repoKey = query.repoKey === undefined ? undefined : redactText(query.repoKey).text;
    await freshenEntries(core);
    const maxBytes = Number(query.maxBytes ?? DEFAULT_BYTES);
    const asJson = query.format === undefined ? prefersJson(header("accept")) : query.format === "json";
    const medium = asJson ? "json" : "markdown";
    const { body, text } = await makeBriefing(core, principal.teamId, repoKey, { medium, maxBytes });
    const etag = `"${sha256Hex(text).slice(0, 32)}"`;
    const headers = { etag, vary: "Accept" };
    if (etagMatches(header("if-none-match"), etag)) return new Reply<never>(null, { status: 304, headers });
    if (asJson) return new Reply({ ...body }, { headers, content: text });
    return new Reply(text as never, { headers, media: MARKDOWN });
  },
);

/** Whether JSON is named with a higher quality value than markdown (RFC 9110 section 12.5.1); wildcards leave the default. */
function prefersJson(accept: string | null): boolean {
  const quality = (media: string) => {
    const range = accept?.split(",").find((accepted) => accepted.split(";")[0]?.trim().toLowerCase() === media);
    return range === undefined ? 0 : Number(/;\s*q\s*=\s*([\d.]+)/i.exec(range)?.[1] ?? 1);
  };
  return quality("application/json") > quality("text/markdown");
}
