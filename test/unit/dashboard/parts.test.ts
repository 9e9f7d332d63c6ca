import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { html } from "../../../src/kit/html.ts";
import { button, buttonLink } from "../../../src/surfaces/web/ui/button.ts";
import { barChart } from "../../../src/surfaces/web/ui/chart.ts";
import { confirmButton } from "../../../src/surfaces/web/ui/confirm.ts";
import { diff } from "../../../src/surfaces/web/ui/diff.ts";
import { field } from "../../../src/surfaces/web/ui/field.ts";
import { form } from "../../../src/surfaces/web/ui/form.ts";
import { formSpec } from "../../../src/surfaces/web/ui/form-spec.ts";
import { layout } from "../../../src/surfaces/web/ui/layout.ts";
import { filters, pager, table } from "../../../src/surfaces/web/ui/list.ts";
import {
  badge,
  codeBlock,
  columns,
  empty,
  facts,
  pageHead,
  prose,
  secretOnce,
  section,
  stats,
  tabs,
  timeline,
} from "../../../src/surfaces/web/ui/parts.ts";
import { placeSpans } from "../../../src/surfaces/web/ui/span-tree.ts";
import {
  ago,
  agoText,
  bytes,
  compact,
  countdown,
  duration,
  number,
  plural,
  time,
  utcText,
} from "../../../src/surfaces/web/ui/units.ts";
import { ticksOf, waterfall } from "../../../src/surfaces/web/ui/waterfall.ts";

const NOW = Date.UTC(2026, 10, 21, 8, 0, 0);
const EVIL = `"><script>alert(1)</script><img src=x onerror='alert(2)'>`;
const ESCAPED = "&quot;&gt;&lt;script&gt;";
const assets = { style: "/style.css", script: "/script.js" };

const option = { value: EVIL, label: EVIL, hint: EVIL };
const labelled = { name: "n", label: EVIL, hint: EVIL, error: EVIL };
const place = { csrf: EVIL, form: new URLSearchParams({ name: EVIL }), href: (path: string) => path };
const confirm = { action: EVIL, label: EVIL, question: EVIL, confirm: EVIL, hidden: { [EVIL]: EVIL } };
const span = {
  key: EVIL,
  depth: 0,
  name: EVIL,
  kind: EVIL,
  failed: false,
  startedAt: NOW,
  endedAt: NOW + 1,
  note: EVIL,
  href: EVIL,
  detail: EVIL,
};
const chart = {
  title: EVIL,
  summary: EVIL,
  unit: [EVIL, EVIL] as const,
  series: [{ name: EVIL, tone: "accent" as const }],
  days: [{ label: EVIL, iso: EVIL, values: [1] }],
};

