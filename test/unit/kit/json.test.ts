import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { duplicateKey, elements, findMember, members } from "../../../src/kit/json.ts";
import { anyText } from "../../support/texts.ts";

const spaced = (value: unknown) => JSON.stringify(value, null, 3);

describe("slices of JSON text", () => {
  it("are, for any object, the members in their own spelling", () => {
    fc.assert(
      fc.property(fc.dictionary(anyText(), fc.jsonValue()), fc.boolean(), (object, wide) => {
        const text = wide ? spaced(object) : JSON.stringify(object);
        const found = members(text);
        expect(found.map(({ key }) => key)).toEqual(Object.keys(JSON.parse(text)));
        for (const { key, start, end } of found)
          expect(JSON.parse(text.slice(start, end))).toEqual(JSON.parse(text)[key]);
      }),
    );
  });

  it("are, for any array, its elements", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.boolean(), (array, wide) => {
        const text = wide ? spaced(array) : JSON.stringify(array);
        expect(elements(text).map(({ start, end }) => JSON.parse(text.slice(start, end)))).toEqual(JSON.parse(text));
      }),
    );
  });

  it("keep what parsing would change", () => {
    const text = ' { "a" : 12345678901234567890 , "a":1e400,"\\u0062" : "\\\\\\"}" } ';
    const found = members(text);
    expect(found.map(({ key }) => key)).toEqual(["a", "a", "b"]);
    expect(found.map(({ start, end }) => text.slice(start, end))).toEqual([
      "12345678901234567890",
      "1e400",
      '"\\\\\\"}"',
    ]);
    expect(duplicateKey(found)).toBe("a");
    expect(text.slice(findMember(found, "a")?.start, findMember(found, "a")?.end)).toBe("1e400");
  });

  it("do not exist for anything but an object or array", () => {
    for (const text of ["1", '"{}"', "null", "true"]) expect([members(text), elements(text)]).toEqual([[], []]);
  });
});
