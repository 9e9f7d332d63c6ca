import { join } from "node:path";
import { spendEntriesProjection } from "../../src/insight/spend/spend.ts";
import { DAY_MS } from "../../src/kit/clock.ts";
import { spansOf } from "../support/otlp.ts";
import { BRAIN, fullBatch, TRACES } from "./attacks.ts";
import { fillDirectly } from "./held.ts";
import { requestBytes, requireSuccess, Wire } from "./load.ts";
import { deliver, deliverBeside, type Probed, type Stall, startProbed, TELEMETRY } from "./probe.ts";
import type { Settings } from "./run.ts";
import {
  bindDevices,
  changeRows,
  countRows,
  idle,
  newDirectory,
  type Program,
  pause,
  removeDirectory,
  runBeside,
  withLimits,
} from "./servers.ts";
import { makeFiles } from "./snapshot.ts";
import { figure, median, quantile, type Report } from "./table.ts";
import { randomOf, telemetryPayload, Vocabulary } from "./text.ts";

interface Target {
  readonly directory: string;
  readonly probed: Probed;
  readonly token: string;
}

/** Something that takes long in an ordinary life. */
interface Work {
  readonly name: string;
  /** Entries that are there before, of which nothing is derived yet. */
  readonly held?: number;
  /** Done to the directory before the server starts. */
  readonly before?: (directory: string) => void;
  /** The server is watched from its first answer on, and not only once it has come to rest. */
  readonly fromStart?: true;
  /** Returns when it is done; what follows from it is waited for besides. */
  readonly run: (target: Target) => Promise<unknown>;
}

async function post({ probed, token }: Target, path: string, text: string): Promise<void> {
  const wire = await Wire.open(probed.server.address);
  requireSuccess(await wire.ask(requestBytes({ method: "POST", path, token, body: Buffer.from(text) })));
  wire.close();
}

/** Waits until spend, which is derived last and longest, has read what is held. */
async function caughtUp(directory: string): Promise<void> {
  const at = `SELECT coalesce(max(checkpoint), 0) FROM projections WHERE name = '${spendEntriesProjection.name}'`;
  while (countRows(directory, at) < HELD) await pause(200);
}

/** Waits until a nightly run has let go what was kept for long enough. */
async function retained(directory: string): Promise<void> {
  const done = "SELECT count(*) FROM erasures WHERE kind = 'retention' AND completed_at IS NOT NULL";
  while (countRows(directory, done) < 2) await pause(200);
}

const HELD = 100_000;
/** The job looks every 15 seconds, and pauses at twenty blocks. */
const SEALING_MS = 35_000;

function snapshot(): string {
  const files = makeFiles(new Vocabulary(8_000), randomOf(5), 390, 20_000);
  return JSON.stringify({ version: 1, repoKey: "github.com/acme/brain", files });
}

/** Calls and tools of a few sessions, in JSON. */
function manySpans(): string {
  const [words, next] = [new Vocabulary(1_000), randomOf(7)];
  const spans = Array.from({ length: 11_000 }, (_, i) => ({
    name: "span",
    values: {
      "gen_ai.operation.name": i % 4 === 0 ? "chat" : "execute_tool",
      "gen_ai.conversation.id": `s-${i % 5}`,
      ...(i % 4 === 0 ? { "gen_ai.usage.input_tokens": 1_000 + i, "gen_ai.usage.output_tokens": 7 } : {}),
      "gen_ai.tool.call.arguments": words.phrase(next, 33),
    },
  }));
  return JSON.stringify(spansOf({ "service.name": "bench" }, "bench", ...spans));
}

const WORKS: readonly Work[] = [
  { name: "a trace batch of 6.5 MB", run: (target) => post(target, TRACES, fullBatch()) },
  { name: "an OTLP request of 7 MB", run: (target) => post(target, "/v1/traces", manySpans()) },
  { name: "a snapshot of 8 MB", run: (target) => post(target, BRAIN, snapshot()) },
  {
    name: `${HELD} entries that nothing is derived from yet`,
    held: HELD,
    fromStart: true,
    run: ({ directory }) => caughtUp(directory),
  },
  {
    name: "backup beside it",
    held: HELD,
    run: ({ directory }) => runBeside(directory, "backup", join(directory, "copy.db")),
  },
  {
    name: "ledger verify beside it",
    held: HELD,
    // Rows that were not delivered do not verify, and are read all the same.
    run: ({ directory }) => runBeside(directory, "ledger", "verify").catch(() => {}),
  },
  {
    name: `retention of ${HELD} entries`,
    held: HELD,
    before: (directory) => {
      changeRows(
        directory,
        // A first night waits for a clock that was steady for an hour.
        `UPDATE deliveries SET received_at = 1;
         INSERT INTO retention_rules (team_id, kind, days) SELECT DISTINCT team_id, 'telemetry', 1 FROM deliveries;
         INSERT INTO erasures (id, kind, team_id, target, reason, requested_by, requested_at, counts, completed_at)
           SELECT DISTINCT 'era_last', 'retention', team_id, '{}', '', 'system', ${Date.now() - DAY_MS}, '{}', 1 FROM deliveries`,
      );
    },
    fromStart: true,
    run: ({ directory }) => retained(directory),
  },
  { name: "sealing", held: 20_000, fromStart: true, run: () => pause(SEALING_MS) },
];

