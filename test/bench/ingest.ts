import { gzipSync } from "node:zlib";
import {
  buildGoFloor,
  type Contender,
  type Placement,
  placeClient,
  startContenders,
  stopAndCount,
  whyNotPinned,
} from "./contenders.ts";
import { drive, type Load } from "./load.ts";
import type { Settings } from "./run.ts";
import { idle, type Program, pause } from "./servers.ts";
import { figure, median, quantile, type Report } from "./table.ts";
import { randomOf, sessionOf, telemetryPayload, Vocabulary } from "./text.ts";

export const CONNECTIONS = 64;

/** What ours over a floor's must come to. */
type Aims = Readonly<Record<"Node" | "Go", number>>;

interface Shape {
  readonly name: string;
  readonly entries: number;
  readonly gzip: boolean;
  /** Batches each connection sends in a round. */
  readonly turns: number;
  readonly aims: Readonly<Record<Placement, Aims>>;
}

const ONE = { pinned: { Node: 0.7, Go: 0.7 }, free: { Node: 0.7, Go: 0.7 } };
const SHAPES: readonly Shape[] = [
  {
    name: "ingest, 100 entries, gzip",
    entries: 100,
    gzip: true,
    turns: 16,
    aims: { pinned: { Node: 1, Go: 1.1 }, free: { Node: 1.5, Go: 1.2 } },
  },
  { name: "ingest, 1 entry", entries: 1, gzip: false, turns: 100, aims: ONE },
];

const PLACES: Readonly<Record<Placement, string>> = { pinned: "a core each", free: "all cores" };

/** Batches of entries at 64 connections, each with a stream of its own: group commit with many writers. */
export async function measureIngest({ quick, reckon }: Settings, report: Report): Promise<void> {
  const go = buildGoFloor();
  if (typeof go === "string") report.note("ingest", go);
  const unpinned = whyNotPinned();
  if (unpinned !== undefined) report.note("ingest", `rows on ${PLACES.pinned} are left out: ${unpinned}`);
  for (const placement of ["pinned", "free"] as const) {
    if (placement === "pinned" && unpinned !== undefined) continue;
    const goBack = placeClient(placement);
    try {
      await measurePlacement(reckon, typeof go === "string" ? undefined : go, placement, quick, report);
    } finally {
      goBack();
    }
  }
}

async function measurePlacement(
  reckon: Program,
  go: Program | undefined,
  placement: Placement,
  quick: boolean,
  report: Report,
): Promise<void> {
  const rounds = quick ? 3 : 7;
  // One round more without a pause.
  const contenders = await startContenders(reckon, go, placement, CONNECTIONS * (SHAPES.length * (rounds + 1) + 1));
  let round = 0;
  for (const shape of SHAPES) {
    const against = contenders.filter(
      ({ name }) => (shape.gzip || name !== "Node, gunzip") && (shape.entries > 1 || name !== "ours, no threads"),
    );
    const loads = new Map(against.map((one) => [one, [] as Measured[]]));
    for (let i = 0; i <= rounds; i++) {
      const bodies = makeBodies(shape, round);
      // Another one begins each time, so that none always comes first.
      for (let k = 0; k < against.length; k++) {
        const contender = against[(i + k) % against.length] as Contender;
        const load = await oneRound(contender, shape, bodies, round);
        // The first round warms up: by then the code is compiled and the files have grown.
        if (i > 0) loads.get(contender)?.push(load);
      }
      round++;
    }
    tell(report, shape, placement, loads);
  }
  await tellSustained(report, contenders[0] as Contender, placement, round, quick);
  if (placement === "free") await tellMemory(report, contenders[0] as Contender, quick);
  for (const contender of contenders) await stopAndCount(contender);
}

/**
 * Bodies by connection and turn; the numbers of a connection's entries go on from turn to turn. Each round tells of other calls: one that
 * many devices tell of would be settled anew with each.
 */
export function makeBodies(
  { entries, gzip, turns }: Pick<Shape, "entries" | "gzip" | "turns">,
  round: number,
): Buffer[][] {
  const words = new Vocabulary(1_000);
  return Array.from({ length: CONNECTIONS }, (_, connection) => {
    const next = randomOf(round * CONNECTIONS + connection + 1);
    return Array.from({ length: turns }, (_, turn) => {
      const batch = {
        repoKey: `github.com/acme/service-${connection}`,
        mode: "full",
        entries: Array.from({ length: entries }, (_, i) => ({
          seq: turn * entries + i + 1,
          payload: telemetryPayload(words, next, sessionOf(connection, turn * entries + i)),
          clientTimestamp: new Date(Date.UTC(2026, 10, 21, 8) + (turn * entries + i) * 731).toISOString(),
        })),
      };
      const plain = Buffer.from(JSON.stringify(batch));
      return gzip ? gzipSync(plain) : plain;
    });
  });
}

