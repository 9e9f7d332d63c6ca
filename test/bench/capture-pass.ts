/**
 * One reading of the capture client, in a process of its own: `node capture-pass.ts WHAT HOME`.
 * WHAT is `idle`, `record` or `parse`; prints the milliseconds it took, the bytes and the events that it found.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { openCapture, runPass } from "../../src/capture/capture.ts";
import { notBefore } from "../../src/capture/schedule.ts";
import { Tail } from "../../src/capture/sources/tail.ts";
import { SINCE, writeCredentials, writeSetting } from "../../src/capture/state.ts";
import { claudeCode } from "../../src/formats/agents/claude-code.ts";
import { DAY_MS, systemClock } from "../../src/kit/clock.ts";
import { keepHeapSmall } from "../../src/kit/heap.ts";
import { createLog } from "../../src/kit/log.ts";

export interface Reading {
  readonly milliseconds: number;
  readonly bytes: number;
  readonly events: number;
}

keepHeapSmall();
const [what = "idle", home = ""] = process.argv.slice(2);
const transcripts = join(home, ".claude/projects/-home-kim-shop");
const bytes = readdirSync(transcripts).reduce((sum, name) => sum + statSync(join(transcripts, name)).size, 0);
const began = { at: performance.now() };
const events = what === "parse" ? parse() : await record();
const milliseconds = performance.now() - began.at;
process.stdout.write(JSON.stringify({ milliseconds, bytes, events } satisfies Reading));

function parse(): number {
  let found = 0;
  for (const name of readdirSync(transcripts)) {
    const reader = claudeCode.open({ path: name });
    const tail = new Tail(join(transcripts, name));
    for (const { text } of tail.records(0, claudeCode.skips)) if (text) found += reader.read(text).length;
    tail.close();
  }
  return found;
}

/** A pass of a machine whose server is not asked for a while. */
async function record(): Promise<number> {
  const machine = { home, env: {}, platform: process.platform };
  const log = createLog({ level: "silent", now: systemClock.now, write: () => {} });
  const capture = openCapture({ machine, clock: systemClock, log });
  const binding = {
    url: "http://127.0.0.1:9",
    token: "none",
    expiresAt: null,
    deviceId: null,
    teamId: "t",
    teamName: "T",
  };
  writeCredentials(capture.places, { ...binding, connectedAt: "2026-11-21T08:00:00Z" });
  writeSetting(capture, SINCE, 0);
  writeSetting(capture, "policy", { captureMode: "redacted", watchlist: [], etag: null, at: 0 });
  notBefore(capture, "server", DAY_MS, "measured");
  began.at = performance.now();
  const result = await runPass(capture, { maxOutboxBytes: Number.POSITIVE_INFINITY });
  if (!result || result.unreadable.length > 0) throw new Error(`it was not read: ${JSON.stringify(result)}`);
  return result.recorded;
}
