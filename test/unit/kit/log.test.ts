import { expect, it } from "vitest";
import { createLog } from "../../../src/kit/log.ts";

function capture(level: "debug" | "warn", pretty = false) {
  const lines: string[] = [];
  return { lines, log: createLog({ level, now: () => 0, write: (line) => lines.push(line), pretty }) };
}

it("writes one JSON object a line, whatever stands in a value", () => {
  const { lines, log } = capture("debug");
  log.info("event", { text: 'x\n{"level":"error"}\r\u0085\u2028\u009b31m\u0000', count: 1 });
  expect(lines).toHaveLength(1);
  expect(lines[0]?.endsWith("\n")).toBe(true);
  expect(lines[0]?.trimEnd()).toMatch(/^[\x20-\x7e]+$/);
  expect(JSON.parse(lines[0] as string)).toMatchObject({
    at: "1970-01-01T00:00:00.000Z",
    level: "info",
    event: "event",
    count: 1,
  });
});

it("writes nothing below its level", () => {
  const { lines, log } = capture("warn");
  log.info("quiet");
  log.error("loud");
  expect(lines).toHaveLength(1);
  expect([log.enabled("info"), log.enabled("warn")]).toEqual([false, true]);
});

it("lets no value act on a terminal in lines for people", () => {
  const { lines, log } = capture("debug", true);
  log.warn("event", { text: "\u001b[2J\nforged" });
  // Only the line's own colour, at its start and end.
  expect(lines[0]?.split("\u001b")).toHaveLength(3);
  expect(lines[0]?.match(/\n/g)).toHaveLength(1);
});