describe("every part escapes what it is given", () => {
  it.each([
    ["badge", badge("bad", EVIL)],
    ["button", button(EVIL, { name: EVIL, value: EVIL })],
    ["buttonLink", buttonLink(EVIL, EVIL)],
    ["barChart", barChart(chart)],
    ["codeBlock", codeBlock(EVIL, { label: EVIL, titled: true })],
    ["secretOnce", secretOnce({ label: EVIL, value: EVIL, intro: EVIL, more: EVIL })],
    ["confirmButton", confirmButton(place, confirm)],
    ["diff", diff(EVIL, [{ oldStart: 1, newStart: 1, lines: [{ kind: "added", text: EVIL }] }])],
    ["empty", empty({ title: EVIL, intro: EVIL, code: EVIL, actions: EVIL })],
    ["facts", facts([{ label: EVIL, value: EVIL }])],
    ["input", field({ ...labelled, kind: "text", value: EVIL, placeholder: EVIL })],
    ["textarea", field({ ...labelled, kind: "textarea", value: `</textarea>${EVIL}` })],
    ["select", field({ ...labelled, kind: "select", options: [option], value: EVIL })],
    ["radios", field({ ...labelled, kind: "radios", options: [option], value: EVIL })],
    ["checkboxes", field({ ...labelled, kind: "checkboxes", options: [option], values: [EVIL] })],
    ["checkbox", field({ ...labelled, kind: "checkbox", checked: true, value: EVIL })],
    [
      "filters",
      filters({
        action: EVIL,
        label: EVIL,
        live: EVIL,
        hidden: { [EVIL]: EVIL },
        filters: [
          { ...option, name: EVIL, kind: "search", placeholder: EVIL },
          { ...option, name: EVIL, kind: "select", options: [option] },
        ],
      }),
    ],
    [
      "formSpec",
      formSpec({ name: { kind: "text", label: EVIL, hint: EVIL } }).draw(place, {
        action: EVIL,
        submit: EVIL,
        values: { name: EVIL },
      }),
    ],
    ["form", form({ action: EVIL, csrf: EVIL, fields: EVIL, submit: EVIL, confirm: EVIL, wrong: EVIL, beside: EVIL })],
    ["pageHead", pageHead({ title: EVIL, intro: EVIL, actions: EVIL, crumbs: [{ label: EVIL, href: EVIL }] })],
    ["pager", pager({ newer: EVIL, older: EVIL, intro: EVIL, labels: { newer: EVIL, older: EVIL } })],
    ["prose", prose(html`<p>${EVIL}</p>`)],
    ["section", section({ title: EVIL, intro: EVIL, actions: EVIL, body: columns(EVIL), id: EVIL })],
    ["stats", stats([{ label: EVIL, value: EVIL, sub: EVIL, href: EVIL }])],
    ["table", table({ caption: EVIL, columns: [{ label: EVIL, cell: (text) => text }], rows: [EVIL] })],
    ["tabs", tabs(EVIL, [{ label: EVIL, href: EVIL, current: true }])],
    ["time", time(null, NOW, EVIL)],
    ["timeline", timeline([{ at: NOW, kind: "good", title: EVIL, body: EVIL }], NOW)],
    ["waterfall", waterfall([span], [span], NOW)],
    [
      "layout",
      layout({
        title: EVIL,
        href: (path) => EVIL + path,
        nav: [{ path: EVIL, label: EVIL, current: true, group: EVIL }],
        team: { id: EVIL, name: EVIL, others: [{ id: EVIL, name: EVIL }] },
        person: { email: EVIL, name: EVIL },
        csrf: EVIL,
        flash: { kind: "wrong", text: EVIL },
        assets: { style: EVIL, script: EVIL },
        main: EVIL,
      }),
    ],
  ])("%s", (_, part) => {
    const text = part.toString();
    expect(text).toContain(ESCAPED);
    expect(text).not.toContain("<script>");
    expect(text).not.toContain("<img");
    // What the content security policy would refuse.
    expect(text.replaceAll(/"[^"]*"/g, '""')).not.toMatch(/<[^>]*\s(?:style|on[a-z]+)=/);
  });
});

describe("an instant", () => {
  it("is readable without a script and exact in its title", () => {
    expect(time(NOW - 180_000, NOW).toString()).toBe(
      '<time datetime="2026-11-21T07:57:00.000Z" title="2026-11-21T07:57:00.000Z, 3 minutes ago">21 Nov 2026, 07:57 UTC</time>',
    );
  });

  it.each([
    [0, "just now"],
    [59_999, "just now"],
    [60_000, "1 minute ago"],
    [3 * 3_600_000, "3 hours ago"],
    [86_400_000, "1 day ago"],
    [400 * 86_400_000, "1 year ago"],
    [-30_000, "in under a minute"],
    [-2 * 86_400_000, "in 2 days"],
  ])("that lies %i ms back reads %s", (back, text) => {
    expect(agoText(NOW - back, NOW)).toBe(text);
    expect(ago(NOW - back, NOW).toString()).toContain(`>${text}</time>`);
  });

  it.each([null, Number.NaN, Infinity, 8.64e15 + 1, -1e300])("that no calendar holds (%s) is a dash", (at) => {
    expect(time(at, NOW).toString()).toBe('<span class="none">–</span>');
  });

  it("reads well outside of four-digit years", () => {
    expect(utcText(8.64e15)).toBe("13 Sep +275760, 00:00 UTC");
    expect(utcText(-8.64e15)).toBe("20 Apr -271821, 00:00 UTC");
  });

  it("counts down to expired, and never below", () => {
    expect(countdown(NOW + 14 * 60_000, NOW).toString()).toMatch(/data-left="840">expires in 14 min</);
    expect(countdown(NOW + 1, NOW).toString()).toMatch(/data-left="1">expires in 1 s</);
    expect(countdown(NOW, NOW).toString()).toMatch(/data-left="0">expired</);
    expect(countdown(NOW - 1, NOW).toString()).toMatch(/data-left="0">expired</);
  });
});

describe("a quantity", () => {
  it.each([
    [0, "0 ms"],
    [999, "999 ms"],
    [999.6, "1 s"],
    [4_240, "4.2 s"],
    [59_949, "59.9 s"],
    [59_950, "1 min"],
    [185_000, "3 min 5 s"],
    [3_599_600, "1 h"],
    [7_500_000, "2 h 5 min"],
    [90_000_000, "1 d 1 h"],
    [-5, "0 ms"],
  ])("of %d ms reads %s", (ms, text) => expect(duration(ms)).toBe(text));

  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1_000, "1 KB"],
    [1_540_000, "1.5 MB"],
    [999_950, "1 MB"],
    [3e15, "3000 TB"],
  ])("of %d bytes reads %s", (size, text) => expect(bytes(size)).toBe(text));

  it.each([
    [0, "0"],
    [-0, "0"],
    [999, "999"],
    [1_000, "1,000"],
    [-12_345, "-12,345"],
    [1_234_567_890, "1,234,567,890"],
    [1_234.5, "1,234.5"],
    [0.126, "0.13"],
  ])("of %d reads %s", (value, text) => expect(number(value)).toBe(text));

  it("uses the singular or the plural of its noun", () => {
    expect([plural(1, "entry", "entries"), plural(1_200, "entry", "entries"), compact(12_300)]).toEqual([
      "1 entry",
      "1,200 entries",
      "12.3k",
    ]);
  });

  it.each([
    [999, "999"],
    [1_000, "1k"],
    [11_900_000, "11.9M"],
    [2_000_000_000, "2B"],
    [3_400_000_000_000, "3.4T"],
    [-12_300_000, "-12.3M"],
  ])("of %d where room is short reads %s", (value, text) => expect(compact(value)).toBe(text));
});

