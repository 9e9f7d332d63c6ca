import * as v from "valibot";
import type { findClass } from "../../insight/defects/defects.ts";
import { Count } from "../../platform/http/fields.ts";
import { Text } from "./fields.ts";

const Day = v.pipe(v.string(), v.isoDate());

type ErrorClass = NonNullable<Awaited<ReturnType<typeof findClass>>>;

/** What lists and single replies tell of a class of entries alike. */
export const ClassFacts = v.object({
  id: v.pipe(v.string(), v.description("The fingerprint's first 8 hexadecimal digits; `/api/errors/{id}`.")),
  occurrences: Count,
  open: v.pipe(Count, v.description("Of them, those that are open.")),
  firstSeen: Day,
  lastSeen: Day,
  title: v.pipe(v.string(), v.description("Of its newest entry.")),
  rule: v.pipe(Text, v.description("What its newest entry says must be done.")),
});

export const factsOf = ({ fingerprint, occurrences, open, firstSeen, lastSeen, title, rule }: ErrorClass) => ({
  id: fingerprint,
  ...{ occurrences, open, firstSeen, lastSeen, title, rule },
});

export const EXAMPLE_CLASS = {
  id: "3fa9c1d2",
  occurrences: 2,
  open: 1,
  firstSeen: "2026-11-02",
  lastSeen: "2026-11-21",
  title: "Login loop",
  rule: "Set SameSite on every cookie",
};
