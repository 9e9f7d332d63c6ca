import { expect, it } from "vitest";
import { ask, somebody } from "../../support/every-page.ts";
import { startWithDevice } from "../../support/instance.ts";

const LINES = 25_000;

async function start(content: string) {
  const { t, device } = await startWithDevice();
  const as = await somebody(t, device.team);
  const files = [{ path: "errors.md", content }];
  await t.post("/api/brain/ingest", { token: device.token, json: { version: 1, repoKey: "r", files } });
  const source = async (query = "") => {
    const path = query.startsWith("/") ? query : `/brain/file?repo=r&path=errors.md&view=source${query}`;
    const { status, text } = await ask(t, "GET", path, { as });
    const numbers = [...text.matchAll(/<tr id="L(\d+)">/g)].map(([, number]) => Number(number));
    const way = (rel: string) => new RegExp(`rel="${rel}" href="([^"]+)"`).exec(text)?.[1]?.replaceAll("&amp;", "&");
    return {
      status,
      text,
      lines: [numbers.length, numbers[0], numbers.at(-1)],
      older: way("next"),
      newer: way("prev"),
    };
  };
  return { source };
}

it("shows a long file's source page by page, whichever line is asked for", async () => {
  const { source } = await start(Array.from({ length: LINES }, (_, i) => `line ${i + 1} of it`).join("\n"));
  const first = await source();
  expect([first.status, first.lines, first.newer]).toEqual([200, [2_000, 1, 2_000], undefined]);
  expect(first.text).toContain("Lines 1 to 2,000 of 25,000");
  const second = await source(first.older);
  expect([second.lines, second.text.includes("<mark>")]).toEqual([[2_000, 2_001, 4_000], false]);
  expect((await source(second.newer)).lines).toEqual(first.lines);
  const last = await source("&line=24999");
  expect(last.lines).toEqual([1_000, 24_001, LINES]);
  expect(last.text).toContain("<mark>line 24999 of it</mark>");
  expect(last.older).toBeUndefined();
  // A line that an earlier version had.
  expect((await source("&line=90000")).lines).toEqual(last.lines);
});

it("shows a short file whole, and an empty one as such", async () => {
  const { source } = await start("one\r\ntwo\n\n");
  const short = await source("&line=2");
  expect([short.lines, short.older, short.text.includes('aria-label="Pages"')]).toEqual([[3, 1, 3], undefined, false]);
  expect(short.text).toContain("<mark>two</mark>");
  const empty = await (await start("")).source("&line=4");
  expect([empty.status, empty.lines[0], empty.text.includes("This file is empty.")]).toEqual([200, 0, true]);
});
