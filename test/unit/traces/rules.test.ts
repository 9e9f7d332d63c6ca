import * as v from "valibot";
import { expect, it, onTestFinished, vi } from "vitest";
import { asDateTime, readInstant } from "../../../src/formats/values.ts";
import { DateTime } from "../../../src/platform/http/fields.ts";
import { areTimesPlain, readSpan } from "../../../src/record/traces/rules.ts";

const AT = Date.UTC(2026, 10, 21, 8);

it.each([
  ["ISO text", "2026-11-21T08:00:00Z", AT],
  ["seconds", AT / 1000, AT],
  ["milliseconds", AT, AT],
  ["microseconds", AT * 1000, AT],
  ["nanoseconds as text", `${AT}000000`, AT],
  ["rubbish", "soon", null],
  ["a day that does not exist", "2026-02-30T00:00:00Z", null],
  ["a leap day in a year without one", "2026-02-29", null],
  ["a leap day", "2028-02-29T00:00:00Z", Date.UTC(2028, 1, 29)],
  ["ISO text without an offset, which is UTC", "2026-11-21T08:00:00.000", AT],
  ["a day and an hour, as Python writes them", "2026-11-21 08:00:00.000000", AT],
  ["a day and an hour with an offset", "2026-11-21 09:00:00+01:00", AT],
  ["an hour of one digit without an offset", "2026-11-21 8:00", AT],
  ["a half of the day without an offset", "2026-11-21 08:00:00 AM", AT],
  ["a space behind an hour without an offset", "2026-11-21 08:00:00 ", AT],
  ["a day and an hour with the name of a zone", "2026-11-21 08:00:00 UTC", AT],
  ["the last instant that RFC 3339 can write", "9999-12-31T23:59:59.999Z", 253_402_300_799_999],
  ["an instant beyond it", "9999-12-31T23:59:59-12:00", null],
  ["a year of six digits", "+275760-09-13T00:00:00.000Z", null],
  ["a year before the first", "-000001-01-01T00:00:00Z", null],
  ["text with a number in it", "turn 3", null],
  ["a version", "2026.11", null],
  ["a negative number", -1, null],
  ["nanoseconds as a number", Number(`${AT}000000`), AT],
  ["seconds and nanoseconds", [AT / 1000, 250_999_999], AT + 250],
  ["seconds and nanoseconds of nothing", [0, 0], null],
  ["a list of something else", [1, "2"], null],
  ["an object", {}, null],
  ["nothing", undefined, null],
])("reads an instant from %s", (_, value, at) => {
  vi.stubEnv("TZ", "America/New_York");
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(readInstant(value)).toBe(at);
});

it.each([
  "2026-11-21T08:00:00Z",
  "2026-11-21T08:00:00.123+01:00",
  "2026-02-30T08:00:00Z",
  "2026-11-21T24:00:00Z",
  "2026-11-21T08:00:60Z",
  "0000-11-21T08:00:00Z",
  "2026-11-21T08:00:00+24:00",
])("takes %s from a transcript as an instant where the service does", (text) => {
  expect(asDateTime(text) !== undefined).toBe(v.is(DateTime, text));
});

const START = `${AT}000000`;
const END = `${AT + 5}000000`;

it.each([
  ["ours", { id: "b", parentId: "a", startedAt: AT, endedAt: AT + 5 }],
  ["OTLP/JSON", { spanId: "b", parentSpanId: "a", startTimeUnixNano: START, endTimeUnixNano: END }],
  [
    "OTLP's protobuf",
    { span_id: "b", parent_span_id: "a", start_time_unix_nano: START, end_time_unix_nano: Number(END) },
  ],
  [
    "the Python SDK",
    {
      context: { span_id: "b", trace_id: "t" },
      parent_id: "a",
      start_time: "2026-11-21T08:00:00.000000Z",
      end_time: "2026-11-21T08:00:00.005000Z",
    },
  ],
  [
    "the JavaScript SDK",
    {
      id: "b",
      parentSpanContext: { spanId: "a" },
      startTime: [AT / 1000, 0],
      endTime: [AT / 1000, 5_000_000],
    },
  ],
  [
    "several at once, ours first",
    { id: "b", spanId: "x", parentId: "a", parent_id: "x", startedAt: AT, startTime: 1, endedAt: AT + 5 },
  ],
  [
    "ours, unreadable, and OpenTelemetry's",
    { id: "b", parentId: "a", startedAt: "soon", startTime: AT, endTime: AT + 5 },
  ],
])("reads a span with the names of %s", (_, span) => {
  expect(readSpan(span)).toMatchObject({ externalId: "b", parentId: "a", startedAt: AT, endedAt: AT + 5 });
});

it("tells apart times that all versions read alike and those that earlier versions read differently", () => {
  const plain = [{}, { startedAt: "2026-11-21T08:00:00Z", endTime: "2026-11-21T10:00:00.5+02:00" }];
  const more = [{ startedAt: "2026-11-21" }, { start_time_unix_nano: "1795390256000000000" }, { startTime: [1, 2] }];
  for (const fields of [...plain, ...more]) expect([fields, areTimesPlain(fields)]).toEqual([fields, true]);
  const otherwise = ["turn 3", "2026-11-21T08:00:00", "2026-11-21 08:00", "+275760-09-13T00:00:00Z", "Nov 21, 2026"];
  for (const startedAt of otherwise) expect([startedAt, areTimesPlain({ startedAt })]).toEqual([startedAt, false]);
});
