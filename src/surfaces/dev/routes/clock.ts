import * as v from "valibot";
import { parseDuration } from "../../../kit/clock.ts";
import { fail, invalid } from "../../../kit/problem.ts";
import { isWithinRange, RANGE } from "../clock.ts";
import { InstantText } from "./instant.ts";
import { control } from "./route.ts";

const Instant = v.union([v.pipe(v.number(), v.safeInteger()), InstantText]);
const Span = v.union([v.pipe(v.number(), v.safeInteger(), v.minValue(0)), v.string()]);

const ClockChange = v.strictObject({
  freeze: v.optional(v.boolean()),
  advance: v.optional(Span),
  set: v.optional(Instant),
});

export const clockRoutes = [
  control({ method: "GET", path: "/_dev/clock", description: "the instance's time" }, ({ local }) => ({
    clock: local.clock.describe(),
  })),
  control(
    {
      method: "POST",
      path: "/_dev/clock",
      description:
        'moves time: set (ISO 8601 or milliseconds), then advance ("90d", "6s" or milliseconds), then freeze (true) or run on ' +
        "(false). Every expiry, quota and poll interval follows",
      body: ClockChange,
      example: { advance: "90d" },
    },
    ({ local: { clock }, body }) => {
      const target = body.set === undefined ? clock.now() : readInstant(body.set);
      const by = body.advance === undefined ? 0 : readSpan(body.advance);
      if (!isWithinRange(target + by)) fail(invalid, `The clock goes ${RANGE}.`);
      if (body.set !== undefined) clock.set(target);
      clock.advance(by);
      if (body.freeze === true) clock.freeze();
      if (body.freeze === false) clock.run();
      return { clock: clock.describe() };
    },
  ),
];

const readInstant = (value: string | number) => (typeof value === "number" ? value : Date.parse(value));

function readSpan(value: string | number): number {
  const ms = typeof value === "number" ? value : parseDuration(value);
  if (ms === undefined)
    fail(invalid, '"advance" must be milliseconds or a span such as 6s, 15m, 12h or 90d; "set" goes back.');
  return ms;
}
