import { expect, it } from "vitest";
import { jsonHolds } from "../../../src/kit/json-holds.ts";

/** JSON as Python writes it: everything beyond ASCII escaped by its number. */
const escaped = (text: string): string =>
  JSON.stringify({ text }).replace(/[^\x20-\x7e]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

it.each([
  ["zürich", "Nach ZÜRICH gefahren"],
  ["İstanbul", "to İSTANBUL, and back"],
  ["i̇stanbul", "to İstanbul"],
  ["istanbul", "to Istanbul\u00a0and back"],
  ["ΟΔΟΣ", "ΟΔΟΣ 1"],
  ["straße", "GROẞE STRAẞE"],
  ["kelvin Å", "300 \u212aelvin \u212b"],
  ['😀 "quoted"', 'é 😀 "Quoted"'],
  ["𞤢", "𞤀"],
  ["多くの文字からなる長い文章の終わり", "これは多くの文字からなる長い文章の終わりです"],
  ["a\nb", "ü a\nB"],
])("finds %j however it is spelled, in any case", (text, whole) => {
  const holds = jsonHolds(text);
  expect([
    holds(JSON.stringify({ text: whole })),
    holds(escaped(whole)),
    holds(escaped(whole).toUpperCase().replaceAll("\\U", "\\u")),
  ]).toEqual([true, true, true]);
  expect([holds(escaped("über nichts dergleichen")), holds("{}")]).toEqual([false, false]);
});

it("does not take an escaped backslash for the start of an escape", () => {
  expect(jsonHolds("ü")(String.raw`"\\u00fc \u00e9"`)).toBe(false);
});
