/** What holds for the readers of all agents. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AGENTS } from "../../../../src/formats/agents/agents.ts";
import type { AgentFormat, TranscriptEvent } from "../../../../src/formats/agents/transcript.ts";
import { SAMPLES } from "./samples.ts";

const BLOB = "iVBORw0KGgo".repeat(200);
const MAX_TEXT_BYTES = 256 * 1024;

function read(format: AgentFormat, records: readonly string[], carry?: unknown) {
  const reader = format.open({ path: SAMPLES[format.agent]?.path ?? "" }, carry);
  return { events: records.flatMap((record) => reader.read(record)), carry: reader.carry() };
}

const sampleOf = (format: AgentFormat) =>
  (SAMPLES[format.agent]?.records ?? []).map((record) => JSON.stringify(record));

/** Every text of events, wherever it stands. */
function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

const happenings = (events: readonly TranscriptEvent[]) => events.filter(({ type }) => type !== "session");
/** The final facts about each session. */
const factsOf = (events: readonly TranscriptEvent[]) =>
  Object.fromEntries(
    [
      ...Map.groupBy(
        events.filter((event) => event.type === "session"),
        ({ sessionId }) => sessionId,
      ),
    ].map(([id, facts]) => [id, Object.assign({}, ...facts.map((fact) => JSON.parse(JSON.stringify(fact))))]),
  );

describe.each(AGENTS.map((format) => [format.agent, format] as const))("the reader of %s", (_, format) => {
  const records = sampleOf(format);
  const whole = read(format, records);

  it("has a sample with every type of event that a session needs", () => {
    const types = new Set(whole.events.map((event) => event.type));
    expect([...types]).toEqual(expect.arrayContaining(["session", "prompt", "reply", "tool-call", "tool-result"]));
    expect(whole.events.filter((event) => event.type === "unknown")).toEqual([]);
    expect(ofEdits(whole.events).length).toBeGreaterThan(0);
  });

  it("continues after any record from its state, as if it had read all at once", () => {
    for (let cut = 0; cut <= records.length; cut++) {
      const first = read(format, records.slice(0, cut));
      const second = read(format, records.slice(cut), JSON.parse(JSON.stringify(first.carry)));
      const events = [...first.events, ...second.events];
      // A fact that is repeated replaces the earlier one.
      expect(happenings(events), `cut before record ${cut}`).toEqual(happenings(whole.events));
      expect(factsOf(events), `cut before record ${cut}`).toEqual(factsOf(whole.events));
    }
    const carried = JSON.stringify(whole.carry);
    expect(carried.length).toBeLessThan(4096);
    // The state may be stored where texts may not, so it holds no title.
    for (const { title } of Object.values(factsOf(whole.events))) if (title) expect(carried).not.toContain(title);
  });

  it("loses nothing by the records that it skips", () => {
    for (const record of records) {
      const head = record.slice(0, 256);
      if (format.skips?.(head)) expect(read(format, [record]).events, head).toEqual([]);
    }
    const kept = records.filter((record) => !format.skips?.(record.slice(0, 256)));
    expect(read(format, kept).events).toEqual(whole.events);
  });

  it("survives whatever it is given, and counts what it cannot read", () => {
    const garbage = fc.oneof(fc.string(), fc.json(), fc.constantFrom(...records).chain(damaged));
    fc.assert(
      fc.property(fc.array(garbage, { maxLength: 20 }), (lines) => {
        const { events } = read(format, lines);
        expect(events.every((event) => typeof event.type === "string")).toBe(true);
      }),
      { numRuns: 300 },
    );
    // Parsing this would block a process for seconds.
    const deep = `${records.at(-1)?.slice(0, -1)},"x":${"[".repeat(150_000)}${"]".repeat(150_000)}}`;
    expect(read(format, ["", "{", "[]", "7", "null", deep]).events).toEqual(
      Array.from({ length: 6 }, () => ({ type: "unknown", kind: "unreadable" })),
    );
  });

  it("survives members of any type in the place of those that it knows", () => {
    const strange = fc.constantFrom(null, 7, -1, "x", true, [], {}, [null], [[]], { a: 1 }, ["x"], 1e300);
    fc.assert(
      fc.property(fc.constantFrom(...records), fc.nat(), strange, (record, at, value) => {
        read(format, [JSON.stringify(replaced(JSON.parse(record), at, value)), ...records]);
      }),
      { numRuns: 500 },
    );
  });

  it("reads the same when a member cannot be converted to text as when it is any object", () => {
    const inside = (member: object) => [member, { type: member }, [member]];
    const typesWith = (record: string, at: number, member: object) =>
      inside(member).map((value) => {
        const { events } = read(format, [JSON.stringify(replaced(JSON.parse(record), at, value))]);
        return events.map(({ type }) => type);
      });
    for (const record of records)
      for (let at = 0; at < 40; at++)
        expect(typesWith(record, at, { toString: null }), record).toEqual(typesWith(record, at, { a: null }));
  });

  it("reads records in any order", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(records), (some) => {
        read(format, some);
      }),
      { numRuns: 100 },
    );
  });

  it("passes on no text beyond the limit, and no data in base64", () => {
    const long = "lang ".repeat(40_000);
    const grown = records.map((record) => JSON.stringify(lengthened(JSON.parse(record), `${BLOB}\n${long}`)));
    for (const event of read(format, grown).events) {
      const texts = textsOf(event);
      expect(Math.max(...texts.map((text) => Buffer.byteLength(text)))).toBeLessThanOrEqual(MAX_TEXT_BYTES);
      expect(texts.some((text) => text.includes(BLOB.slice(0, 1100)))).toBe(false);
    }
  });

  // A search in quadratic time would take longer than a test may.
  it("comes to the end of records that are deep or long", () => {
    const deep = `${"[".repeat(4_000_000)}${"]".repeat(4_000_000)}`;
    const wide = "x y\\n".repeat(1_600_000);
    for (const record of records) {
      const { events } = read(format, [
        record.replace(/"(?:input|args|arguments|state|edits)":[{["]/, `"input":${deep},$&`),
      ]);
      expect(JSON.stringify(events).length).toBeLessThan(deep.length);
    }
    const { events } = read(
      format,
      records.slice(-2).map((record) => record.replace(/"(?:text|content|output)":"/, `$&${wide}`)),
    );
    expect(JSON.stringify(events).length).toBeLessThan(wide.length);
  });
});

const ofEdits = (events: readonly TranscriptEvent[]) =>
  events.flatMap((event) => (event.type === "tool-result" ? event.edits : []));

/** A record cut off, or with a piece taken out. */
const damaged = (record: string) =>
  fc.tuple(fc.nat(record.length), fc.nat(record.length)).map(([a, b]) => record.slice(0, a) + record.slice(b));

/** A value of which the part number `at` is replaced. */
function replaced(value: unknown, at: number, by: unknown): unknown {
  let left = at % 40;
  const walk = (part: unknown): unknown => {
    if (left-- === 0) return by;
    if (Array.isArray(part)) return part.map(walk);
    if (typeof part !== "object" || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([name, member]) => [name, walk(member)]));
  };
  return walk(value);
}

/** A record whose free texts are longer. */
function lengthened(value: unknown, by: string): unknown {
  if (typeof value === "string") return / /.test(value) && !value.startsWith("{") ? `${value}\n${by}` : value;
  if (Array.isArray(value)) return value.map((part) => lengthened(part, by));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, lengthened(member, by)]));
}
