import { describe, expect, it } from "vitest";
import { noteOf, sha, upload } from "../support/git-ai.ts";
import { startWithDevice, type TestInstance } from "../support/instance.ts";
import { ledgerFaults } from "../support/ledger-faults.ts";

const at = (minute: number) => `2026-11-20T12:${String(minute).padStart(2, "0")}:00.000Z`;
const ask = async (t: TestInstance, token: string, query: Record<string, string>) =>
  (
    await t.get(`/api/prompt-for-line?${new URLSearchParams({ path: "src/login.ts", commit: sha("a"), ...query })}`, {
      token,
    })
  ).body.matches;

/** A session as the capture client sends it, without the lines of its edits. */
const SESSION = {
  ...{ id: "s-1", agent: "claude-code", outcome: "committed", startedAt: at(0), endedAt: at(50) },
  prompts: [
    { at: at(0), text: "Write the login" },
    { at: at(20), text: "Check the password" },
    { at: at(40), text: "Now the logout" },
  ],
  files: ["src/login.ts"],
  commits: [{ sha: sha("a"), at: at(30) }],
  spans: [],
};
const capture = (t: TestInstance, token: string, session: object) =>
  t.post("/api/agent-traces/ingest", { token, json: { repoKey: "shop", sessions: [session] } });

/** An error that names a commit. @returns the commit */
async function blame(t: TestInstance, token: string): Promise<string> {
  const commit = "b1c2".repeat(10);
  const content = `## 2026-11-20 Login loops\n\nIntroduced in ${commit.slice(0, 10)}.\n`;
  const files = [{ path: ".claude/brain/errors.md", content }];
  await t.post("/api/brain/ingest", { token, json: { repoKey: "shop", version: 1, files } });
  return commit;
}

