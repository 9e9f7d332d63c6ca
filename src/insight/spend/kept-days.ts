import { slot } from "../../core.ts";
import { KeptByDay } from "../../kit/kept-by-day.ts";
import type { Summings } from "./sums.ts";

/** Sums that are kept: some 250 bytes each. */
const MAX_SUMS = 60_000;

/** Sums of days, kept until something of a day changes; whatever changes a cell says so. */
export const keptDays = slot(() => new KeptByDay<Summings>(MAX_SUMS, ({ groups }) => groups.length + 1));