/** The longest that ordinary work holds up the event loop; and what one team's flood does to another. */
export async function measureStalls({ quick, reckon }: Settings, report: Report): Promise<void> {
  for (const work of WORKS) {
    const stalls: Stall[] = [];
    for (let round = 0; round < (quick ? 1 : 3); round++) stalls.push(await stallUnder(reckon, work));
    const scenario = `longest stall: ${work.name}`;
    report.result({ scenario, unit: "ms", ours: stalls.map(({ wall }) => wall), aim: { below: 50 } });
    report.note(scenario, `${figure(median(stalls.map(({ cpu }) => cpu)))} ms of processor time in one piece at most`);
  }
  await measureFlood(reckon, quick ? 8_000 : 30_000, report);
}

async function stallUnder(reckon: Program, { held = 0, before, fromStart, run }: Work): Promise<Stall> {
  const directory = newDirectory();
  if (held > 0) await fillDirectly(directory, ({ entries }) => entries >= held);
  before?.(directory);
  const [token = ""] = await bindDevices(directory, 1);
  const [other = ""] = await bindDevices(directory, 1);
  const probed = await startProbed(directory, reckon);
  const { address } = probed.server;
  if (!fromStart) {
    // First requests compile code, and what is held is read: neither is what is measured.
    await deliver(address, other, pause(500));
    await idle(probed.server);
  }
  probed.watch();
  const done = run({ directory, probed, token });
  // A server that nobody asks anything has no stalls that matter.
  await deliver(address, other, fromStart ? done : done.then(() => pause(1_500)), { from: 1_000_000 });
  await done;
  const stall = await probed.stop();
  removeDirectory(directory);
  return stall;
}

const FLOOD_CONNECTIONS = 4;
/** Different bodies that a connection of the flood sends in turn: made before, because this process measures meanwhile. */
const VARIANTS = 4;
/** Teams that deliver beside it, each so seldom that it does not meet a limit of its own. */
const OTHERS = 10;

/** Requests with bodies at their caps, of all three kinds: of each connection those that it sends in turn. */
function floods(tokens: readonly string[]): Buffer[][] {
  const words = new Vocabulary(1_000);
  const next = randomOf(3);
  const payloads = Array.from({ length: 1_000 }, () => telemetryPayload(words, next));
  const files = makeFiles(new Vocabulary(8_000), next, 390, 20_000);
  const bodies: [path: string, make: (variant: string, turn: number) => unknown][] = [
    [
      TELEMETRY,
      (repoKey, turn) => ({ repoKey, entries: payloads.map((payload, i) => ({ seq: turn * 1e6 + i, payload })) }),
    ],
    [
      BRAIN,
      (repoKey) => ({
        version: 1,
        repoKey,
        files: files.map((file) => ({ ...file, content: file.content + repoKey })),
      }),
    ],
    [TRACES, (name) => fullBatch(name)],
  ];
  return tokens.map((token, i) => {
    const [path, make] = bodies[i % bodies.length] as (typeof bodies)[number];
    return Array.from({ length: VARIANTS }, (_, turn) => {
      const made = make(`v-${i}-${turn}`, turn + 1);
      const body = Buffer.from(typeof made === "string" ? made : JSON.stringify(made));
      return requestBytes({ method: "POST", path, token, body });
    });
  });
}

/** One team sends whatever its quotas let it, as fast as it can, and others deliver one entry after another. */
async function measureFlood(reckon: Program, milliseconds: number, report: Report): Promise<void> {
  const directory = newDirectory();
  const requests = floods(await bindDevices(directory, 3 * FLOOD_CONNECTIONS));
  const others: string[] = [];
  for (let i = 0; i < OTHERS; i++) others.push(...(await bindDevices(directory, 1)));
  const probed = await startProbed(directory, withLimits(reckon));
  const { address } = probed.server;
  await deliver(address, others[0] as string, pause(500), { from: 1, apartMs: 100, atLeast: 0 });
  probed.watch();
  const answers = new Map<number, number>();
  const flood = async (variants: readonly Buffer[], until: number) => {
    for (let turn = 0; performance.now() < until; turn++) {
      // What is refused before its body was read ends the connection.
      const wire = await Wire.open(address);
      const answer = await wire.ask(variants[turn % variants.length] as Buffer).catch(() => undefined);
      wire.close();
      const status = answer?.status ?? 0;
      answers.set(status, (answers.get(status) ?? 0) + 1);
      if (status !== 200) await pause(50);
    }
  };
  const pace = { from: 1_000_000, apartMs: 110, atLeast: 0 };
  const { times, refused } = await deliverBeside({ address, tokens: others, pace }, () => {
    const until = performance.now() + milliseconds;
    return Promise.all(requests.map((variants) => flood(variants, until)));
  });
  const stall = await probed.stop();
  removeDirectory(directory);
  const scenario = "other teams' p99 under a flood at all caps";
  report.result({ scenario, unit: "ms", ours: [quantile(times, 0.99)], aim: { below: 100 } });
  const counts = [...answers].map(([status, count]) => `${count} × ${status}`).join(", ");
  report.note(
    scenario,
    `the flood got ${counts}; of ${times.length} deliveries ${refused} were refused, the slowest took ` +
      `${figure(times.at(-1) ?? 0)} ms; longest stall ${figure(stall.wall)} ms, ${figure(stall.cpu)} ms of processor time`,
  );
}
