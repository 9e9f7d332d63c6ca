import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { type Address, requestBytes, Wire } from "./load.ts";
import { newDirectory, type Program, pause, type Running, removeDirectory, startReckon } from "./servers.ts";

/** The longest that a server's event loop was held up, in milliseconds; see stall-probe.ts. */
export interface Stall {
  readonly wall: number;
  readonly cpu: number;
}

/** A server whose event loop is watched. */
export interface Probed {
  readonly server: Running;
  /** Begins to watch. */
  watch(): void;
  /** Stops the server. @returns the longest stall since `watch` */
  stop(): Promise<Stall>;
}

export async function startProbed(directory: string, reckon: Program): Promise<Probed> {
  const beside = newDirectory();
  const out = join(beside, "stall");
  const probe = pathToFileURL(join(import.meta.dirname, "stall-probe.ts"));
  probe.searchParams.set("out", out);
  const program = { ...reckon, args: ["--import", probe.href, ...reckon.args] };
  const server = await startReckon(directory, program);
  return {
    server,
    watch: () => server.signal("SIGUSR2"),
    async stop() {
      await server.stop();
      const stall = JSON.parse(readFileSync(out, "utf8")) as Stall;
      removeDirectory(beside);
      return stall;
    },
  };
}

export const TELEMETRY = "/api/telemetry/ingest";

/** What a client meets that delivers one entry after another: milliseconds of each, ascending, and how many were refused. */
export interface Met {
  readonly times: readonly number[];
  readonly refused: number;
}

/** How often a client delivers: from which number on, how far apart, and how many at least. */
interface Pace {
  readonly from?: number;
  readonly apartMs?: number;
  readonly atLeast?: number;
}

/** Delivers one entry after another for as long as something else goes on, a little apart. */
export async function deliver(
  address: Address,
  token: string,
  until: Promise<unknown>,
  { from = 1, apartMs = 5, atLeast = 100 }: Pace = {},
): Promise<Met> {
  const times: number[] = [];
  let refused = 0;
  let going = true;
  void until.finally(() => {
    going = false;
  });
  const wire = await Wire.open(address);
  for (let seq = from; going || times.length < atLeast; seq++) {
    const body = Buffer.from(JSON.stringify({ repoKey: "r", entries: [{ seq, payload: { type: "prompt", seq } }] }));
    const began = performance.now();
    const { status } = await wire.ask(requestBytes({ method: "POST", path: TELEMETRY, token, body }));
    times.push(performance.now() - began);
    if (status !== 200) refused++;
    await pause(apartMs);
  }
  wire.close();
  return { times: times.sort((a, b) => a - b), refused };
}

/** Clients that deliver side by side, each with a token of its own. */
export interface DeliveryLoad {
  readonly address: Address;
  readonly tokens: readonly string[];
  readonly pace: Pace;
}

/** As `deliver`, with several clients in a thread of their own. @param meanwhile begins once that thread is ready */
export async function deliverBeside(load: DeliveryLoad, meanwhile: () => Promise<unknown>): Promise<Met> {
  const thread = new Worker(join(import.meta.dirname, "deliver-thread.ts"), { workerData: load });
  try {
    await once(thread, "message");
    const met = once(thread, "message") as Promise<[Met[]]>;
    await Promise.race([meanwhile(), met]);
    thread.postMessage("over");
    const [all] = await met;
    return {
      times: all.flatMap(({ times }) => times).sort((a, b) => a - b),
      refused: all.reduce((sum, { refused }) => sum + refused, 0),
    };
  } finally {
    await thread.terminate();
  }
}
