import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Problem } from "../../../src/kit/problem.ts";
import { bytesField, varintField } from "../../../src/kit/protobuf.ts";
import { decodeRequest, decodeWithin } from "../../../src/record/otlp/protobuf.ts";
import { claudeCall, claudeLogs, protobufOf, spansOf, wireFields } from "../../support/otlp.ts";

const neverYields = () => undefined;
const decode = (bytes: Buffer, signal: "logs" | "traces" | "metrics" = "logs") =>
  decodeRequest(signal, bytes, neverYields);
const problemOf = (reading: Promise<unknown>) =>
  reading.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("reading OTLP in Protocol Buffers", () => {
  it("gives what OTLP/JSON writes", async () => {
    const logs = claudeLogs(
      claudeCall("req_1", { cost_usd: -0.5, success: false, largest: Number.MAX_SAFE_INTEGER, below: -7 }),
    );
    const { resourceLogs } = structuredClone(logs) as {
      resourceLogs: { scopeLogs: { scope: { version?: string } }[] }[];
    };
    delete resourceLogs[0]?.scopeLogs[0]?.scope.version;
    expect(await decode(protobufOf(logs))).toEqual({ resourceLogs });
    const spans = spansOf({ "service.name": "x" }, "y", {
      name: "é",
      values: { a: 1.5, b: "" },
      parent: "f".repeat(16),
    });
    expect(await decode(protobufOf(spans), "traces")).toEqual(spans);
  });

  it("counts data points, passes over what it does not know, and leaves lists and maps as they are, however deep", async () => {
    const points = bytesField(7, Buffer.concat([bytesField(1, "\x08\x01"), bytesField(1, ""), varintField(2, 1)]));
    const metrics = bytesField(1, bytesField(2, bytesField(2, Buffer.concat([bytesField(1, "name"), points]))));
    expect(await decode(metrics, "metrics")).toEqual({
      resourceMetrics: [{ scopeMetrics: [{ metrics: [{ sum: { dataPoints: [{}, {}] } }] }] }],
    });
    let deep = bytesField(1, "deep");
    for (let i = 0; i < 1_000; i++) deep = bytesField(5 + (i % 2), bytesField(1, i % 2 ? bytesField(2, deep) : deep));
    const record = Buffer.concat([
      varintField(2, 9),
      bytesField(99, "new"),
      bytesField(5, deep),
      bytesField(12, "event"),
    ]);
    expect(await decode(bytesField(1, bytesField(2, bytesField(2, record))))).toEqual({
      resourceLogs: [
        { scopeLogs: [{ logRecords: [{ body: { kvlistValue: expect.anything() }, eventName: "event" }] }] },
      ],
    });
  });

  it("reads of lists no more than a request may hold, however often and of however many records", async () => {
    const listOf = (length: number) => bytesField(5, Buffer.alloc(2 * length, Buffer.from([0x0a, 0x00])));
    const attribute = (length: number) =>
      bytesField(6, Buffer.concat([bytesField(1, "x"), bytesField(2, listOf(length))]));
    const records = Array.from({ length: 20 }, (_, i) => bytesField(2, attribute(i === 0 ? 25_000 : 19_000)));
    const read = (await decode(bytesField(1, bytesField(2, Buffer.concat(records))))) as {
      resourceLogs: { scopeLogs: { logRecords: { attributes: { value: { arrayValue: unknown } }[] }[] }[] }[];
    };
    const lists = (read.resourceLogs[0]?.scopeLogs[0]?.logRecords ?? []).map(
      (one) => one.attributes[0]?.value.arrayValue,
    );
    const lengths = [...lists, lists[1]].map((list) => {
      const { values } = decodeWithin("arrayValue", list) as { values?: unknown[] };
      return values?.length ?? 0;
    });
    expect(lengths).toEqual([0, ...Array(14).fill(19_000), ...Array(6).fill(0)]);
  });

  it("refuses what holds too much, or invalid text, with a sentence", async () => {
    const many = Buffer.alloc(600_002, Buffer.from([0x0a, 0x00]));
    const wrong = bytesField(1, bytesField(2, bytesField(2, bytesField(12, Buffer.from([0xff])))));
    for (const [bytes, status, message] of [
      [many, 413, "The body holds more than 300000 messages. Send it in smaller parts."],
      [wrong, 400, "The body is not an OTLP logs request: a text is not valid UTF-8."],
      [
        Buffer.from([0x08, 0x01]),
        400,
        "The body is not an OTLP logs request: a field is of another type than its message says.",
      ],
      [
        Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]),
        400,
        "The body is not an OTLP logs request: a field ends too early.",
      ],
      [Buffer.alloc(20, 0x80), 400, "The body is not an OTLP logs request: a number is too long."],
      [Buffer.from([0x0b]), 400, "The body is not an OTLP logs request: a field is of the unknown type 3."],
      [Buffer.from([0x02, 0x00]), 400, "The body is not an OTLP logs request: a field has no number."],
    ] as const)
      expect(await problemOf(decode(bytes))).toMatchObject({ status, message });
  });

  it("turns any bytes into a request or a refusal, and pauses on the way", async () => {
    const good = protobufOf(claudeLogs(claudeCall("req_1"), claudeCall("req_2")));
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ at: fc.nat(good.length - 1), to: fc.nat(255) }), { maxLength: 8 }),
        fc.nat(good.length),
        fc.uint8Array({ maxLength: 64 }),
        async (changes, length, tail) => {
          const bytes = Buffer.concat([good.subarray(0, length), tail]);
          for (const { at, to } of changes) if (at < bytes.length) bytes[at] = to;
          const failure = await problemOf(decode(bytes));
          if (failure !== undefined) refused++;
          expect(failure === undefined || failure instanceof Problem).toBe(true);
        },
      ),
      { numRuns: 2_000 },
    );
    expect(refused).toBeGreaterThan(100);
    let pauses = 0;
    const large = protobufOf(claudeLogs(...Array.from({ length: 500 }, (_, i) => claudeCall(`req_${i}`))));
    await decodeRequest("logs", large, () => {
      pauses++;
      return undefined;
    });
    expect(pauses).toBeGreaterThan(10);
  });
});

describe("the wire format", () => {
  it("reads what it wrote", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.maxSafeNat(), fc.string(), (number, value, text) => {
        const [first, second] = [...wireFields(Buffer.concat([varintField(number, value), bytesField(number, text)]))];
        expect([first?.number, first?.value, second?.number, second?.bytes.toString()]).toEqual([
          number,
          value,
          number,
          Buffer.from(text).toString(),
        ]);
      }),
    );
  });
});
