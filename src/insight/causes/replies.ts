import * as v from "valibot";
import { problem } from "../../kit/problem.ts";
import { Count, Instant } from "../../platform/http/fields.ts";
import { onWire } from "../defects/defects.ts";
import { CONFIDENCES } from "./judge.ts";
import type { Link } from "./links.ts";

/** What the endpoints of this room have in common. */

const Reason = v.object({
  kind: v.picklist(["commit", "file", "edit", "time", "person"]),
  says: v.pipe(v.string(), v.description("In words, for a person.")),
  commit: v.optional(v.string()),
  path: v.optional(v.string()),
  spanId: v.optional(v.string()),
  at: v.optional(Instant),
  startedAt: v.optional(Instant),
  endedAt: v.optional(Instant),
});

export const CausalLink = v.object({
  id: v.string(),
  repoKey: v.string(),
  file: v.pipe(v.string(), v.description("The brain file that the entry stands in.")),
  heading: v.string(),
  ordinal: v.pipe(Count, v.description("Among equal headings of the file, counted from its end.")),
  date: v.pipe(v.string(), v.isoDate()),
  fingerprint: v.pipe(v.string(), v.description("First 8 hexadecimal digits.")),
  band: v.picklist(CONFIDENCES),
  label: v.picklist(["Caused by", "Probably caused by", "Possibly caused by"]),
  origin: v.pipe(v.picklist(["computed", "person"]), v.description("Who says so.")),
  verdict: v.nullable(v.picklist(["confirmed", "rejected"])),
  counts: v.pipe(v.boolean(), v.description("Whether figures count it: weak and outranked links never do.")),
  commit: v.nullable(v.string()),
  sessionId: v.pipe(v.nullable(v.string()), v.description("As its agent named it.")),
  promptExcerpt: v.nullable(v.string()),
  evidence: v.array(Reason),
});

/** As the documents show one. */
export const EXAMPLE_LINK: v.InferInput<typeof CausalLink> = {
  id: "lnk_06gzwk2m9fqmd4n2v0c8s5t7x1",
  repoKey: "github.com/acme/shop",
  file: ".claude/brain/errors.md",
  heading: "2026-11-20 Login loop",
  ordinal: 0,
  date: "2026-11-20",
  fingerprint: "3fa9c1d2",
  band: "strong",
  label: "Caused by",
  origin: "computed",
  verdict: null,
  counts: true,
  commit: "3f2a9c1e5b7d4a60918273645f5e6d7c8b9a0f1e",
  sessionId: "s-1",
  promptExcerpt: "Set the session cookie after login",
  evidence: [
    {
      kind: "commit",
      commit: "3f2a9c1e5b7d4a60918273645f5e6d7c8b9a0f1e",
      at: "2026-11-20T14:02:11.000Z",
      says: "The entry calls commit 3f2a9c1e5 the cause; this session made it.",
    },
  ],
};

export function linkReply(link: Link): v.InferInput<typeof CausalLink> {
  const { id, repoKey, path: file, heading, ordinal, date, band, label, origin, verdict, counts, commit } = link;
  return {
    id,
    repoKey,
    file,
    heading,
    ordinal,
    date,
    fingerprint: onWire(link.fingerprint),
    band,
    label,
    origin,
    verdict,
    counts,
    commit,
    sessionId: link.sessionId,
    promptExcerpt: link.promptExcerpt,
    evidence: link.evidence.map((reason) => ({ ...reason })),
  };
}

export const entryUnknown = problem({
  name: "entryUnknown",
  status: 404,
  code: "not_found",
  message:
    "The team's current brain has no such dated heading in this file. Publish the brain first, then send the heading as it stands there.",
});

export const sessionUnknown = problem({
  name: "sessionUnknown",
  status: 404,
  code: "not_found",
  message: "No device of the team has published a session with this id. Publish it first, or name a commit instead.",
});
