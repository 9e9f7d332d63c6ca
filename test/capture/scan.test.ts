import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { recording } from "../../src/capture/policy.ts";
import { type Scanned, scan } from "../../src/capture/scan.ts";
import { writeSetting } from "../../src/capture/state.ts";
import { MINUTE_MS } from "../../src/kit/clock.ts";
import { startAgent } from "../support/capture.ts";

const scans = () => readdirSync(tmpdir()).filter((name) => name.startsWith("reckon-scan-"));

describe("a scan", () => {
  it("counts what would be sent, sends and remembers nothing, and leaves nothing behind", async () => {
    const a = await startAgent();
    const before = scans();
    a.work("s1", 3);
    const asked = a.server.asked.length;
    const sessions: Scanned[] = [];
    const isComplete = await scan(a.capture, { since: 0 }, (session) => sessions.push(session));
    expect([isComplete, sessions]).toEqual([
      true,
      [
        expect.objectContaining({
          ...{ id: "s1", agent: "claude-code", repo: "github.com/acme/shop", title: "Do s1-0" },
          ...{ prompts: 3, files: 3, entries: 9, redacted: 0, documents: [] },
          usage: { input: 9, output: 27, cacheWrite: 0, cacheRead: 0 },
        }),
      ],
    ]);
    expect(a.server.asked).toHaveLength(asked);
    expect(a.capture.rows.recentSessions.all(0)).toEqual([]);
    expect(scans()).toEqual(before);
    expect(existsSync(a.path("s1"))).toBe(true);
  });

  it.skipIf(process.platform === "win32")("leaves no file behind when it is ended midway", async () => {
    const a = await startAgent();
    const before = scans();
    a.work("s1", 400);
    const files = new Set<string>();
    const look = () => {
      for (const name of scans().filter((each) => !before.includes(each)))
        for (const entry of readdirSync(join(tmpdir(), name), { recursive: true, withFileTypes: true }))
          if (entry.isFile()) files.add(entry.name);
    };
    const sessions: Scanned[] = [];
    const options = { since: 0, onProgress: look } as const;
    await scan(a.capture, options, (session) => {
      look();
      sessions.push(session);
    });
    expect(sessions.map(({ prompts }) => prompts)).toEqual([400]);
    expect([...files]).toEqual([]);
  });

  it("shows what the policy lets out, not what a pause left out, and of no other agents than those that were chosen", async () => {
    const a = await startAgent();
    const seen = async () => {
      const prompts: (string | undefined)[][] = [];
      await scan(a.capture, { since: 0, isWhole: true }, ({ documents }) =>
        prompts.push(
          (documents as { type?: string; text?: string }[]).flatMap(({ type, text }) =>
            type === "prompt" ? [text] : [],
          ),
        ),
      );
      return prompts;
    };
    a.work("s1", 1);
    a.advance(MINUTE_MS);
    recording.pause(a.capture, null);
    a.work("s1", 1, 1);
    a.advance(MINUTE_MS);
    recording.resume(a.capture);
    a.work("s1", 1, 2);
    await a.pass();
    expect(await seen()).toEqual([["Do s1-0", "Do s1-2"]]);
    await a.server.policy("metadata");
    await a.pass();
    expect(await seen()).toEqual([[undefined, undefined]]);
    await a.server.policy("off");
    await a.pass();
    expect(await seen()).toEqual([]);
    await a.server.policy("redacted");
    await a.pass();
    writeSetting(a.capture, "agents", ["codex"]);
    expect(await seen()).toEqual([]);
  });

  it("counts more prompts than a session is sent with", async () => {
    const a = await startAgent();
    a.work("s1", 2_005);
    const sessions: Scanned[] = [];
    await scan(a.capture, { since: 0 }, (session) => sessions.push(session));
    expect(sessions.map(({ prompts }) => prompts)).toEqual([2_005]);
  });

  it("says so when there is more than it reads", async () => {
    const a = await startAgent();
    for (let i = 0; i < 6; i++) a.work(`s${i}`, 20);
    const sessions: Scanned[] = [];
    const options = { since: 0, maxBytes: 20_000 } as const;
    expect(await scan(a.capture, options, (session) => sessions.push(session))).toBe(false);
    expect(sessions.length).toBeGreaterThan(0);
    expect(sessions.length).toBeLessThan(6);
  });
});
