import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, closeSync, mkdirSync, openSync, statSync, writeFileSync, writeSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { openCapture } from "../../src/capture/capture.ts";
import { writeHookScript } from "../../src/capture/hook.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { createLog } from "../../src/kit/log.ts";
import { makeRepository, textOf, turn, turns } from "../support/turns.ts";
import type { Reading } from "./capture-pass.ts";
import { bundleClient, clientIn, startTeamServer } from "./client.ts";
import type { Settings } from "./run.ts";
import { newDirectory, pause, ROOT, removeDirectory } from "./servers.ts";
import { figure, quantile, type Report } from "./table.ts";
import { randomOf, Vocabulary } from "./text.ts";

const FILES = 5_000;
const LONG_BYTES = 500_000_000;
const HOOKS = 60;

/** What the capture client costs the machine that agents run on. */
export async function measureCapture({ quick }: Settings, report: Report): Promise<void> {
  measureIdle(quick, report);
  const program = await bundleClient();
  await measureReading(quick, program, report);
  await measureTurn(quick, program, report);
  measureHook(quick, report);
  report.note("capture", `load of the machine while it was measured: ${loadavg().map(figure).join(", ")}`);
}

const read = (what: "idle" | "record" | "parse", home: string): Reading =>
  JSON.parse(
    execFileSync(process.execPath, [join(import.meta.dirname, "capture-pass.ts"), what, home], { encoding: "utf8" }),
  );

/** A machine's home folder with a work tree. */
function machine(): { home: string; folder: string; transcripts: string } {
  const home = newDirectory();
  const folder = join(home, "shop");
  const transcripts = join(home, ".claude/projects/-home-kim-shop");
  makeRepository(folder, "github.com/acme/shop");
  mkdirSync(transcripts, { recursive: true });
  return { home, folder, transcripts };
}

function measureIdle(quick: boolean, report: Report): void {
  const { home, folder, transcripts } = machine();
  for (let i = 0; i < FILES; i++)
    writeFileSync(join(transcripts, `s${i}.jsonl`), textOf(turns(`s${i}`, 2, Date.now() - 60_000, 0, folder)));
  const first = read("record", home);
  report.note("capture", `the first pass over ${FILES} short transcripts takes ${figure(first.milliseconds)} ms`);
  const idle = Array.from({ length: quick ? 3 : 7 }, () => read("idle", home));
  report.result({
    ...{ scenario: `idle pass, ${FILES} transcripts`, unit: "ms", aim: { below: 300 } },
    ours: idle.map(({ milliseconds }) => milliseconds),
  });
  removeDirectory(home);
}

async function measureReading(quick: boolean, program: string, report: Report): Promise<void> {
  const { home, folder, transcripts } = machine();
  const wanted = quick ? LONG_BYTES / 10 : LONG_BYTES;
  const path = join(transcripts, "long.jsonl");
  const words = new Vocabulary(1_000);
  const next = randomOf(1);
  const file = openSync(path, "w");
  for (let n = 0, bytes = 0; bytes < wanted; n += 20) {
    const text = textOf(turns("long", 20, Date.now() - 86_400_000 + n, n, folder)).replace(
      /(?:Do|done) long-\d+/g,
      () => words.phrase(next, 4_000),
    );
    bytes += writeSync(file, text);
  }
  closeSync(file);
  const megabytes = statSync(path).size / 1e6;
  const client = clientIn(program, home);
  const { server, url, code } = await startTeamServer();
  const first = await client.run("connect", url, code, "--agents", "claude-code", "--yes", "--json");
  const idle = await client.run("run", "--json");
  await server.stop();
  report.result({
    ...{ scenario: "memory of an idle pass", unit: "MB", ours: [idle.residentMb], aim: { below: 150 } },
  });
  report.result({
    ...{ scenario: `memory reading ${figure(megabytes)} MB`, unit: "MB", aim: { below: 150 } },
    ours: [first.residentMb],
  });
  const parsed = read("parse", home);
  report.result({
    ...{ scenario: "parse a transcript", unit: "MB/s", aim: { atLeast: 100 } },
    ours: [megabytes / (parsed.milliseconds / 1e3)],
  });
  const recorded = read("record", home);
  const outbox = statSync(join(home, ".local/state/reckon/agent/agent.db")).size / 1e6;
  report.note(
    "capture",
    `recording it, redacted, runs at ${speedOf(recorded)} MB/s, ${speedOf({ bytes: recorded.bytes, ...first })} MB/s with a server on this machine: ${recorded.events} events, ${figure(outbox)} MB kept`,
  );
  removeDirectory(home);
}

