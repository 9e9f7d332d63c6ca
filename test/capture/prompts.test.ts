import Sqlite from "better-sqlite3";
import { expect, it } from "vitest";
import { deviceOf, expectAgreement, heldOf, startAgent, type TestAgent } from "../support/capture.ts";
import { turn } from "../support/turns.ts";

const promptsThere = ({ server }: TestAgent): string[] =>
  server
    .rows("SELECT document FROM trace_sessions")
    .flatMap(({ document }) => (JSON.parse(document).prompts ?? []) as { text: string }[])
    .map(({ text }) => text);

it("a session's prompts arrive in order, with what they belong to, and are sent again only where one is new", async () => {
  const a = await startAgent();
  const bodies: string[] = [];
  a.server.between = (path, answer, body) => {
    if (path === "/api/agent-traces/ingest") bodies.push(body);
    return answer();
  };
  a.work("s1", 3);
  await a.pass();
  a.work("s1", 2, 3);
  await a.pass();
  expect(promptsThere(a)).toEqual(["Do s1-0", "Do s1-1", "Do s1-2", "Do s1-3", "Do s1-4"]);
  // Only an answer is new.
  const answer = { type: "text", text: "one thing more" };
  a.write("s1", {
    ...{ parentUuid: null, isSidechain: false, type: "assistant", uuid: "late", sessionId: "s1", version: "2.1.330" },
    timestamp: new Date(a.server.clock.now()).toISOString(),
    message: { role: "assistant", id: "msg_late", model: "claude-opus-5", content: [answer] },
  });
  await a.pass();
  expect(bodies.map((body) => body.includes('"prompts":['))).toEqual([true, true, false]);
  expect(promptsThere(a)).toHaveLength(5);
  expectAgreement(a);
});

it.each(['log line "x" = 1\n', "\\", "\u0001", "漢", "word "])(
  "a long one of %j is in telemetry, too, cut as far as it must be",
  async (part) => {
    const a = await startAgent();
    await a.server.policy("full");
    const prompt = part.repeat(Math.floor(60_000 / part.length));
    a.write("s1", ...turn({ n: 0, at: a.server.clock.now(), cwd: `${a.home}/shop`, prompt }));
    await a.pass();
    expectAgreement(a);
    expect(a.capture.rows.rejected.all()).toEqual([]);
    const [said] = heldOf(a.server, deviceOf(a)).entries.map(({ payload }) => JSON.parse(payload));
    const [kept = "", footer] = said.text.split("\n[cut: ");
    expect(prompt.startsWith(kept)).toBe(true);
    if (footer !== undefined) {
      expect(Buffer.byteLength(JSON.stringify(kept))).toBeGreaterThan(50_000);
      expect(footer).toMatch(new RegExp(`^${kept.length} of \\d+ characters\\]$`));
    }
  },
);

it("no part of a secret across the end of what is kept arrives, and every cut is visible", async () => {
  const a = await startAgent();
  await a.server.policy("full");
  const secret = `ghp_${"aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC2"}`;
  const text = `${"word ".repeat(20_000).slice(0, 65_536 - 30)}${secret} ${"word ".repeat(9_000)}`;
  const said = { prompt: text, answer: text, command: text, output: text };
  a.write("s1", ...turn({ n: 0, at: a.server.clock.now(), cwd: `${a.home}/shop`, ...said }));
  await a.pass();
  expectAgreement(a);
  const { spans, sessions } = heldOf(a.server, deviceOf(a));
  const all = JSON.stringify([spans, sessions, a.capture.db.prepare("SELECT * FROM entries").all()]);
  expect(all).not.toContain("ghp_aB3");
  // The prompt, the answer, and the tool's input and output.
  expect(
    [...spans, ...sessions]
      .map(({ document }) => document)
      .join()
      .match(/\[cut: \d+ of/g),
  ).toHaveLength(4);
});

it("a session that an earlier version recorded loses none of its prompts", async () => {
  const a = await startAgent();
  a.work("s1", 2);
  await a.server.unplug();
  await a.pass();
  const { rows, places } = a.capture;
  const bodies = rows.prompts.all("s1");
  a.capture.close();
  // As the earlier version stored it: prompts among the session's facts.
  const db = new Sqlite(places.database);
  db.prepare("UPDATE sessions SET head = json_set(head, '$.prompts', json(?))").run(`[${bodies.join(",")}]`);
  db.exec("DROP TABLE prompts; DROP INDEX sessions_by_change");
  db.pragma("user_version = 2");
  db.close();
  a.capture = a.reopen();
  a.work("s1", 1, 2);
  await a.server.plug();
  await a.pass();
  expect(promptsThere(a)).toEqual(["Do s1-0", "Do s1-1", "Do s1-2"]);
  expectAgreement(a);
});
