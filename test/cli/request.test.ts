import { describe, expect, it } from "vitest";
import { startInstance, type TestInstance } from "../support/instance.ts";
import { command } from "../support/remote.ts";

const run = (t: TestInstance, ...args: string[]) => command(["request", ...args, "--data", t.directory]);

/** Runs a command beside the running instance; it must succeed and print one JSON document. */
async function json(t: TestInstance, ...args: string[]) {
  const done = await run(t, ...args, "--json");
  expect([args.join(" "), done.code, done.stderr]).toEqual([args.join(" "), 0, ""]);
  return JSON.parse(done.stdout);
}

async function running() {
  const t = await startInstance();
  const file = async (body: object) => {
    t.clock.advance(1);
    return (await t.post("/api/requests/ingest", { json: body })).body.id as string;
  };
  return {
    t,
    one: await file({ text: "Match\twhole phrases", version: "2.1.0" }),
    two: await file({ text: "Phrases" }),
  };
}

describe("requests from the command line", () => {
  it("are listed, given a status, merged and unmerged beside a running server", async () => {
    const { t, one, two } = await running();
    const listed = {
      id: one,
      status: "received",
      text: "Match\twhole phrases",
      context: { version: "2.1.0" },
      note: null,
      mergedInto: null,
      duplicates: 0,
      createdAt: expect.stringMatching(/^2026-11-21T08:00:00/),
      updatedAt: expect.stringMatching(/Z$/),
    };
    expect(await json(t, "list")).toEqual([expect.objectContaining({ id: two }), listed]);
    expect(await json(t, "set", one, "planned", "--note", "soon")).toMatchObject({ status: "planned", note: "soon" });
    const status = async (id: string) => (await t.get(`/api/requests/status?ids=${id}`)).body.statuses[0].status;
    expect(await status(one)).toBe("planned");
    expect(await json(t, "list", "--status", "planned")).toMatchObject([{ id: one, note: "soon" }]);
    expect(await json(t, "list", "--search", "WHOLE")).toMatchObject([{ id: one }]);
    expect(await json(t, "merge", two, one)).toMatchObject({ id: two, status: "received", mergedInto: one });
    expect(await status(two)).toBe("planned");
    expect(await json(t, "list", "--status", "merged")).toMatchObject([{ id: two }]);
    expect(await json(t, "list", "--search", one)).toMatchObject([{ id: one, duplicates: 1 }]);
    expect(await json(t, "unmerge", two)).toMatchObject({ mergedInto: null });
    expect(await status(two)).toBe("received");
    expect(await json(t, "set", one, "planned", "--note", "")).toMatchObject({ note: null });
    expect(t.rows("SELECT actor_kind AS kind, action FROM audit_events ORDER BY id")).toEqual(
      ["request.changed", "request.merged", "request.unmerged", "request.changed"].map((action) => ({
        kind: "command",
        action,
      })),
    );
  });

  it("print a line each into a pipe, and say when there are more", async () => {
    const { t, one, two } = await running();
    const all = await run(t, "list");
    expect(all.stdout.split("\n").map((line) => line.split("\t"))).toEqual([
      [two, "received", expect.stringMatching(/Z$/), "Phrases"],
      [one, "received", expect.stringMatching(/Z$/), "Match whole phrases"],
      [""],
    ]);
    const first = await run(t, "list", "--limit", "1");
    expect(first.stdout.split("\n").length).toBe(2);
    expect(first.stderr).toContain("more than 1");
  });

  it("say what is wrong on stderr and exit 1, or 2 for wrong usage", async () => {
    const { t, one, two } = await running();
    await run(t, "merge", one, two);
    const cases: [string[], number, RegExp][] = [
      [["set", "req_x", "planned"], 1, /no request req_x/],
      [["set", one, "planned"], 1, /merged into/],
      [["merge", two, one], 1, /itself merged into/],
      [["merge", two, two], 1, /into itself/],
      [["merge", two, "req_x"], 1, /no request req_x/],
      [["unmerge", "req_x"], 1, /no request req_x/],
      [["set", two, "done"], 2, /received, planned/],
      [["list", "--status", "done"], 2, /declined, merged/],
      [["set", two], 2, /status/],
    ];
    for (const [args, code, reason] of cases) {
      const done = await run(t, ...args);
      expect([args.join(" "), done.code]).toEqual([args.join(" "), code]);
      expect(done.stderr).toMatch(reason);
      expect(done.stdout).toBe("");
    }
  });
});
