import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { planTimerHere } from "../../src/capture/setup.ts";
import { STORES } from "../../src/capture/sources/stores.ts";
import { startAgent } from "../support/capture.ts";

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
