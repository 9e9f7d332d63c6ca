import fc from "fast-check";
import { expect, it } from "vitest";
import { hasUnseen, misleadingSign, visible, withoutMisleading } from "../../../src/kit/escape-invisible.ts";

it("spells out invisible characters and leaves all else as it is", () => {
  for (const [text, seen] of [
    ["gpj\u202e.md", "gpj⟨U+202E⟩.md"],
    ["a\u200bb\u0000c\u2028", "a⟨U+200B⟩b⟨U+0000⟩c⟨U+2028⟩"],
    ["tag\u{e0041}", "tag⟨U+E0041⟩"],
    ["größe ❤️ 日本.md", "größe ❤️ 日本.md"],
  ] as const) {
    expect([visible(text), hasUnseen(text)]).toEqual([seen, text !== seen]);
    expect(visible(visible(text))).toBe(seen);
  }
});

it("removes misleading characters from a name, but not the joiners that scripts and emoji need", () => {
  for (const [name, left] of [
    ["Ada \u202erekcah", "Ada rekcah"],
    ["a\u200bb\u200dc", "abc"],
    ["نیم\u200cفاصله", "نیم\u200cفاصله"],
    ["👩\u200d💻", "👩\u200d💻"],
    ["Ada ❤\ufe0f\ufe0f", "Ada ❤\ufe0f"],
  ] as const)
    expect(withoutMisleading(name)).toBe(left);
});

it("leaves no character in a name for which the same name would be refused as input", () => {
  const signs = fc.constantFrom(
    "a",
    "م",
    "💻",
    "❤",
    "\u200d",
    "\u200c",
    "\ufe0f",
    "\u{e0100}",
    "\u202e",
    "\n",
    "\u3164",
  );
  fc.assert(
    fc.property(fc.array(signs), (name) => misleadingSign(withoutMisleading(name.join(""))) === undefined),
    {
      numRuns: 3_000,
    },
  );
});
