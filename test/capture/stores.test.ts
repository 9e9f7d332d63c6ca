import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { planTimerHere } from "../../src/capture/setup.ts";
import { STORES } from "../../src/capture/sources/stores.ts";
import { isoInstant } from "../../src/kit/clock.ts";
import { deviceOf, expectAgreement, heldOf, startAgent } from "../support/capture.ts";
import { textOf } from "../support/turns.ts";

const VARIABLES = {
  ...{ CLAUDE_CONFIG_DIR: "a", CODEX_HOME: "b", GEMINI_CLI_HOME: "c", COPILOT_HOME: "d", XDG_DATA_HOME: "e" },
};

it("transcripts are looked for where the variables of each agent say", async () => {
  const a = await startAgent({ connected: false });
  const env = Object.fromEntries(Object.entries(VARIABLES).map(([name, folder]) => [name, join(a.home, folder)]));
  const files = [
    "a/projects/-shop/s1.jsonl",
    "b/sessions/2026/11/21/rollout-1.jsonl",
    "c/.gemini/tmp/shop/chats/session-1.jsonl",
    "e/opencode/opencode.db",
    "d/session-state/s1/events.jsonl",
  ].map((path) => join(a.home, path));
  for (const file of files) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "");
  }
  const machine = { ...a.capture.machine, env };
  expect(STORES.flatMap((store) => store.list(store.root(machine)).map(({ path }) => path))).toEqual(files);
});

it("the work of sub-agents that write it down apart is sent, as sessions below their own", async () => {
  const a = await startAgent();
  const write = (path: string, ...records: object[]) => {
    const file = join(a.home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, textOf(records));
  };
  const timestamp = isoInstant(a.server.clock.now());
  const call = {
    type: "gemini",
    timestamp,
    content: "Done.",
    model: "gemini-2.5-pro",
    tokens: { input: 9, output: 4 },
  };
  write(".gemini/projects.json", { projects: { [join(a.home, "shop")]: "shop" } });
  write(".gemini/tmp/shop/chats/session-1.jsonl", { sessionId: "g1", kind: "main" }, { id: "m1", ...call });
  write(".gemini/tmp/shop/chats/g1/g2.jsonl", { sessionId: "g2", kind: "subagent" }, { id: "m2", ...call });
  const said = { role: "assistant", message: { content: [{ type: "text", text: "Done." }] } };
  write(".cursor/projects/shop/agent-transcripts/c1/c1.jsonl", said);
  write(".cursor/projects/shop/agent-transcripts/c1/subagents/c2.jsonl", said);
  await a.pass();
  const { entries, sessions } = heldOf(a.server, deviceOf(a));
  expect(sessions.map(({ id, document }) => [id, JSON.parse(document).parentId])).toEqual([
    ...[
      ["c1", undefined],
      ["c2", "c1"],
    ],
    ...[
      ["g1", undefined],
      ["g2", "g1"],
    ],
  ]);
  const used = entries.filter(({ repo }) => repo === "github.com/acme/shop").map(({ payload }) => JSON.parse(payload));
  expect(used.map(({ sessionId, usage }) => [sessionId, usage.id]).sort()).toEqual([
    ["g1", "m1"],
    ["g2", "m2"],
  ]);
  expectAgreement(a);
});

it("the timer gets what says where agents keep their files, and how the server is reached", async () => {
  const a = await startAgent({ connected: false });
  const names = [
    ...Object.keys(VARIABLES),
    "HTTPS_PROXY",
    "https_proxy",
    "NO_PROXY",
    "no_proxy",
    "NODE_EXTRA_CA_CERTS",
  ];
  const env = Object.fromEntries([...names, "SECRET"].map((name) => [name, `/${name}`]));
  const changes = planTimerHere({ ...a.capture, machine: { ...a.capture.machine, platform: "linux", env } });
  const written = changes.map(({ diff }) => diff).join("\n");
  for (const name of names) expect(written).toContain(`Environment="${name}=/${name}"`);
  expect(written).not.toContain("SECRET");
});
