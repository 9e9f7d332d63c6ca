import { describe, expect, it } from "vitest";
import { bestOf, reportsAfter } from "../../../src/insight/spend/dedupe.ts";
import { ID_IN_SPANS_ONLY, ID_IN_TELEMETRY_ONLY } from "../../../src/insight/spend/dedupe-key.ts";
import { oneSided, reconcile } from "../../../src/insight/spend/reconcile.ts";
import { type Dimensions, NO_MEASURES, type Report, TELEMETRY } from "../../../src/insight/spend/usage-record.ts";

const SPANS = 7;
const AT: Dimensions = {
  teamId: "t",
  day: 1,
  repoKey: "r",
  branch: "",
  model: "",
  deviceId: "d",
  session: "s",
  context: 0,
  otlp: 0,
};
const call = (source: number, more: Partial<Dimensions> = {}, times = 1, output = 5): Report => ({
  source,
  times,
  dimensions: { ...AT, ...more },
  measures: { ...NO_MEASURES, usages: 1, output },
});
const counts = (rows: readonly Report[]) => reconcile(rows).map(({ dimensions, times }) => [dimensions.model, times]);

describe("reports without an id, of equal measures in one session", () => {
  it("count as often as the side that has more of them reports them", () => {
    expect(counts([call(TELEMETRY, {}, 2), call(SPANS, {}, 3)])).toEqual([
      ["", 2],
      ["", 1],
    ]);
  });

  it("are paired within their model first, with or without its date, and take the model from whichever side names it", () => {
    const telemetry = [call(TELEMETRY, { model: "claude-opus-4-6" }), call(TELEMETRY)];
    const spans = [call(SPANS, { model: "gpt-5" }), call(SPANS, { model: "claude-opus-4-6-20260205" })];
    expect(counts([...telemetry, ...spans])).toEqual([
      ["claude-opus-4-6", 1],
      ["gpt-5", 1],
    ]);
  });

  it("match calls with an id of the other side, once each, and give them what they lack", () => {
    const inSpansOnly = call(ID_IN_SPANS_ONLY);
    expect(counts([inSpansOnly, call(TELEMETRY, { model: "gpt-5" })])).toEqual([
      ["", -1],
      ["gpt-5", 1],
    ]);
    expect(counts([inSpansOnly, call(TELEMETRY, {}, 3)])).toEqual([["", 2]]);
    expect(counts([{ ...inSpansOnly, dimensions: null, measures: NO_MEASURES }, call(TELEMETRY)])).toEqual([]);
    // They do not match calls of their own side.
    expect(counts([call(ID_IN_TELEMETRY_ONLY), call(TELEMETRY)])).toEqual([["", 1]]);
  });
});

describe("reports of one call with an id", () => {
  it("are kept as the best of each source and session, until the source is read anew", () => {
    const stored = reportsAfter([call(TELEMETRY)], [{ replaces: undefined, reports: [call(TELEMETRY, {}, 1, 9)] }]);
    expect(stored.map(({ measures }) => measures.output)).toEqual([9]);
    const withCopy = reportsAfter(stored, [{ replaces: SPANS, reports: [call(SPANS, { session: "copy" }, 1, 12)] }]);
    expect(bestOf(withCopy)).toMatchObject({ source: SPANS, measures: { output: 12 } });
    expect(bestOf(reportsAfter(withCopy, [{ replaces: SPANS, reports: [] }]))).toMatchObject({ source: TELEMETRY });
  });

  it("count as reports without an id where only one side made them", () => {
    const [entry, span, copy] = [call(TELEMETRY), call(SPANS, {}, 1, 9), call(SPANS, { session: "copy" })];
    expect(oneSided([entry, span], span)).toEqual([]);
    expect(oneSided([entry, copy], entry)).toMatchObject([
      { source: ID_IN_TELEMETRY_ONLY, session: { session: "s" }, dimensions: AT, measures: entry.measures },
      { source: ID_IN_SPANS_ONLY, session: { session: "copy" }, dimensions: null, measures: NO_MEASURES },
    ]);
    expect(oneSided([call(TELEMETRY, { session: "" })], undefined)).toEqual([]);
  });
});