interface Measured extends Load {
  /** Seconds of the server's processor time a request, and of them those after the last was answered. */
  readonly cpuEach: number | undefined;
  readonly cpuAfter: number | undefined;
}

/**
 * What can be taken for as long as one likes. A burst is taken first and worked through afterwards, which the rounds are too short to tell
 * of: here what is derived has to keep up.
 */
async function tellSustained(
  report: Report,
  contender: Contender,
  placement: Placement,
  round: number,
  quick: boolean,
): Promise<void> {
  const turns = quick ? 80 : 240;
  const shape = { ...(SHAPES[0] as Shape), turns };
  const load = await oneRound(contender, shape, makeBodies(shape, round), round);
  const rate = load.rate * shape.entries;
  const seconds = (turns * CONNECTIONS * shape.entries) / rate;
  report.note(
    `${shape.name}, ${PLACES[placement]}`,
    `without a pause for ${figure(seconds)} s, with what is derived of them after two: ours ${figure(rate)} entries/s`,
  );
}

async function oneRound(contender: Contender, shape: Shape, bodies: Buffer[][], round: number): Promise<Measured> {
  const requests = bodies.map((turns, connection) =>
    turns.map((body) => contender.request(round * CONNECTIONS + connection, body, shape.gzip)),
  );
  const before = contender.server.cpuSeconds();
  const load = await drive(contender.server.address, CONNECTIONS, (connection, turn) => requests[connection]?.[turn]);
  const answered = contender.server.cpuSeconds();
  await idle(contender.server);
  // With what the load left to be checkpointed and derived, which is a part of its cost.
  const after = contender.server.cpuSeconds();
  contender.sentEntries += load.answered * shape.entries;
  const since = (time: number | undefined) =>
    time === undefined || after === undefined ? undefined : (after - time) / load.answered;
  return { ...load, cpuEach: since(before), cpuAfter: since(answered) };
}

function tell(
  report: Report,
  { name, entries, aims }: Shape,
  placement: Placement,
  loads: ReadonlyMap<Contender, readonly Measured[]>,
): void {
  const scenario = `${name}, ${PLACES[placement]}`;
  const rates = (all: readonly Measured[]) => all.map((load) => load.rate * entries);
  const [[, ours], ...others] = [...loads] as [[Contender, Measured[]], ...[Contender, Measured[]][]];
  const floors = others.filter(([one]) => one.name !== "ours, no threads");
  // Which way of inflating is faster depends on the machine's cores: the floor is whichever wins here.
  floors.sort(([, a], [, b]) => median(rates(b)) - median(rates(a)));
  for (const [language, atLeast] of Object.entries(aims[placement])) {
    const floor = floors.find(([one]) => one.name.startsWith(language));
    if (!floor) continue;
    const against = { ours: rates(ours), floor: rates(floor[1]), aim: { atLeast } };
    report.result({ scenario: `${scenario}, against ${language}`, unit: "entries/s", ...against });
  }
  const says = (who: string, all: readonly Measured[]) => {
    const at = (share: number) => `${figure(median(all.map((load) => quantile(load.latencies, share))))} ms`;
    const told = (some: readonly (number | undefined)[]) => some.filter((each) => each !== undefined);
    const cpu = told(all.map(({ cpuEach }) => cpuEach));
    const later = told(all.map(({ cpuAfter }) => cpuAfter));
    return [
      `${who} ${figure(median(rates(all)))}/s`,
      `p50 ${at(0.5)}, p99 ${at(0.99)}`,
      ...(cpu.length > 0
        ? [
            `${figure(median(cpu) * 1e6)} µs of processor a batch, ${figure(median(later) * 1e6)} of them after the load`,
          ]
        : []),
    ].join(", ");
  };
  report.note(
    scenario,
    [
      ...[...loads].map(([one, all]) => says(one.name, all)),
      `client ${figure(100 * median(ours.map((load) => load.clientShare)))} % of a core`,
    ].join("; "),
  );
}

async function tellMemory(report: Report, ours: Contender, quick: boolean): Promise<void> {
  const seconds = quick ? 2 : 10;
  await pause(seconds * 1000);
  report.note("memory", `${figure(ours.server.residentMb())} MB resident ${seconds} s after the ingest load`);
}