describe("a waterfall", () => {
  const at = (id: string, parentId: string | null, startedAt: number | null = NOW) => ({ id, parentId, startedAt });
  const order = (spans: ReturnType<typeof at>[]) => placeSpans(spans).map(({ span, depth }) => `${span.id}${depth}`);

  it("puts each span below its parent, siblings by start, those without a start last", () => {
    expect(
      order([at("c", "a", 30), at("x", "a", null), at("b", "a", 20), at("d", "b", 40), at("a", null, 10)]),
    ).toEqual(["a0", "b1", "d2", "c1", "x1"]);
  });

  it("shows spans of a cycle, of themselves and of nobody, each once", () => {
    expect(
      order([at("a", "c", 1), at("b", "a", 2), at("c", "b", 3), at("self", "self", 4), at("lost", "gone", 5)]),
    ).toEqual(["self0", "lost0", "a0", "b1", "c2"]);
  });

  it("shows every span of a repeated id", () => {
    expect(order([at("a", null, 1), at("a", null, 2), at("b", "a", 3)])).toEqual(["a0", "b1", "a0"]);
  });

  it("takes a chain of 20,000 without running out of stack", () => {
    const chain = Array.from({ length: 20_000 }, (_, i) => at(`s${i}`, i === 0 ? null : `s${i - 1}`, i));
    expect(placeSpans(chain).at(-1)?.depth).toBe(19_999);
  });

  it("is a list without an axis where no step tells when it began", () => {
    const rows = [0, 1].map((depth) => ({ ...span, key: depth, depth, startedAt: null, endedAt: null }));
    const text = waterfall(rows, rows, NOW).toString();
    expect(text).toContain("No step tells when it began");
    expect([...text.matchAll(/id="span-(\d)"><th[^>]*class="depth-(\d)"/g)].map(([, ...found]) => found)).toEqual([
      ["0", "0"],
      ["1", "1"],
    ]);
    expect(text).not.toMatch(/<svg|class="bar"|0 ms/);
    const dated = [{ ...span, startedAt: NOW }];
    expect(waterfall(dated, dated, NOW).toString()).toContain('class="bar"');
  });

  it("marks what failed by more than its colour", () => {
    const [good, bad] = [false, true].map((failed) => waterfall([{ ...span, failed }], [span], NOW).toString());
    expect(bad).toMatch(/✕<\/span><span class="vh">Failed: <\/span>/);
    expect(bad).toMatch(/<rect[^>]*class="span-error"/);
    expect(good).not.toMatch(/Failed|span-error/);
  });

  it.each([
    [1, [0, 1]],
    [7, [0, 2, 4, 6]],
    [950, [0, 200, 400, 600, 800]],
    [59_000, [0, 10, 20, 30, 40, 50].map((s) => s * 1_000)],
    [508_000, [0, 2, 4, 6, 8].map((min) => min * 60_000)],
    [3_600_000, [0, 10, 20, 30, 40, 50, 60].map((min) => min * 60_000)],
    [40 * 3_600_000, [0, 10, 20, 30, 40].map((h) => h * 3_600_000)],
  ])("has round ticks over %d ms", (length, ticks) => expect(ticksOf(length)).toEqual(ticks));

  it("has few ticks however long it is", () => {
    for (let length = 1; length < 1e16; length *= 1.7) expect(ticksOf(length).length).toBeLessThanOrEqual(7);
  });

  it("keeps bars inside the frame, whatever the instants are", () => {
    const odd = [
      [NOW, NOW + 1_000],
      [NOW + 1_000, NOW + 1_000],
      [NOW + 900, NOW - 5],
      [NOW, null],
      [null, NOW],
      [Infinity, 1e300],
      [null, null],
    ].map(([startedAt, endedAt], i) => ({
      ...span,
      key: `s${i}`,
      startedAt: startedAt ?? null,
      endedAt: endedAt ?? null,
    }));
    for (const spans of [odd, [odd[1] as (typeof odd)[0]], [odd[5] as (typeof odd)[0]]]) {
      const text = waterfall(spans, spans, NOW).toString();
      expect(text).not.toMatch(/NaN|Infinity|undefined/);
      for (const [, x, width] of text.matchAll(/x="([-\d.]+)%" width="([-\d.]+)%"/g)) {
        expect(Number(x)).toBeGreaterThanOrEqual(0);
        expect(Number(width)).toBeGreaterThan(0);
        expect(Number(x) + Number(width)).toBeLessThanOrEqual(100.01);
      }
    }
  });
});

