import { describe, expect, it } from "vitest";
import { newUserCode, readUserCode } from "../../../src/identity/device-flow/authorizations.ts";
import { systemRandom } from "../../../src/kit/random.ts";

describe("user codes", () => {
  it("have eight letters that make no words, grouped for reading", () => {
    for (let i = 0; i < 200; i++)
      expect(newUserCode(systemRandom)).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  });

  it("use each letter equally often: bytes beyond the last whole multiple are drawn again", () => {
    const bytes = [255, 240, 0, 19, 20, 39, 239, 1, 2, 3, 4];
    let from = 0;
    const random = (count: number) => {
      const taken = bytes.slice(from, from + count);
      from += count;
      return Buffer.from([...taken, ...Array(count - taken.length).fill(4)]);
    };
    expect(newUserCode(random)).toBe("BZBZ-ZCDF");
  });

  it.each([
    ["as shown", "WDJB-MJHT"],
    ["in lower case", "wdjb-mjht"],
    ["without a dash", "wdjbMJHT"],
    ["with spaces", " wd jb mj ht\t"],
    ["with a dash that a word processor made", "WDJB–MJHT"],
    ["with a dash after each letter", "w-d-j-b-m-j-h-t"],
  ])("are read %s", (_, typed) => {
    expect(readUserCode(typed)).toBe("WDJB-MJHT");
  });

  it.each([
    ["nothing", ""],
    ["too few letters", "WDJB-MJH"],
    ["too many", "WDJB-MJHTT"],
    ["vowels", "WDJA-MJHT"],
    ["digits", "WDJ8-MJHT"],
    ["letters whose upper case is of the alphabet", "ſdjb-mjht"],
    ["a letter that grows in upper case", "ßdjb-mjh"],
    ["an endless text", "-".repeat(1_000_000)],
  ])("are not read from %s", (_, typed) => {
    expect(readUserCode(typed)).toBeUndefined();
  });
});
