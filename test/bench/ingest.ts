import { gzipSync } from "node:zlib";
import { drive, type Load, requestBytes } from "./load.ts";
import type { Settings } from "./run.ts";
import {
  bindDevices,
  countRows,
  newDirectory,
  pause,
  type Running,
  removeDirectory,
  settle,
  startFloor,
  startReckon,
} from "./servers.ts";
import { figure, median, quantile, type Report } from "./table.ts";
import { randomOf, telemetryPayload, Vocabulary } from "./text.ts";

const CONNECTIONS = 64;

interface Shape {
  readonly name: string;
  readonly entries: number;
  readonly gzip: boolean;
  /** Batches each connection sends in a round. */
  readonly turns: number;
  readonly aim: number;
}

const SHAPES: readonly Shape[] = [
  { name: "ingest, 100 entries, gzip", entries: 100, gzip: true, turns: 16, aim: 0.8 },
  { name: "ingest, 1 entry", entries: 1, gzip: false, turns: 160, aim: 0.7 },
  { name: "ingest, 1 entry, gzip", entries: 1, gzip: true, turns: 160, aim: 0.7 },
];

/** A server under the same load as the others. */
interface Contender {
  readonly name: "ours" | "floor, gunzipSync" | "floor, gunzip";
  readonly server: Running;
  readonly directory: string;
  /** The request that carries a body to a stream nobody wrote to before; the body is the same for every contender. */
  request(stream: number, body: Buffer, gzip: boolean): Buffer;
  readonly countSql: string;
  sentEntries: number;
}

/** Batches of entries at 64 connections, each with a stream of its own: group commit with many writers. */
export async function measureIngest({ quick, reckon }: Settings, report: Report): Promise<void> {
  const rounds = quick ? 3 : 7;
  const contenders = await startContenders(reckon, CONNECTIONS * SHAPES.length * (rounds + 1));
  let round = 0;
  for (const shape of SHAPES) {
    const bodies = makeBodies(shape);
    const against = shape.gzip ? contenders : contenders.filter((one) => one.name !== "floor, gunzip");
    const loads = new Map(against.map((one) => [one, [] as Measured[]]));
    for (let i = 0; i <= rounds; i++) {
      // Another one begins each time, so that none always comes first.
      for (let k = 0; k < against.length; k++) {
        const contender = against[(i + k) % against.length] as Contender;
        const load = await oneRound(contender, shape, bodies, round);
        // The first round warms up: by then the code is compiled and the files have grown.
        if (i > 0) loads.get(contender)?.push(load);
      }
      round++;
    }
    tell(report, shape, loads);
  }
  await tellMemory(report, contenders[0] as Contender, quick);
  for (const contender of contenders) await stopAndCount(contender);
}

async function startContenders(reckon: Settings["reckon"], streams: number): Promise<Contender[]> {
  const ours = newDirectory();
  const tokens = await bindDevices(ours, streams);
  const path = "/api/telemetry/ingest";
  const contenders: Contender[] = [
    {
      name: "ours",
      server: await startReckon(ours, reckon),
      directory: ours,
      request: (stream, body, gzip) =>
        requestBytes({ method: "POST", path, token: tokens[stream] as string, body, gzip }),
      countSql: "SELECT coalesce(sum(entries), 0) FROM telemetry_segments",
      sentEntries: 0,
    },
  ];
  for (const [name, mode] of [
    ["floor, gunzipSync", "sync"],
    ["floor, gunzip", "async"],
  ] as const) {
    const directory = newDirectory();
    contenders.push({
      name,
      server: await startFloor("ingest", mode, directory),
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

/** Bodies by connection and turn; the numbers of a connection's entries go on from turn to turn. */
function makeBodies({ entries, gzip, turns }: Shape): Buffer[][] {
  const words = new Vocabulary(1_000);
  return Array.from({ length: CONNECTIONS }, (_, connection) => {
    const next = randomOf(connection + 1);
    return Array.from({ length: turns }, (_, turn) => {
      const batch = {
        repoKey: `github.com/acme/service-${connection}`,
        mode: "full",
        entries: Array.from({ length: entries }, (_, i) => ({
          seq: turn * entries + i + 1,
          payload: telemetryPayload(words, next),
          clientTimestamp: new Date(Date.UTC(2026, 10, 21, 8) + (turn * entries + i) * 731).toISOString(),
        })),
      };
      const plain = Buffer.from(JSON.stringify(batch));
      return gzip ? gzipSync(plain) : plain;
    });
  });
}

interface Measured extends Load {
  /** Seconds of the server's processor time a request. */
  readonly cpuEach: number | undefined;
}

async function oneRound(contender: Contender, shape: Shape, bodies: Buffer[][], round: number): Promise<Measured> {
  const requests = bodies.map((turns, connection) =>
    turns.map((body) => contender.request(round * CONNECTIONS + connection, body, shape.gzip)),
  );
  const before = contender.server.cpuSeconds();
  const load = await drive(contender.server.address, CONNECTIONS, (connection, turn) => requests[connection]?.[turn]);
  await settle();
  // With what the load left to be checkpointed, which is a part of its cost.
  const after = contender.server.cpuSeconds();
  contender.sentEntries += load.answered * shape.entries;
  return {
    ...load,
    cpuEach: before === undefined || after === undefined ? undefined : (after - before) / load.answered,
  };
}

function tell(report: Report, shape: Shape, loads: ReadonlyMap<Contender, readonly Measured[]>): void {
  const rates = (all: readonly Measured[]) => all.map((load) => load.rate * shape.entries);
  const [[, ours], ...floors] = [...loads] as [[Contender, Measured[]], ...[Contender, Measured[]][]];
  // Which way of inflating is faster depends on the machine's cores: the floor is whichever wins here.
  floors.sort(([, a], [, b]) => median(rates(b)) - median(rates(a)));
  const [floor, floorLoads] = floors[0] as [Contender, Measured[]];
  report.result({
    scenario: shape.name,
    unit: "entries/s",
    ours: rates(ours),
    floor: rates(floorLoads),
    aim: { atLeast: shape.aim },
  });
  const says = (name: string, all: readonly Measured[]) => {
    const at = (share: number) => `${figure(median(all.map((load) => quantile(load.latencies, share))))} ms`;
    const cpu = all.map((load) => load.cpuEach).filter((each) => each !== undefined);
    return [
      `${name} ${figure(median(rates(all)))}/s`,
      `p50 ${at(0.5)}, p99 ${at(0.99)}`,
      ...(cpu.length > 0 ? [`${figure(median(cpu) * 1e6)} µs of processor a batch`] : []),
    ].join(", ");
  };
  report.note(
    shape.name,
    [
      ...[["ours", ours] as const, ...floors.map(([one, all]) => [one.name, all] as const)].map(([n, all]) =>
        says(n, all),
      ),
      `the floor is "${floor.name}"`,
      `client ${figure(100 * median(ours.map((load) => load.clientShare)))} % of a core`,
    ].join("; "),
  );
}

async function tellMemory(report: Report, ours: Contender, quick: boolean): Promise<void> {
  const seconds = quick ? 2 : 10;
  await pause(seconds * 1000);
  report.note("memory", `${figure(ours.server.residentMb())} MB resident ${seconds} s after the ingest load`);
}

/** Speed means nothing if what was answered is not there. */
async function stopAndCount({ name, server, directory, countSql, sentEntries }: Contender): Promise<void> {
  await server.stop();
  const stored = countRows(directory, countSql);
  if (stored !== sentEntries) throw new Error(`${name} acknowledged ${sentEntries} entries and holds ${stored}`);
  removeDirectory(directory);
}
