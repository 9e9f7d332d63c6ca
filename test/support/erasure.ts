import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Core } from "../../src/core.ts";
import { assignDevice } from "../../src/identity/devices/devices.ts";
import { setRole } from "../../src/identity/members/members.ts";
import { sha256Hex } from "../../src/kit/hash.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { carryOut, requestErasure, resolveTarget } from "../../src/share/erasure/erasure.ts";
import { makeAccount } from "./accounts.ts";
import { noteOf } from "./git-ai.ts";
import type { TestDevice, TestInstance } from "./instance.ts";

/** Files of a directory and its folders that hold a text anywhere. */
export function filesWith(directory: string, text: string): string[] {
  const needle = Buffer.from(text);
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(directory, name)).isFile())
    .filter((name) => readFileSync(join(directory, name)).includes(needle))
    .sort();
}

/** Delivers one of everything, with a text in all that may hold one. @param at the first seq and version */
export async function deliverAll(t: TestInstance, { token }: TestDevice, repoKey: string, text: string, at = 1) {
  const post = async (path: string, json: object) => {
    const { status } = await t.post(path, { token, json });
    if (status !== 200) throw new Error(`${path} answered ${status}`);
  };
  const usage = { input_tokens: 100, output_tokens: at };
  await post("/api/telemetry/ingest", {
    repoKey,
    mode: `${text}-mode`,
    entries: [0, 1, 2].map((i) => ({
      seq: at + i,
      payload: {
        type: "prompt",
        text: `${text} telemetry ${i}`,
        sessionId: `${text}-s${at}`,
        branch: `${text}-b`,
        usage,
      },
    })),
  });
  await post("/api/brain/ingest", {
    repoKey,
    version: at,
    files: [
      { path: ".claude/brain/errors.md", content: `## 2026-11-20 ${text} loop\n\nIn src/${text}.ts, version ${at}.\n` },
      { path: `${text}-${at}.md`, content: `# ${text} brain ${at}` },
    ],
  });
  await post("/api/agent-traces/ingest", {
    repoKey,
    sessions: [
      {
        id: `${text}-s${at}`,
        outcome: "ok",
        branch: `${text}-branch`,
        startedAt: "2026-11-20T10:00:00Z",
        prompts: [{ at: "2026-11-20T10:00:00Z", text: `${text} prompt` }],
        files: [`src/${text}.ts`],
        spans: [
          { id: "a", name: `${text} span`, usage, edits: [{ path: `src/${text}.ts`, startLine: 1, endLine: 2 }] },
        ],
      },
    ],
    labels: [
      { sessionId: `${text}-s${at}`, name: `${text} label`, value: 1 },
      { name: `${text} loose`, value: 2 },
    ],
  });
  const session = `${text}-s${at}`;
  const note = noteOf({ files: { [`src/${text}.ts`]: { "s_1::t_1": "1-2" } }, sessions: { s_1: session } });
  const commit_sha = sha256Hex(session).slice(0, 40);
  await post("/adapters/git-ai/worker/notes/upload", { entries: [{ commit_sha, content: note }] });
  await t.instance.settle();
}

/** A person in the device's team who owns the device. */
export async function personWith(t: TestInstance, device: TestDevice, email: string) {
  const user = await makeAccount(t.instance.core, { email, name: `${email} name` });
  await setRole(t.instance.core, device.team.id, email, "member", COMMAND_LINE);
  await assignDevice(t.instance.core, device.deviceId, email, COMMAND_LINE);
  return user;
}

/** Erases what is asked for, to the end. @returns what was erased, by kind */
export const eraseNow = async (core: Core, request: Parameters<typeof resolveTarget>[1]) =>
  carryOut(core, await requestErasure(core, resolveTarget(core, request), "they wanted it", COMMAND_LINE));