const speedOf = ({ bytes, milliseconds }: { bytes: number; milliseconds: number }) =>
  figure(bytes / 1e3 / milliseconds);

/** From the last record of a turn, written after the hook was called as agents do, until the server tells of it. */
async function measureTurn(quick: boolean, program: string, report: Report): Promise<void> {
  const { home, folder, transcripts } = machine();
  const client = clientIn(program, home);
  const { server, url, code, token } = await startTeamServer();
  await client.run("connect", url, code, "--agents", "claude-code", "--yes", "--json");
  const path = join(transcripts, "turns.jsonl");
  const times: number[] = [];
  for (let n = 1; n <= (quick ? 3 : 10); n++) {
    const records = turn({ session: "turns", n, at: Date.now(), cwd: folder });
    appendFileSync(path, textOf(records.slice(0, 2)));
    client.hook();
    appendFileSync(path, textOf(records.slice(2)));
    const began = performance.now();
    const question = `${url}/api/prompt-for-line?path=src/${n % 7}.ts&line=${n}`;
    for (;;) {
      const reply = await fetch(question, { headers: { authorization: `Bearer ${token}` } });
      const { matches } = (await reply.json()) as { matches: { prompt: string }[] };
      if (matches.some(({ prompt }) => prompt === `Do turns-${n}`)) break;
      if (performance.now() - began > 60_000) throw new Error(`turn ${n} did not arrive`);
      await pause(20);
    }
    times.push(performance.now() - began);
  }
  await server.stop();
  report.result({ scenario: "end of turn → told by the server", unit: "ms", ours: times, aim: { below: 5_000 } });
  removeDirectory(home);
}

function measureHook(quick: boolean, report: Report): void {
  const { home } = machine();
  const log = createLog({ level: "silent", now: systemClock.now, write: () => {} });
  const parts = { machine: { home, env: {}, platform: process.platform }, clock: systemClock, log };
  const capture = openCapture(parts);
  // Otherwise the hook would start this file's own program.
  process.argv[1] = join(ROOT, "src/main.ts");
  writeHookScript(parts.machine, capture.places);
  const { hook } = capture.places;
  capture.close();
  const ring = (...args: readonly string[]) =>
    spawnSync("sh", [...args, hook, "claude-code", "Stop"], { input: '{"hook_event_name":"Stop"}', encoding: "utf8" });
  const times: number[] = [];
  for (let i = 0; i < (quick ? HOOKS / 3 : HOOKS); i++) {
    const began = performance.now();
    const { status, stderr } = ring();
    times.push(performance.now() - began);
    if (status !== 0) throw new Error(`the hook failed: ${stderr}`);
  }
  // The shell tells its own memory as it ends.
  const told = ring("-c", `trap 'grep VmHWM /proc/$$/status >&2' EXIT; . "$0"`).stderr;
  const most = Number(/(\d+) kB/.exec(told)?.[1] ?? 0) / 1e3;
  const sorted = times.toSorted((a, b) => a - b);
  report.result({ scenario: "hook, 99 of 100", unit: "ms", ours: [quantile(sorted, 0.99)], aim: { below: 200 } });
  report.note(
    "capture",
    `the hook's shell holds ${figure(most)} MB; its median is ${figure(quantile(sorted, 0.5))} ms`,
  );
  removeDirectory(home);
}
