import { describe, expect, it } from "vitest";
import { promptForLine } from "../../../src/insight/causes/causes.ts";
import { startWithDevice } from "../../support/instance.ts";
import { at, follow, SHA, session, trace } from "./support.ts";

const span = (id: string, day: number, minute: number, edit: object) => ({
  ...{ id, startedAt: at(day, 12, minute), endedAt: at(day, 12, minute) },
  edits: [{ path: "src/cart.ts", ...edit }],
});

async function filled() {
  const { t, device } = await startWithDevice();
  await trace(t, device, [
    session("first", 10, {
      prompts: [
        { at: at(10, 12, 0), text: "Write the cart" },
        { at: at(10, 12, 30), text: "Sum it up" },
      ],
      commits: [{ sha: SHA, at: at(10, 12, 50) }],
      spans: [
        span("write", 10, 10, { startLine: 1, endLine: 40, oldLines: 0, newLines: 40 }),
        span("sum", 10, 40, { startLine: 10, endLine: 12, oldLines: 1, newLines: 3, commit: SHA.slice(0, 7) }),
      ],
    }),
    session("second", 12, { spans: [span("above", 12, 20, { startLine: 2, endLine: 6, added: 5, removed: 0 })] }),
  ]);
  await follow(t);
  const ask = (line: number, more: object = {}) =>
    promptForLine(t.instance.core, device.team.id, { repoKey: "shop", path: "src/cart.ts", line, ...more });
  return { t, device, ask };
}
const short = (matches: Awaited<ReturnType<typeof promptForLine>>) =>
  matches.map(({ sessionId, spanId, prompt, band }) => [sessionId, spanId, prompt, band]);

describe("promptForLine", () => {
  it("matches a file by as much of its path as both sides know, and tells files of one name apart", async () => {
    const { t, device, ask } = await filled();
    expect(short(await ask(4, { path: "./src\\cart.ts" }))).toHaveLength(1);
    expect(short(await ask(4, { path: "cart.ts" }))).toHaveLength(1);
    expect(short(await ask(4, { repoKey: undefined }))).toHaveLength(1);
    for (const none of [{ repoKey: "api" }, { path: "lib/cart.ts" }, { path: ".." }])
      expect(await ask(4, none)).toEqual([]);
    await trace(t, device, [
      session("third", 13, { spans: [{ id: "x", edits: [{ path: "app/src/cart.ts", startLine: 1, endLine: 9 }] }] }),
    ]);
    await follow(t);
    expect(short(await ask(4))).toEqual([["second", "above", "Do second", "strong"]]);
    expect(short(await ask(4, { path: "cart.ts" })).map(([id, , , band]) => [id, band])).toEqual([
      ["third", "weak"],
      ["second", "weak"],
    ]);
  });

  it("forgets what a session no longer says when it is sent again", async () => {
    const { t, device, ask } = await filled();
    expect(short(await ask(4))).toEqual([["second", "above", "Do second", "strong"]]);
    const moved = {
      ...span("above", 12, 20, {}),
      edits: [{ path: "src/till.ts", startLine: 2, endLine: 6, added: 5 }],
    };
    await trace(t, device, [session("second", 12, { spans: [moved] })]);
    await follow(t);
    expect(short(await ask(4))).toEqual([["first", "write", "Write the cart", "strong"]]);
    expect(t.rows("SELECT path FROM trace_session_files WHERE session_id = 2")).toEqual([{ path: "src/till.ts" }]);
    expect(t.rows("SELECT path FROM trace_session_edits WHERE session_id = 2")).toEqual([{ path: "src/till.ts" }]);
  });
});
