import * as v from "valibot";
import { control } from "./route.ts";

const MAX_TIMES = 1_000_000;
const MAX_RETRY_SECONDS = 86_400;
const MAX_DELAY_MS = 600_000;

const RequestBody = v.strictObject({
  operationId: v.string(),
  status: v.optional(v.pipe(v.number(), v.safeInteger())),
  fault: v.optional(v.string()),
  times: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(MAX_TIMES)), 1),
  retryAfter: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(MAX_RETRY_SECONDS))),
  delayMs: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(MAX_DELAY_MS))),
  drop: v.optional(v.boolean()),
  truncate: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
});

export const faultRoutes = [
  control(
    {
      method: "GET",
      path: "/_dev/faults",
      description: "the faults that wait for requests, and all that can be planned, by operation",
    },
    ({ local: { faults } }) => ({ faults: faults.list(), declared: faults.declared() }),
  ),
  control(
    {
      method: "POST",
      path: "/_dev/faults",
      description:
        "answers the next requests of an operation (times, 1 by default; 0 takes it back) with a fault that it declares of a status, " +
        "in its shape with its headers; fault picks one by name or code, retryAfter gives the seconds to wait; with delayMs the reply comes late, with drop the " +
        "connection is reset instead, with truncate it ends after so many bytes of the body: of the fault, or, without a status, " +
        "of what the operation did and said",
      body: RequestBody,
      example: { operationId: "telemetryIngest", status: 503, times: 2, retryAfter: 7 },
    },
    ({ local: { faults }, body }) => ({ planned: faults.plan(body), faults: faults.list() }),
  ),
  control(
    {
      method: "DELETE",
      path: "/_dev/faults",
      description: "takes back planned faults: those of ?operationId=, or all",
    },
    ({ local: { faults }, query }) => ({
      cleared: faults.clear(query.get("operationId") ?? undefined),
      faults: faults.list(),
    }),
  ),
];
