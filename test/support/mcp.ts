import type { Answer, TestDevice, TestInstance } from "./instance.ts";
import { memberOf, publish, readToken } from "./reads.ts";

/** The `Accept` header that a client of the Model Context Protocol must send. */
export const ACCEPT = "application/json, text/event-stream";
export const REPO = "github.com/acme/shop";
export const ERRORS = `# Errors

## 2026-11-20 Login loop

The cookie lacked its path, so the browser never sent it back.

**Prevention rule:** set Path on every cookie.

## 2026-11-10 Cart lost

**Status:** open

**Prevention rule:** Set path on every cookie!
`;

/** Sends one message, with `params` and other members of the test's choice. */
export const rpc = (
  t: TestInstance,
  token: string,
  message: Readonly<Record<string, unknown>>,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  t.post("/mcp", { token, json: { jsonrpc: "2.0", id: 7, ...message }, headers: { accept: ACCEPT, ...headers } });

/** Calls a tool as a client of the 2025 revisions does, and gives what it answers. */
export async function callTool(t: TestInstance, token: string, name: string, args: object = {}) {
  const answer = await rpc(t, token, { method: "tools/call", params: { name, arguments: args } });
  const texts: string[] = (answer.body.result?.content ?? []).map(({ text }: { text: string }) => text);
  return { ...answer, texts, text: texts.join("\n"), isError: answer.body.result?.isError === true, raw: answer.text };
}

/** A team with a brain of one repository, a device of it, a member, and what makes the member's read tokens. */
export async function shop(t: TestInstance, name = "Shop", repoKey = REPO) {
  const device: TestDevice = await t.device(await t.team({ name }));
  const files = { ".claude/brain/errors.md": ERRORS, "docs/guide.md": "# Guide\n\nA cookie guide." };
  await publish(t, device, files, { repoKey });
  const user = await memberOf(t, device.team);
  const token = async (scope: Parameters<typeof readToken>[2] = {}) => (await readToken(t, user.id, scope)).token;
  return { device, user, token };
}

/** Sends a session in which a prompt led to lines of a file. */
export const sendSession = (t: TestInstance, { token }: TestDevice, prompt: string, repoKey = REPO) =>
  t.post("/api/agent-traces/ingest", {
    token,
    json: {
      repoKey,
      sessions: [
        {
          ...{ id: "s-1", outcome: "success", startedAt: "2026-11-18T12:00:00Z", endedAt: "2026-11-18T12:30:00Z" },
          prompts: [{ at: "2026-11-18T12:00:00Z", text: prompt }],
          spans: [
            {
              ...{ id: "write", startedAt: "2026-11-18T12:10:00Z", endedAt: "2026-11-18T12:10:00Z" },
              edits: [{ path: "src/login.ts", startLine: 1, endLine: 20 }],
            },
          ],
        },
      ],
    },
  });
