import * as v from "valibot";
import type { Link } from "../../insight/causes/causes.ts";
import { onWire } from "../../insight/defects/defects.ts";
import { Id, Text } from "./fields.ts";

/** Links of one entry or session that a reply shows. */
export const MAX_LINKS = 100;

/** What an entry is put down to. */
export const CauseLink = v.object({
  id: v.string(),
  error: v.pipe(v.string(), v.description("The class: `/api/errors/{id}`.")),
  entry: v.pipe(Id, v.description("The entry's number, which stays while the entry does.")),
  date: v.pipe(v.string(), v.isoDate()),
  heading: v.string(),
  session: v.pipe(v.nullable(Id), v.description("`/api/sessions/{id}`; null where the cause is a commit alone.")),
  sessionId: v.pipe(Text, v.description("As its agent named it.")),
  confidence: v.picklist(["strong", "probable", "weak"]),
  verdict: v.pipe(v.nullable(v.picklist(["confirmed", "rejected"])), v.description("What a person said of it.")),
  counts: v.pipe(v.boolean(), v.description("Whether figures count it: weak and rejected ones do not count.")),
  commit: Text,
});

export const linkOf = (link: Link) => ({
  id: link.id,
  error: onWire(link.fingerprint),
  entry: link.entryId,
  date: link.date,
  heading: link.heading,
  session: link.sessionNumber,
  sessionId: link.sessionId,
  confidence: link.band,
  verdict: link.verdict,
  counts: link.counts,
  commit: link.commit,
});

export const EXAMPLE_LINK = {
  id: "lnk_06a15c9c007x7v3w3nbxrw2s5m",
  error: "3fa9c1d2",
  entry: 3,
  date: "2026-11-21",
  heading: "2026-11-21 Login loop",
  session: 7,
  sessionId: "b7c0a1",
  confidence: "strong" as const,
  verdict: null,
  counts: true,
  commit: "9fceb02d0ae598e95dc970b74767f19372d61af8",
};