describe("a chart", () => {
  const days = (...values: (number | null)[]) =>
    values.map((value, i) => ({ label: `${i} Nov`, iso: `2026-11-0${i}`, values: [value] }));
  const told = {
    title: "Entries",
    summary: "Entries a day.",
    unit: ["entry", "entries"] as const,
    series: [{ name: "Entries", tone: "accent" as const }],
  };

  it("draws zeros, gaps and a single day without a number going astray", () => {
    for (const list of [days(0, 0, 0), days(null, 0, null), days(5), days(null), days(0.03, 0.01)])
      expect(barChart({ ...told, days: list }).toString()).not.toMatch(/NaN|Infinity|undefined/);
  });

  it("says of one that it is one", () => {
    const text = barChart({ ...told, days: days(1, 2) }).toString();
    expect([text.includes("1 entry"), text.includes("2 entries"), text.includes("1 entries")]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it("says so when there are no days", () => {
    expect(barChart({ ...told, days: [] }).toString()).toBe('<p class="says">Entries: no data yet.</p>');
  });

  it("gives the same numbers as a table, a gap as a dash", () => {
    const text = barChart({ ...told, days: days(1_234, null) }).toString();
    expect(text).toContain("Show the numbers");
    expect(text).toMatch(/2026-11-00<\/th><td[^>]*>1,234</);
    expect(text).toMatch(/2026-11-01<\/th><td[^>]*>–</);
  });

  it("stacks bars without overlap, and shows the smallest value above zero", () => {
    const series = [...told.series, { name: "Flagged", tone: "bad" as const }];
    const text = barChart({
      ...told,
      series,
      days: [
        { label: "a", iso: "b", values: [60, 40] },
        { label: "c", iso: "d", values: [0, 0.001] },
      ],
    }).toString();
    const bars = [...text.matchAll(/y="([\d.]+)" height="([\d.]+)" class="bar/g)].map(
      ([, y, h]) => [Number(y), Number(h)] as const,
    );
    expect(bars).toHaveLength(3);
    const [below, above, tiny] = bars as [(typeof bars)[0], (typeof bars)[0], (typeof bars)[0]];
    expect(above[0] + above[1]).toBeCloseTo(below[0], 1);
    expect(tiny[1]).toBeGreaterThanOrEqual(1);
  });

  it("counts whole things in whole ticks", () => {
    const axis = (value: number) =>
      [
        ...barChart({ ...told, days: days(value) })
          .toString()
          .matchAll(/dy="4">([^<]+)</g),
      ].map(([, tick]) => tick);
    expect(axis(1)).toEqual(["0", "1"]);
    expect(axis(0.4)).toEqual(["0", "0.1", "0.2", "0.3", "0.4"]);
  });
});

describe("a form", () => {
  it("is posted with its token and ties hint and error to the field", () => {
    const fields = field({
      kind: "email",
      name: "mail",
      label: "E-mail",
      hint: "Work",
      error: "Missing",
      required: true,
    });
    const text = form({ action: "/x", csrf: "tok", fields, submit: "Save" }).toString();
    expect(text).toContain('<form method="post" action="/x"');
    expect(text).toContain('<input type="hidden" name="_csrf" value="tok">');
    expect(text).toContain(
      'id="f-mail" name="mail" required aria-describedby="f-mail-hint f-mail-error" aria-invalid="true"',
    );
    expect(text).toContain('<p class="error" id="f-mail-error">Missing</p>');
  });

  it("that asks first has a disabled button in front, so that Enter sends nothing", () => {
    for (const text of [
      form({ action: "/x", csrf: "t", fields: "", submit: "Delete", confirm: "Sure?" }).toString(),
      confirmButton(place, { action: "/x", label: "Delete", question: "Sure?", confirm: "Delete it" }).toString(),
    ]) {
      const [first, ...rest] = text.match(/<button[^>]*>/g) as string[];
      expect(first).toBe('<button type="submit" disabled hidden>');
      expect(rest).toHaveLength(1);
      expect(text).toMatch(/<details class="confirm"[\s\S]*Sure\?[\s\S]*<\/details>/);
    }
  });

  it("keeps line breaks at the start of a text", () => {
    expect(field({ kind: "textarea", name: "t", label: "T", value: "\na" }).toString()).toContain(">\n\na</textarea>");
    expect(codeBlock("\na").toString()).toContain("<code>\na</code>");
  });
});

describe("a page", () => {
  const page = {
    title: "Devices",
    href: (path: string) => `/reckon${path}`,
    nav: null,
    assets,
    main: html`<p>Hello</p>`,
  };

  it("works below a sub-path and marks the current place", () => {
    const nav = [
      { path: "/", label: "Overview", current: false },
      { path: "/devices", label: "Devices", current: true, group: "Team" },
    ];
    const text = layout({ ...page, nav, csrf: "tok", person: { email: "a@b.c", name: null } }).toString();
    expect(text.startsWith("<!doctype html>")).toBe(true);
    expect(text).toContain('<a href="/reckon/devices" aria-current="page">');
    expect(text.match(/aria-current/g)).toHaveLength(1);
    expect(text).toContain(
      '<form method="post" action="/reckon/logout"><input type="hidden" name="_csrf" value="tok">',
    );
  });

  it("offers the switcher only to those with another team", () => {
    const one = { id: "a", name: "Alone", others: [] };
    expect(layout({ ...page, team: one, csrf: "t" }).toString()).not.toContain("team-switch");
    expect(layout({ ...page, team: { ...one, others: [{ id: "b", name: "B" }] }, csrf: "t" }).toString()).toContain(
      '<option value="a" selected>Alone</option><option value="b">B</option>',
    );
  });

  it("has no menu and no account before sign-in", () => {
    expect(layout(page).toString()).not.toMatch(/<nav|class="account"|popovertarget/);
  });

  it("is dressed by a sheet and a script of modest size that ask nothing of other hosts", () => {
    const style = readFileSync("src/surfaces/web/ui/style.css", "utf8");
    const script = readFileSync("src/surfaces/web/ui/script.js", "utf8");
    expect(style.length).toBeLessThan(57_600);
    expect(script.length).toBeLessThan(22_000);
    expect(style).not.toMatch(/url\(|@import/);
    expect(script).not.toMatch(/https?:\/\/|\beval\(|innerHTML/);
  });
});

it("a table shows its empty state instead of no rows, and groups bare numbers", () => {
  const columns = [{ label: "Entries", numeric: true, cell: (count: number) => count }];
  expect(table({ caption: "C", columns, rows: [], empty: "None" }).toString()).not.toContain("<table");
  expect(table({ caption: "C", columns, rows: [12_345] }).toString()).toContain(">12,345</td>");
});

it("a diff numbers both sides and says in words what changed", () => {
  const text = diff("a.ts", [
    {
      oldStart: 10,
      newStart: 12,
      lines: [
        { kind: "same", text: "s" },
        { kind: "removed", text: "r" },
        { kind: "added", text: "a" },
      ],
    },
  ]).toString();
  const rows = [
    ...text.matchAll(/<tr class="(same|removed|added)"><td class="line">(\d*)<\/td><td class="line">(\d*)</g),
  ];
  expect(rows.map(([, ...cells]) => cells)).toEqual([
    ["same", "10", "12"],
    ["removed", "11", ""],
    ["added", "", "13"],
  ]);
  expect(text).toContain("@@ −10,2 +12,2 @@");
  expect(text).toContain('<span class="vh">removed: </span>');
});

it("filters offer to be cleared once one is set", () => {
  const one = (value: string) =>
    filters({ action: "/s", label: "Filter", filters: [{ kind: "text", name: "q", label: "Q", value }] }).toString();
  expect(one("")).toMatch(/<a[^>]* hidden[^>]*>Clear filters/);
  expect(one("x")).not.toMatch(/<a[^>]* hidden[^>]*>Clear filters/);
});