describe("prompt-for-line by notes", () => {
  it("answers with the prompt of the session that the commit's note names", async () => {
    const { t, device: laptop } = await startWithDevice();
    const key = await t.device(laptop.team);
    await capture(t, laptop.token, SESSION);
    await upload(t, key.token, { [sha("a")]: noteOf() });
    const match = {
      ...{ sessionId: "s-1", spanId: "t_9f8e7d6c5b4a32", prompt: "Check the password", commit: sha("a"), at: at(30) },
      band: "strong",
    };
    for (const line of ["1", "7", "10", "15"]) expect(await ask(t, laptop.token, { line })).toEqual([match]);
    expect(await ask(t, key.token, { line: "7", repoKey: "shop", commit: sha("a").slice(0, 7) })).toEqual([match]);
    expect(await ask(t, laptop.token, { line: "7", path: "/home/ada/shop/src/login.ts" })).toEqual([match]);
    for (const other of [{ line: "11" }, { line: "7", path: "src/other.ts" }, { line: "7", commit: sha("b") }])
      expect(await ask(t, laptop.token, other)).toEqual([]);
    expect(await ask(t, laptop.token, { line: "7", repoKey: "other" })).toEqual([]);
    expect(await ask(t, (await t.device()).token, { line: "7" })).toEqual([]);
    expect(t.rows("SELECT external_id FROM trace_sessions")).toEqual([{ external_id: "s-1" }]);
    expect(ledgerFaults(t.instance.core)).toEqual([]);
  });

  it("attaches a note to its session that comes later, from whichever device", async () => {
    const { t, device: laptop } = await startWithDevice();
    const key = await t.device(laptop.team);
    await upload(t, key.token, { [sha("a")]: noteOf() });
    expect(await ask(t, laptop.token, { line: "7" })).toEqual([
      {
        ...{ sessionId: "s-1", spanId: "t_9f8e7d6c5b4a32", prompt: null, commit: sha("a") },
        ...{ at: "2026-11-21T08:00:00.000Z", band: "strong" },
      },
    ]);
    await capture(t, laptop.token, SESSION);
    expect(await ask(t, laptop.token, { line: "7" })).toMatchObject([{ prompt: "Check the password", at: at(30) }]);
    expect(t.count("trace_sessions")).toBe(1);
  });

  it("answers with the very edit of the session that wrote the line, where it is known", async () => {
    const { t, token } = await startWithDevice();
    const edits = [{ path: "/src/shop/src/login.ts", startLine: 1, endLine: 20, oldLines: 0, newLines: 20 }];
    const spans = [{ id: "write", startedAt: at(10), endedAt: at(10), edits }];
    await capture(t, token, { ...SESSION, cwd: "/src/shop", spans });
    await upload(t, token, { [sha("a")]: noteOf() });
    expect(await ask(t, token, { line: "7" })).toEqual([
      {
        ...{ sessionId: "s-1", spanId: "write", prompt: "Write the login", commit: sha("a"), at: at(10) },
        band: "strong",
      },
    ]);
  });

  it("ignores attestations of people, and uses the last attestation of a line", async () => {
    const { t, token } = await startWithDevice();
    await capture(t, token, SESSION);
    const attested = {
      "src/login.ts": { "s_c9883b05a2487d::t_1": "1-10", h_31dce776f88375: "5", "s_gone::t_2": "8" },
      "src/my file.ts": { "s_c9883b05a2487d::t_3": "1" },
    };
    await upload(t, token, { [sha("a")]: noteOf({ files: attested }) });
    expect(await ask(t, token, { line: "4" })).toMatchObject([{ spanId: "t_1" }]);
    expect(await ask(t, token, { line: "5" })).toEqual([]);
    expect(await ask(t, token, { line: "1", path: "src/my file.ts" })).toMatchObject([{ spanId: "t_3" }]);
  });

  it("reads notes of older versions, with the prompts that they hold", async () => {
    const { t, token } = await startWithDevice();
    const record = { agent_id: { tool: "cursor", id: "c-1", model: "gpt-5" }, human_author: null, total_additions: 3 };
    const messages = [
      { type: "user", text: "Add a page", timestamp: "2025-10-01T00:00:00Z" },
      { type: "assistant", text: "Done" },
    ];
    const prompts = {
      d9978a8723e02b52: record,
      "1234567": { ...record, agent_id: { tool: "x", id: "c-2" }, messages },
    };
    await upload(t, token, {
      [sha("a")]: noteOf({
        files: { "src/login.ts": { d9978a8723e02b52: "1-4,9-10", "1234567": "12" } },
        more: { prompts, sessions: undefined },
      }),
    });
    expect(await ask(t, token, { line: "9" })).toMatchObject([{ sessionId: "c-1", prompt: null }]);
    expect(await ask(t, token, { line: "12" })).toMatchObject([{ sessionId: "c-2", prompt: "Add a page" }]);
  });

  it("puts the commit down to the session that its note names, and does not map lines of the present file through the note", async () => {
    const { t, token } = await startWithDevice();
    await capture(t, token, { ...SESSION, commits: [] });
    await upload(t, token, { [sha("b")]: noteOf() });
    await t.instance.settle();
    const commits = () => t.rows("SELECT sha FROM trace_session_commits").map((row) => row.sha);
    expect(commits()).toEqual([sha("b")]);
    expect((await t.get("/api/prompt-for-line?path=src/login.ts&line=3", { token })).body.matches).toEqual([]);
  });

  it("puts an error down to the session that a note says made the commit, whichever came first", async () => {
    const { t, token } = await startWithDevice();
    const commit = await blame(t, token);
    await capture(t, token, { ...SESSION, commits: [] });
    await t.instance.settle();
    const links = async () => (await t.get("/api/causal-link", { token })).body.links;
    expect((await links()).map((link: { band: string }) => link.band)).not.toContain("strong");
    await upload(t, token, { [commit]: noteOf() });
    await t.instance.settle();
    expect(await links()).toMatchObject([{ sessionId: "s-1", band: "strong", commit }]);
  });

  it("does not hold a session answerable for a commit once its note names another", async () => {
    const { t, token } = await startWithDevice();
    const commit = await blame(t, token);
    for (const id of ["s-1", "s-2"]) await capture(t, token, { ...SESSION, id, commits: [] });
    const causes = async (sessions: Record<string, string>) => {
      t.clock.advance(1_000);
      await upload(t, token, { [commit]: noteOf({ sessions }) });
      await t.instance.settle();
      const { links } = (await t.get("/api/causal-link", { token })).body;
      return links.flatMap((link: { band: string; sessionId: string }) =>
        link.band === "strong" ? link.sessionId : [],
      );
    };
    expect(await causes({ s_c9883b05a2487d: "s-1" })).toEqual(["s-1"]);
    expect(await causes({ s_c9883b05a2487d: "s-2" })).toEqual(["s-2"]);
    // Nor is a session held answerable of which only the id is known.
    expect(await causes({ s_c9883b05a2487d: "s-3" })).toEqual([]);
    expect(t.count("trace_session_commits")).toBe(0);
  });

  it("answers nothing from texts that are no notes of Git AI", async () => {
    const { t, token } = await startWithDevice();
    for (const content of [
      "",
      "src/login.ts\n  s_a 1-9",
      "---",
      "src/login.ts\n  s_a 1-9\n---\n[]",
      "src/login.ts\n  s_a 1-9\n---\n{",
    ]) {
      expect((await upload(t, token, { [sha("a")]: content })).body.success_count).toBe(1);
      expect(await ask(t, token, { line: "1" })).toEqual([]);
    }
  });
});
