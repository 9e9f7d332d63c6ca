import { expect } from "vitest";
import { createApiToken } from "../../src/identity/api-tokens/api-tokens.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import type { TestDevice, TestInstance } from "./instance.ts";

export const REPO = "github.com/acme/shop";
const AT = "2026-11-20T14:00:00Z";
const SHA = "3f2a9c1e5b7d4a60918273645f5e6d7c8b9a0f1e";

/** Makes an API token. @param teamId null for one of all teams */
export const apiToken = async (t: TestInstance, teamId: string | null): Promise<string> =>
  (await createApiToken(t.instance.core, { teamId, userId: null, name: "report" }, COMMAND_LINE)).token;

/** Sends something of everything that the read API shows: a session with two spans, entries, an errors file of two classes. */
export async function fillRecords(t: TestInstance, { token }: TestDevice, word = "login"): Promise<void> {
  const send = async (path: string, json: object) => {
    // A number that parsers of JSON round.
    const body = JSON.stringify(json).replace('"big":1', '"big":12345678901234567890');
    const answer = await t.post(path, { token, body, headers: { "content-type": "application/json" } });
    expect([path, answer.status, answer.text]).toEqual([path, 200, expect.anything()]);
  };
  const rule = "**Prevention rule:** set Path on every cookie.";
  const content = `## 2026-11-20 ${word} loop\n\nStatus: open. Introduced in ${SHA}, in \`src/login.ts\`.\n\n${rule}\n\n## 2026-11-19 ${word} again\n\n${rule}\n\n## 2026-11-18 Slow ${word}\n\nNobody knows.\n`;
  await send("/api/agent-traces/ingest", {
    repoKey: REPO,
    sessions: [
      {
        ...{ id: `${word}-1`, outcome: "success", agent: "claude-code", model: "claude-opus-4-6", branch: "main" },
        ...{ startedAt: AT, endedAt: "2026-11-20T15:00:00Z", big: 1 },
        prompts: [{ at: AT, text: `Mend the ${word}` }],
        commits: [{ sha: SHA, at: AT }],
        spans: [
          {
            id: "a",
            name: "Bash",
            kind: "tool",
            startedAt: AT,
            edits: [{ path: "src/login.ts", startLine: 1, endLine: 9 }],
          },
          { id: "b", parentId: "a", name: `${word} step`, startedAt: AT },
        ],
      },
    ],
    labels: [{ sessionId: `${word}-1`, name: "reviewed", value: true }],
  });
  await send("/api/brain/ingest", { version: 1, repoKey: REPO, files: [{ path: ".claude/brain/errors.md", content }] });
  const usage = { id: `msg_${word}`, input_tokens: 100_000, output_tokens: 2_000 };
  const entries = [
    {
      seq: 1,
      payload: { type: "usage", sessionId: `${word}-1`, model: "claude-opus-4-6", usage },
      clientTimestamp: AT,
    },
    { seq: 2, payload: { type: "note", text: `about ${word}` }, clientTimestamp: AT },
  ];
  await send("/api/telemetry/ingest", { repoKey: REPO, entries });
}

/** A path of the read API with the id of something that exists. */
export async function pathOf(t: TestInstance, path: string, token: string): Promise<string> {
  const first = async (list: string) => (await t.get(list, { token })).body.items[0]?.id;
  return path.includes(":id") ? path.replace(":id", `${await first(path.replace(/\/:id.*/, ""))}`) : path;
}
