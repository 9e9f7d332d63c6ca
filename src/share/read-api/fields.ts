import * as v from "valibot";
import { DAY_MS } from "../../kit/clock.ts";
import { DAY_OR_TIME, isDate } from "../../kit/date.ts";
import { Count, Instant, identifier, line, whole } from "../../platform/http/fields.ts";

/** Parameters and members that several endpoints of the read API share. */

const MUST_BE_TIME = "must be a date such as 2026-11-01, or an RFC 3339 date-time";

/** A parameter that narrows by a value. */
export const filter = (description: string, most = 512) =>
  v.optional(v.pipe(identifier(most), v.description(description)));

/** What every endpoint takes. */
export const TEAM = {
  team: v.optional(
    v.pipe(
      identifier(100),
      v.description("The team, by id or exact name; a token of all teams must name it, one of a team need not."),
    ),
  ),
};

/**
 * What every list takes. Their queries are strict: a filter that is misspelled, or another list's, would narrow nothing, and all there is
 * would pass for a part of it.
 */
export const PAGED = {
  ...TEAM,
  limit: v.optional(whole(1, 200, "Items at most; 50 by default, 200 at most.")),
  cursor: v.optional(
    v.pipe(identifier(1_000), v.description("Goes on where an earlier reply to the same query ended: its `next`.")),
  ),
};

export const REPO = v.optional(
  v.pipe(line(512), v.description("The repository's key; empty for what came without one.")),
);

export const PERIOD = {
  from: v.optional(
    v.pipe(v.string(), v.regex(DAY_OR_TIME, MUST_BE_TIME), v.description("A day (UTC) or a date-time, included.")),
  ),
  to: v.optional(
    v.pipe(
      v.string(),
      v.regex(DAY_OR_TIME, MUST_BE_TIME),
      v.description("A day (UTC), which counts whole, or a date-time, which is not included."),
    ),
  ),
};

/** Instants of a period: `from` is included, `to` is not. */
export const spanOf = ({ from, to }: { readonly from?: string | undefined; readonly to?: string | undefined }) => ({
  from: from === undefined ? undefined : Date.parse(from),
  to: to === undefined ? undefined : Date.parse(to) + (isDate(to) ? DAY_MS : 0),
});

export const PERSON = filter("The person whose the device is: id or e-mail address.");

/** A page of a list. */
export const pageOf = <S extends v.GenericSchema>(item: S) =>
  v.object({
    ok: v.literal(true),
    items: v.array(item),
    next: v.pipe(
      v.nullable(v.string()),
      v.description(
        "Ask for it as `cursor`, with the same query otherwise; null at the end. A page may be short, even empty, before the end.",
      ),
    ),
  });

export const Id = v.pipe(Count, v.minValue(1));
export const Text = v.nullable(v.string());
export const RepoKey = v.pipe(Text, v.description("Null where none was sent."));
export const When = v.nullable(Instant);
/** JSON as it was sent, but for what was taken out of it. */
export const Document = v.pipe(v.unknown(), v.description("As it was sent, but for redactions."));

/** The number that stands in a path; 0, which nothing has, for anything else. */
export const numberIn = (text: string | undefined): number => (/^[1-9]\d{0,15}$/.test(text ?? "") ? Number(text) : 0);
