import * as fc from "fast-check";
import { expect, it } from "vitest";
import { indentJson, layOutJson } from "../../../src/kit/json-indent.ts";

it("lays out any JSON as JSON.stringify does", () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(4), (text, space) => {
      const value: unknown = JSON.parse(text);
      expect(indentJson(JSON.stringify(value, null, space), 1_000_000)).toBe(JSON.stringify(value, null, 2));
    }),
  );
});

it("leaves numbers, escapes and repeated members as they are spelled", () => {
  expect(indentJson('{"a":1.0e2,"a":12345678901234567890,"\\u0062":"\\/ \\" }, {","c":[ ],"d":{ }}', 1_000)).toBe(
    '{\n  "a": 1.0e2,\n  "a": 12345678901234567890,\n  "\\u0062": "\\/ \\" }, {",\n  "c": [],\n  "d": {}\n}',
  );
});

it("gives up when the layout would be longer than allowed", () => {
  const deep = `${"[".repeat(64)}${"0,".repeat(30_000)}0${"]".repeat(64)}`;
  expect(indentJson(deep, 4 * deep.length)).toBeUndefined();
  expect(indentJson("[1]", 2)).toBeUndefined();
});

it("leaves a text as it is spelled that would become more than four times as long", () => {
  const value = { a: [1, { b: 'x "{[,:]}" \\ y' }, [], {}], c: null, "d,": true };
  expect(layOutJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
  const deep = `${"[".repeat(64)}${"0,".repeat(30_000)}0${"]".repeat(64)}`;
  expect(layOutJson(deep)).toBe(deep);
});
