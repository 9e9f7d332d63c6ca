import { describe, expect, it } from "vitest";
import type { Actor } from "../../../src/platform/audit/audit.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import {
  changeRequest,
  findRequest,
  mergeRequest,
  titleOf,
  unmergeRequest,
} from "../../../src/share/feature-requests/feature-requests.ts";
import { startInstance } from "../../support/instance.ts";

const ADA: Actor = { kind: "user", id: "usr_ada", label: "ada@example.com", ip: "192.0.2.7" };

async function start(...texts: string[]) {
  const t = await startInstance({ settings: { limitRequestIntake: "off" } });
  const ids: string[] = [];
  for (const text of texts) ids.push((await t.post("/api/requests/ingest", { json: { text } })).body.id);
  const events = () =>
    t
      .rows(
        "SELECT actor_label AS who, action, team_id AS team, target_id AS id, target_label AS label, detail FROM audit_events ORDER BY id",
      )
      .map((row) => ({ ...row, detail: JSON.parse(row.detail) }));
  return { t, core: t.instance.core, ids, events };
}

describe("changing a request", () => {
  it("sets status and note, each by itself, and records who did", async () => {
    const { t, core, ids, events } = await start("Match\nphrases");
    const [id] = ids as [string];
    t.clock.advance(1_000);
    await changeRequest(core, id, { status: "planned" }, ADA);
    expect(await changeRequest(core, id, { note: " Ask Grace.\r\nSoon. " }, ADA)).toMatchObject({
      status: "planned",
      note: "Ask Grace.\nSoon.",
      updatedAt: t.clock.now(),
    });
    await changeRequest(core, id, { status: "shipped", note: "  " }, COMMAND_LINE);
    expect(findRequest(core, id)).toMatchObject({ status: "shipped", note: null, text: "Match\nphrases" });
    const same = { action: "request.changed", team: null, id, label: "Match phrases" };
    expect(events()).toEqual([
      { ...same, who: "ada@example.com", detail: { from: "received", to: "planned" } },
      { ...same, who: "ada@example.com", detail: { note: "changed" } },
      { ...same, who: "command line", detail: { from: "planned", to: "shipped", note: "removed" } },
    ]);
  });

  it("records nothing and moves no time when nothing changes", async () => {
    const { t, core, ids, events } = await start("a");
    const [id] = ids as [string];
    t.clock.advance(1_000);
    await changeRequest(core, id, { status: "received", note: "" }, ADA);
    await unmergeRequest(core, id, ADA);
    expect(events()).toEqual([]);
    expect(findRequest(core, id)?.updatedAt).toBe(t.clock.now() - 1_000);
  });

  it("refuses unknown requests and notes that are too long", async () => {
    const { core, ids, events } = await start("a");
    await expect(changeRequest(core, "req_x", { status: "planned" }, COMMAND_LINE)).rejects.toMatchObject({
      status: 404,
    });
    expect(() => changeRequest(core, ids[0] as string, { note: "x".repeat(2_001) }, COMMAND_LINE)).toThrow("2000");
    expect(events()).toEqual([]);
  });
});

describe("merging requests", () => {
  it("marks the duplicate, and copies nothing", async () => {
    const { t, core, ids, events } = await start("one", "two");
    const [one, two] = ids as [string, string];
    await mergeRequest(core, one, two, ADA);
    expect(t.rows("SELECT id, text, status, merged_into FROM product_requests ORDER BY rowid")).toEqual([
      { id: one, text: "one", status: "received", merged_into: two },
      { id: two, text: "two", status: "received", merged_into: null },
    ]);
    expect(findRequest(core, two)?.duplicates).toBe(1);
    await mergeRequest(core, one, two, ADA);
    expect(events()).toMatchObject([{ action: "request.merged", id: one, detail: { into: two } }]);
    await expect(changeRequest(core, one, { status: "planned" }, COMMAND_LINE)).rejects.toMatchObject({ status: 409 });
    await unmergeRequest(core, one, ADA);
    expect(findRequest(core, one)?.mergedInto).toBeNull();
    expect(events().at(-1)).toMatchObject({ action: "request.unmerged", id: one, detail: { from: two } });
  });

  it("follows an earlier merge, and can make no circle, also when asked at the same time", async () => {
    const { t, core, ids } = await start("one", "two", "three");
    const [one, two, three] = ids as [string, string, string];
    await expect(mergeRequest(core, one, one, COMMAND_LINE)).rejects.toMatchObject({ status: 409 });
    await mergeRequest(core, two, three, COMMAND_LINE);
    expect(await mergeRequest(core, one, two, COMMAND_LINE)).toMatchObject({ mergedInto: three });
    for (const into of [one, two])
      await expect(mergeRequest(core, three, into, COMMAND_LINE)).rejects.toMatchObject({ status: 409 });
    await expect(mergeRequest(core, three, "req_x", COMMAND_LINE)).rejects.toMatchObject({ status: 404 });
    await expect(mergeRequest(core, "req_x", three, COMMAND_LINE)).rejects.toMatchObject({ status: 404 });
    await unmergeRequest(core, one, COMMAND_LINE);
    await unmergeRequest(core, two, COMMAND_LINE);
    const both = await Promise.allSettled([
      mergeRequest(core, one, two, COMMAND_LINE),
      mergeRequest(core, two, one, COMMAND_LINE),
    ]);
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(t.rows("SELECT count(*) AS n FROM product_requests WHERE merged_into IS NOT NULL")).toEqual([{ n: 1 }]);
  });
});

it.each([
  ["a short text", "Hello", "Hello"],
  ["several lines", " a\r\n\tb\u0007c ", "a b c"],
  ["a long text", "x".repeat(90), `${"x".repeat(80)}…`],
  ["characters of two units", "😀".repeat(90), `${"😀".repeat(80)}…`],
])("names a request by %s", (_, text, title) => {
  expect(titleOf({ text })).toBe(title);
});
