import type { Command } from "commander";
import type { Instance } from "../../app.ts";
import { SETTINGS, type Settings } from "../../config.ts";
import { type FirstRun, firstRun } from "../../identity/sign-in/sign-in.ts";
import { baseUrlOf } from "../../kit/base-url.ts";
import { systemClock } from "../../kit/clock.ts";
import { letHeapGrow } from "../../kit/heap.ts";
import { processLog } from "../../kit/log.ts";
import { conflict, fail, unavailable } from "../../kit/problem.ts";
import { systemRandom } from "../../kit/random.ts";
import { type Cli, configOf } from "./context.ts";
import { setUpUrls, startLines } from "./first-run.ts";

type SettingName = keyof typeof SETTINGS;

export function serveCommand(program: Command, cli: Cli): void {
  const serve = program.command("serve").description("run the server; prints its address when it answers");
  const variables: string[] = [];
  for (const row of Object.values(SETTINGS)) {
    const fallback = "shown" in row && row.shown ? row.shown : String(row.fallback);
    if ("flag" in row && row.flag)
      serve.option(`${row.flag} <value>`, `${row.description} (env ${row.env}, default ${fallback})`);
    else variables.push(`  ${row.env.padEnd(36)} ${row.description} (default ${fallback})`);
  }
  serve.option("--json", "print the addresses as JSON", false);
  serve.addHelpText(
    "after",
    `\nEnvironment only:\n${variables.join("\n")}\n\nAny variable can be given as NAME_FILE, naming a file that holds its value. Quotas are COUNT/SECONDS, or off.`,
  );
  serve.action(async (options: Partial<Record<SettingName, string>> & { json: boolean }) => {
    const { json, ...flags } = options;
    letHeapGrow();
    const config = configOf(cli, {}, flags as Settings);
    const log = processLog(config.log, systemClock.now);
    // Loaded only here: other commands start sooner without the server and its pages.
    const { createInstance } = await import("../../app.ts");
    let fatal: ((reason: string) => void) | undefined;
    const instance = await createInstance({
      config,
      clock: systemClock,
      random: systemRandom,
      log,
      onFatal: (reason) => fatal?.(reason),
    });
    const first = await firstRunOrClose(instance);
    const url = await listenOrExplain(instance);
    // Signals are listened for first: whoever reads the printed line may send one at once.
    const stopped = untilStopped(instance, (stop) => {
      fatal = (reason) => {
        log.error("stopping", { reason });
        process.stderr.write(`reckon: ${reason}\n`);
        stop(1);
      };
    });
    log.info("started", { url, data: config.data, pid: process.pid });
    const unknown = unknownSettings(cli.env);
    if (unknown.length > 0) log.warn("settings_unknown", { names: unknown.join(" ") });
    const localUrl = baseUrlOf({ ...instance.core.config, baseUrl: null });
    const setUp = setUpUrls(first, url, localUrl);
    process.stdout.write(
      json ? `${JSON.stringify({ url, localUrl, ...setUp })}\n` : startLines(url, localUrl, first, setUp),
    );
    cli.exitCode = await stopped;
    log.info("stopped");
  });
}

/** Variables that only other commands read. */
const OF_COMMANDS = ["RECKON_TOKEN", "RECKON_AGENT_HOME"];

/** Variables that are named like settings and are none: most likely mistyped, and without effect. */
function unknownSettings(env: Cli["env"]): string[] {
  const known = new Set<string>([...Object.values(SETTINGS).map((row) => row.env), ...OF_COMMANDS]);
  return Object.keys(env).filter((name) => name.startsWith("RECKON_") && !known.has(name.replace(/_FILE$/, "")));
}

async function firstRunOrClose(instance: Instance): Promise<FirstRun> {
  try {
    return await firstRun(instance.core);
  } catch (error) {
    await instance.close();
    throw error;
  }
}

/** What binds a socket and can be closed. */
type Listening = Pick<Instance, "listen" | "close"> & {
  readonly core: { readonly config: { readonly host: string; readonly port: number } };
};

/** Binds the socket. A taken port is for the operator to mend, so the error says it plainly. */
export async function listenOrExplain(instance: Listening): Promise<string> {
  try {
    return await instance.listen();
  } catch (error) {
    await instance.close();
    const { code, syscall } = error as NodeJS.ErrnoException;
    const { host, port } = instance.core.config;
    if (code === "EADDRINUSE")
      fail(conflict, `port ${port} on ${host} is in use; choose another with --port, or 0 for a free one`);
    if (syscall === "listen" || syscall === "getaddrinfo")
      fail(unavailable, `cannot listen on ${host} port ${port} (${code})`);
    throw error;
  }
}

/**
 * Waits for SIGTERM or SIGINT, then closes in good order; a second signal ends at once.
 * @param other handed a function that stops the instance with an exit code
 */
export function untilStopped(
  instance: Pick<Instance, "close">,
  other: (stop: (code: number) => void) => void,
): Promise<number> {
  return new Promise((resolve) => {
    let stopping = false;
    const stop = (code: number) => {
      if (stopping) process.exit(1);
      stopping = true;
      instance.close().then(
        () => resolve(code),
        () => resolve(1),
      );
    };
    process.on("SIGTERM", () => stop(0));
    process.on("SIGINT", () => stop(0));
    other(stop);
  });
}
