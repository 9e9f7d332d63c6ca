/** The capture client as users run it: the bundle that the executable is made of, in processes of its own, against a real server. */

import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { bundle } from "../../build/bundle.ts";
import { readConfig } from "../../src/config.ts";
import type { Core } from "../../src/core.ts";
import { bindDevice, createCode } from "../../src/identity/devices/devices.ts";
import { createTeam } from "../../src/identity/teams/teams.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { silentLog } from "../../src/kit/log.ts";
import { systemRandom } from "../../src/kit/random.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { openStore } from "../../src/platform/store/store.ts";
import { newDirectory, type Running, startReckon } from "./servers.ts";

/** Loaded into the client: tells on a pipe of its own how much memory it held at most, in kilobytes. */
const TELL_PEAK = `data:text/javascript,${encodeURIComponent(
  'import { writeSync } from "node:fs"; process.on("exit", () => writeSync(3, String(process.resourceUsage().maxRSS)));',
)}`;

interface Ran {
  readonly stdout: string;
  readonly milliseconds: number;
  readonly residentMb: number;
}

export interface Client {
  readonly program: string;
  /** Runs `reckon agent …`. @throws Error when it fails */
  run(...args: readonly string[]): Promise<Ran>;
  /** Calls what agents call at the end of a turn. */
  hook(): void;
}

export async function bundleClient(): Promise<string> {
  const made = await bundle(join(newDirectory(), "bundle"));
  return join(made.folder, made.main);
}

/** @param program see `bundleClient` @param home the machine's home folder */
export function clientIn(program: string, home: string): Client {
  const state = join(home, "state");
  const env = { PATH: process.env.PATH, HOME: home, RECKON_AGENT_HOME: state };
  const run = async (...args: readonly string[]) => {
    const began = performance.now();
    const child = spawn(process.execPath, ["--import", TELL_PEAK, program, "agent", ...args], {
      env,
      stdio: ["ignore", "pipe", "pipe", "pipe"],
    });
    const texts = ["", "", ""];
    for (const [i, fd] of [1, 2, 3].entries())
      child.stdio[fd]?.on("data", (chunk: Buffer) => {
        texts[i] += chunk.toString();
      });
    const code = await new Promise((resolve) => child.once("close", resolve));
    const [stdout = "", stderr, peak] = texts;
    if (code !== 0) throw new Error(`reckon agent ${args[0]} ended with ${code}: ${stderr}`);
    return { stdout, milliseconds: performance.now() - began, residentMb: Number(peak) / 1e3 };
  };
  const hook = () => {
    const input = '{"hook_event_name":"Stop"}';
    const { status, stderr } = spawnSync("sh", [join(state, "hook"), "claude-code", "Stop"], {
      ...{ env, input, encoding: "utf8" },
    });
    if (status !== 0) throw new Error(`the hook failed: ${stderr}`);
  };
  return { program, run, hook };
}

export interface TeamServer {
  readonly server: Running;
  readonly url: string;
  /** A connect code of its team. */
  readonly code: string;
  /** A token of another machine of the team. */
  readonly token: string;
}

/** A server in a process of its own, with one team. */
export async function startTeamServer(): Promise<TeamServer> {
  const directory = newDirectory();
  const store = openStore(directory, { now: systemClock.now });
  const config = readConfig({ data: directory }, {});
  const core: Core = { config, clock: systemClock, random: systemRandom, log: silentLog, store, state: new Map() };
  const team = await createTeam(core, "Bench", COMMAND_LINE);
  const { deviceToken: token } = await bindDevice(
    core,
    (await createCode(core, team.id, COMMAND_LINE)).code,
    "1",
    null,
  );
  const { code } = await createCode(core, team.id, COMMAND_LINE);
  store.close();
  const server = await startReckon(directory);
  return { server, url: `http://${server.address.host}:${server.address.port}`, code, token };
}
