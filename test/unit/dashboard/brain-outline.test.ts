import { expect, it } from "vitest";
import { html } from "../../../src/kit/html.ts";
import { outlined } from "../../../src/surfaces/web/dashboard/brain/outline.ts";

const FILE = `---
title: x
---
# Errors with \`code\` & <b>marks</b>

> ## Quoted

## Same

first

## Same

second

Underlined
----------
`;

const anchored = (line: number) => {
  const { rendered } = outlined(FILE, line);
  return /<span id="L(\d+)"><\/span><h\d id="([^"]+)"/.exec(String(rendered))?.slice(1, 3);
};

it("lists the headings as they are rendered, escaped once", () => {
  const { headings } = outlined(FILE, undefined);
  expect(headings.map(({ level, line, id, text }) => [level, line, id, String(html`${text}`)])).toEqual([
    [1, 4, "md-errors-with-code-b-marks-b", "Errors with code &amp; &lt;b&gt;marks&lt;/b&gt;"],
    [2, 6, "md-quoted", "Quoted"],
    [2, 8, "md-same", "Same"],
    [2, 12, "md-same-2", "Same"],
    [2, 16, "md-underlined", "Underlined"],
  ]);
});

it("puts the anchor of a line before the section that holds it, also among headings of one name", () => {
  expect(anchored(5)).toEqual(["5", "md-errors-with-code-b-marks-b"]);
  expect(anchored(10)).toEqual(["10", "md-same"]);
  expect(anchored(14)).toEqual(["14", "md-same-2"]);
  expect(anchored(99)).toEqual(["99", "md-underlined"]);
});

it("begins at the top for a line before the first heading", () => {
  expect(String(outlined("text\n\n# A\n", 1).rendered)).toMatch(/^<span id="L1"><\/span><p>text/);
});

it("puts notes below the headings of their lines, and the anchor of a line before its own", () => {
  const notes = new Map([8, 12].map((line) => [line, html`<p>note ${line}</p>`]));
  const { rendered } = outlined(FILE, 13, notes);
  const found = [...String(rendered).matchAll(/<span id="L13">|id="(md-same[^"]*)"|note \d+/g)].map(([all]) => all);
  expect(found).toEqual(['id="md-same"', "note 8", '<span id="L13">', 'id="md-same-2"', "note 12"]);
});
