import { describe, expect, it } from "vitest";
import type { Core } from "../../../src/core.ts";
import { finish } from "../../../src/kit/slices.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import {
  listRequests,
  mergeRequest,
  type RequestFilter,
  type RequestRow,
} from "../../../src/share/feature-requests/feature-requests.ts";
import { rankAlike, similarRequests } from "../../../src/share/feature-requests/similar.ts";
import { startInstance } from "../../support/instance.ts";
import { turnsOfOthers } from "../../support/others.ts";

/** Requests `req_00001` and on, of which every tenth is planned and every hundredth holds the word "needle". */
async function many(count: number): Promise<Core> {
  const { core } = (await startInstance()).instance;
  core.store.db
    .prepare(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       INSERT INTO product_requests (id, text, context, status, address_hash, created_at, updated_at)
       SELECT printf('req_%05d', i), CASE WHEN i % 100 = 0 THEN 'a Needle' ELSE 'hay' END, '{}',
         CASE WHEN i % 10 = 0 THEN 'planned' ELSE 'received' END, x'00', i, i FROM n`,
    )
    .run(count);
  return core;
}

const number = ({ id }: { id: string }) => Number(id.slice(4));

/** Walks all pages down and up again. */
async function walk(core: Core, filter: RequestFilter, size: number) {
  const down: number[][] = [];
  let page = await listRequests(core, filter, size);
  for (;;) {
    down.push(page.rows.map(number));
    if (page.older === undefined) break;
    page = await listRequests(core, filter, size, { before: page.older });
  }
  const up: number[][] = [page.rows.map(number)];
  while (page.newer !== undefined) {
    page = await listRequests(core, filter, size, { after: page.newer });
    up.push(page.rows.map(number));
  }
  return { down, up };
}

describe("listing requests", () => {
  it("finds a text in any case, without wildcards, among texts that nearly hold it", async () => {
    const core = await many(300);
    const alike = "a".repeat(4_000);
    core.store.db.prepare("UPDATE product_requests SET text = ?, context = ?").run(alike, JSON.stringify({ alike }));
    core.store.db
      .prepare("UPDATE product_requests SET text = ?, note = ? WHERE id = 'req_00007'")
      .run(`${alike}B 100%_of`, "By HAND");
    const found = async (text: string) => (await listRequests(core, { text }, 40)).rows.map(number);
    for (const text of [`${"a".repeat(190)}b`, "100%_OF", "by hand", "q_00007"]) expect(await found(text)).toEqual([7]);
    for (const text of [`${"a".repeat(190)}bb`, "100__of", "by%hand", "%".repeat(200), "_".repeat(200)])
      expect([text, await found(text)]).toEqual([text, []]);
  });

  it("pages newest first, down and up, across more than one stretch, by status and by text", async () => {
    const core = await many(2_500);
    const every = (step: number) => Array.from({ length: 2_500 / step }, (_, i) => 2_500 - i * step);
    for (const [filter, step] of [
      [{}, 1],
      [{ status: "planned" }, 10],
      [{ text: "nEEDLE" }, 100],
      [{ text: "needle", status: "planned" }, 100],
    ] as [RequestFilter, number][]) {
      const { down, up } = await walk(core, filter, 40);
      expect(down.flat()).toEqual(every(step));
      expect(down.slice(0, -1).every((page) => page.length === 40)).toBe(true);
      // The top page is complete again, and nothing between was left out.
      expect(up.at(-1)).toEqual(down[0]);
      expect([...new Set(up.flat())].sort((a, b) => b - a)).toEqual(every(step));
    }
    expect((await listRequests(core, { text: "no such words" }, 40)).rows).toEqual([]);
    expect((await listRequests(core, { text: "needle", status: "received" }, 40)).rows).toEqual([]);
  });

  it("shows duplicates in the whole list and on their own, not under their earlier status", async () => {
    const core = await many(3);
    await mergeRequest(core, "req_00001", "req_00003", COMMAND_LINE);
    const found = async (filter: RequestFilter) => (await listRequests(core, filter, 10)).rows.map(number);
    expect(await found({})).toEqual([3, 2, 1]);
    expect(await found({ status: "received" })).toEqual([3, 2]);
    expect(await found({ status: "merged" })).toEqual([1]);
  });

  it("ignores a cursor that is no id", async () => {
    const core = await many(3);
    for (const before of ["", "x", "req_", "req_a'b", "req_\0"])
      expect((await listRequests(core, {}, 10, { before })).rows.length).toBe(3);
    expect(await listRequests(core, {}, 10, { before: "req_00000" })).toEqual({ rows: [] });
  });

  it("reads by an index, whatever the direction", async () => {
    const core = await many(1);
    const plan = (sql: string) =>
      core.store.db
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map((row) => (row as { detail: string }).detail)
        .join("; ");
    const from = "SELECT id FROM product_requests WHERE";
    expect(plan(`${from} id < 'x' ORDER BY id DESC LIMIT 1 OFFSET 999`)).toMatch(/COVERING INDEX .*\(id<\?\)$/);
    expect(plan(`${from} status = 'planned' AND id > 'x' ORDER BY id LIMIT 1 OFFSET 999`)).toMatch(
      /COVERING INDEX product_requests_by_status \(status=\? AND id>\?\)$/,
    );
  });
});

describe("requests in similar words", () => {
  const texts = (...list: string[]) => list.map((text) => ({ text }));

  it("come first the rarer the words are that they share, and not at all when they share only common ones", () => {
    const others = texts(
      "Please add a dark theme to the dashboard",
      "The search should match whole phrases",
      "Whole phrases in quotation marks, please: the search splits them",
      "Please let me export the telemetry as CSV",
    );
    expect(finish(rankAlike("Search for whole phrases please", others)).map(({ text }) => text)).toEqual([
      others[1]?.text,
      others[2]?.text,
    ]);
  });

  it("match the same text in other capitals, and allow texts without words", () => {
    expect(finish(rankAlike("Export to CSV", texts("EXPORT TO csv", "?!", "")))).toEqual([{ text: "EXPORT TO csv" }]);
    expect(finish(rankAlike("?!", texts("?!", "a word here")))).toEqual([]);
    expect(finish(rankAlike("alone", []))).toEqual([]);
  });

  it("lets others have their turn while five hundred texts are compared", async () => {
    const core = await many(500);
    const [request] = (await listRequests(core, {}, 1)).rows;
    const { turns, done } = await turnsOfOthers(core, () => similarRequests(core, request as RequestRow, 5));
    expect(done.map(number)).toEqual([400, 300, 200, 100]);
    expect(turns).toBeGreaterThan(500);
  });
});
