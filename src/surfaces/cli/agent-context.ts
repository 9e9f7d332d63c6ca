import { setGlobalProxyFromEnv } from "node:http";
import { homedir, userInfo } from "node:os";
import { type Capture, type CaptureParts, openCapture, type PassResult } from "../../capture/capture.ts";
import { AGENTS } from "../../formats/agents/agents.ts";
import { DAY_MS, systemClock } from "../../kit/clock.ts";
import { keepHeapSmall } from "../../kit/heap.ts";
import { processLog } from "../../kit/log.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { troubleLine } from "./agent-texts.ts";
import type { Cli, CommonOptions } from "./context.ts";
import { createOutput, type Output } from "./output.ts";
import { oneOf } from "./values.ts";

/** How far back is read by default. */
export const DEFAULT_SINCE_MS = 30 * DAY_MS;

/** The name of an agent, as a session carries it. */
export const agentName = oneOf(AGENTS.map(({ agent }) => agent));

/** Such names with commas between. */
export const agentNames = (text: string): string[] => text.split(",").map((name) => agentName(name.trim()));

export function partsOf(cli: Cli): CaptureParts {
  const machine = { home: homeOf(cli), env: cli.env, platform: process.platform };
  return { machine, clock: systemClock, log: processLog("error", systemClock.now) };
}

/** @throws Problem where nothing names the home folder: most users in containers have no entry */
function homeOf({ env }: Cli): string {
  if (env.HOME) return env.HOME;
  try {
    // Node takes an empty HOME for the folder that it was started in.
    return process.platform === "win32" ? homedir() : userInfo().homedir;
  } catch {
    return fail(invalid, "the home folder of this user is not known: set HOME");
  }
}

/** A server on this machine is reached without the proxy that leads out of it. */
const LOOPBACK = "localhost,127.0.0.1,::1";

export function useProxy({ env }: Cli): void {
  const exempt = [env.NO_PROXY ?? env.no_proxy, LOOPBACK].filter(Boolean).join(",");
  setGlobalProxyFromEnv({ ...env, no_proxy: exempt, NO_PROXY: exempt });
}

/** Settles the process, which is a guest on its machine. */
export function settleIn(cli: Cli): void {
  keepHeapSmall();
  useProxy(cli);
}

/** Opens the client's own database for one command. */
export async function withCapture(
  cli: Cli,
  options: CommonOptions,
  work: (capture: Capture, output: Output) => Promise<void> | void,
): Promise<void> {
  settleIn(cli);
  const capture = openCapture(partsOf(cli));
  try {
    await work(capture, createOutput(options.json ?? false));
  } catch (error) {
    throw capture.explained(error);
  } finally {
    capture.close();
  }
}

/** Says beside the result what a pass could not do; with `--json` it stands in the result. */
export function noteTrouble(output: Output, result: PassResult | undefined): void {
  const trouble = output.json ? "" : troubleLine(result);
  if (trouble !== "") output.note(trouble);
}
