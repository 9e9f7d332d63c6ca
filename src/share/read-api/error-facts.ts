import * as v from "valibot";
import type { findClass } from "../../insight/defects/defects.ts";
import { STATES, type Standing } from "../../insight/triage/triage.ts";
import { instantOrNull } from "../../kit/clock.ts";
import { Count } from "../../platform/http/fields.ts";
import { Text, When } from "./fields.ts";

const Day = v.pipe(v.string(), v.isoDate());

type ErrorClass = NonNullable<Awaited<ReturnType<typeof findClass>>>;

/** How it stands: what people said of it, else what its file says. */
export const StandingFacts = v.object({
  state: v.pipe(
    v.picklist(STATES),
    v.description(
      "`open`; `again`: it came again, after it was resolved where somebody said so; `snoozed`; `resolved`. A person's word counts before the file's.",
    ),
  ),
  owner: v.pipe(
    v.nullable(v.object({ id: v.string(), email: v.string(), name: Text })),
    v.description("Who has taken it on."),
  ),
  snoozedUntil: v.pipe(When, v.description("Null where it is not snoozed, or until it comes again.")),
  tracker: v.pipe(Text, v.description("Address of where it is tracked, https.")),
});

export const standingOf = ({ state, owner, snoozedUntil, tracker }: Standing) => ({
  ...{ state, owner, snoozedUntil: instantOrNull(snoozedUntil), tracker },
});

/** What lists and single replies tell of a class of entries alike. */
export const ClassFacts = v.object({
  id: v.pipe(v.string(), v.description("The fingerprint's first 8 hexadecimal digits; `/api/errors/{id}`.")),
  occurrences: Count,
  open: v.pipe(Count, v.description("Of them, those that are open.")),
  firstSeen: Day,
  lastSeen: Day,
  title: v.pipe(v.string(), v.description("Of its newest entry.")),
  rule: v.pipe(Text, v.description("The prevention rule of its newest entry.")),
  ...StandingFacts.entries,
});

export const factsOf = (
  { fingerprint, occurrences, open, firstSeen, lastSeen, title, rule }: ErrorClass,
  standing: Standing,
) => ({
  id: fingerprint,
  ...{ occurrences, open, firstSeen, lastSeen, title, rule },
  ...standingOf(standing),
});

export const EXAMPLE_CLASS = {
  id: "3fa9c1d2",
  occurrences: 2,
  open: 1,
  firstSeen: "2026-11-02",
  lastSeen: "2026-11-21",
  title: "Login loop",
  rule: "Set SameSite on every cookie",
  state: "again" as const,
  owner: { id: "usr_01j9z8y7x6w5v4u3t2s1r0q9p8", email: "ada@example.com", name: "Ada" },
  snoozedUntil: null,
  tracker: "https://tracker.example.com/browse/SHOP-12",
};
