import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { requestBytes } from "./load.ts";
import {
  bindDevices,
  countRows,
  newDirectory,
  type Program,
  type Running,
  removeDirectory,
  start,
  startFloor,
  startReckon,
  withoutThreads,
} from "./servers.ts";

/** Where server and client run: `pinned` gives each a core of its own, `free` lets both have all. */
export type Placement = "pinned" | "free";

/** A server under the same load as the others. */
export interface Contender {
  readonly name: "ours" | "ours, no threads" | "Node, gunzipSync" | "Node, gunzip" | "Go";
  readonly server: Running;
  readonly directory: string;
  /** The request that carries a body to a stream nobody wrote to before; the body is the same for every contender. */
  request(stream: number, body: Buffer, gzip: boolean): Buffer;
  readonly countSql: string;
  sentEntries: number;
}

/**
 * Builds the floor that is written in Go, from what is on this machine alone.
 * @returns its program, or why there is none
 */
export function buildGoFloor(): Program | string {
  const file = join(newDirectory(), "go-floor");
  const { status, stderr, error } = spawnSync("go", ["build", "-buildvcs=false", "-o", file, "."], {
    cwd: join(import.meta.dirname, "go-floor"),
    env: { ...process.env, GOPROXY: "off", GOFLAGS: "-mod=readonly", GOTOOLCHAIN: "local", CGO_ENABLED: "1" },
    encoding: "utf8",
  });
  if (status === 0) return { file, args: [] };
  const cause = error?.message ?? stderr.trim().split("\n").at(-1);
  return `rows against Go are left out: it needs Go, a C compiler and "go mod download" in test/bench/go-floor (${cause})`;
}

/** Whether servers can be given a core of their own: undefined, or why not. */
export function whyNotPinned(): string | undefined {
  if (availableParallelism() < 2) return "there is one core";
  return spawnSync("taskset", ["--version"]).status === 0 ? undefined : "there is no taskset";
}

/** Moves this process, all its threads, to the cores that a placement leaves to the client. @returns what undoes it */
export function placeClient(placement: Placement): () => void {
  if (placement === "free") return () => {};
  const pid = String(process.pid);
  const before = spawnSync("taskset", ["-p", pid], { encoding: "utf8" }).stdout.trim().split(" ").at(-1) as string;
  const move = (...cores: readonly string[]) => {
    if (spawnSync("taskset", ["-a", "-p", ...cores, pid]).status !== 0) throw new Error("taskset could not move us");
  };
  move("-c", "1");
  return () => move(before);
}

const placed = (program: Program, placement: Placement): Program =>
  placement === "pinned" ? { ...program, file: "taskset", args: ["-c", "0", program.file, ...program.args] } : program;

/** Starts ours, then the floors. @param streams how many each may write to */
export async function startContenders(
  reckon: Program,
  go: Program | undefined,
  placement: Placement,
  streams: number,
): Promise<Contender[]> {
  const path = "/api/telemetry/ingest";
  const contenders: Contender[] = [];
  let tokens: readonly string[] = [];
  const programs: [Contender["name"], Program][] = [["ours", reckon]];
  // On one core there are none anyway.
  if (placement === "free") programs.push(["ours, no threads", withoutThreads(reckon)]);
  for (const [name, program] of programs) {
    const directory = newDirectory();
    const own = await bindDevices(directory, streams);
    tokens = own;
    contenders.push({
      name,
      server: await startReckon(directory, placed(program, placement)),
      directory,
      request: (stream, body, gzip) => requestBytes({ method: "POST", path, token: own[stream] as string, body, gzip }),
      countSql: "SELECT coalesce(sum(entries), 0) FROM telemetry_segments",
      sentEntries: 0,
    });
  }
  const node = (mode: string) => (directory: string) =>
    startFloor(["ingest", mode, directory], (program) => placed(program, placement));
  const floors: [Contender["name"], (directory: string) => Promise<Running>][] = [
    ["Node, gunzipSync", node("sync")],
    ["Node, gunzip", node("async")],
  ];
  if (go) floors.push(["Go", (directory) => start(placed(go, placement), [directory])]);
  for (const [name, launch] of floors) {
    const directory = newDirectory();
    contenders.push({
      name,
      server: await launch(directory),
      directory,
      // The token costs the floor nothing but its bytes, which a client sends either way.
      request: (stream, body, gzip) =>
        requestBytes({ method: "POST", path: `/${stream}`, token: tokens[stream] as string, body, gzip }),
      countSql: "SELECT count(*) FROM floor_entries",
      sentEntries: 0,
    });
  }
  return contenders;
}

/** Speed means nothing if what was answered is not there. */
export async function stopAndCount({ name, server, directory, countSql, sentEntries }: Contender): Promise<void> {
  await server.stop();
  const stored = countRows(directory, countSql);
  if (stored !== sentEntries) throw new Error(`${name} acknowledged ${sentEntries} entries and holds ${stored}`);
  removeDirectory(directory);
}
