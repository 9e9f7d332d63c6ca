import { gzipSync } from "node:zlib";
import { protobufOf, spansOf } from "../support/otlp.ts";
import { CONNECTIONS, makeBodies } from "./ingest.ts";
import { drive, requestBytes } from "./load.ts";
import { TELEMETRY } from "./probe.ts";
import type { Settings } from "./run.ts";
import { bindDevices, idle, newDirectory, removeDirectory, startReckon } from "./servers.ts";
import { figure, median, type Report } from "./table.ts";
import { randomOf, telemetryPayload, Vocabulary } from "./text.ts";

const SPANS = 100;
const TURNS = 8;

type Values = Record<string, string | number>;

/** What the spans of a request are. */
interface Shape {
  readonly scenario: string;
  readonly atLeast: number;
  readonly values: (words: Vocabulary, next: () => number, i: number) => Values;
}

const SHAPES: readonly Shape[] = [
  {
    // What telemetry's entries tell, told as spans: as much text, and a model call among four.
    scenario: "OTLP, 100 spans as entries are, protobuf, gzip",
    atLeast: 0.8,
    values: (words, next, i) => {
      const { usage, ...payload } = telemetryPayload(words, next);
      const text = JSON.stringify(payload);
      return usage
        ? { ...modelCall(i), "gen_ai.output.messages": text }
        : { ...TOOL, "gen_ai.tool.call.arguments": text };
    },
  },
  {
    scenario: "OTLP, 100 model calls of 1.6 KB, protobuf, gzip",
    atLeast: 0.5,
    values: (words, next, i) => ({ ...modelCall(i), "gen_ai.input.messages": words.phrase(next, 250) }),
  },
];

const TOOL: Values = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "Bash" };
const modelCall = (i: number): Values => ({
  "gen_ai.operation.name": "chat",
  "gen_ai.request.model": "claude-opus-4-6",
  "gen_ai.usage.input_tokens": 1_000 + i,
  "gen_ai.usage.output_tokens": 100 + i,
});

/** Requests of 100 spans in Protocol Buffers, gzipped, against telemetry of 100 entries: the same server, at the same connections. */
export async function measureOtlp({ quick, reckon }: Settings, report: Report): Promise<void> {
  const rounds = quick ? 3 : 7;
  const directory = newDirectory();
  const tokens = await bindDevices(directory, CONNECTIONS * (rounds + 1));
  const server = await startReckon(directory, reckon);

  const ours = SHAPES.map((): number[] => []);
  const floor: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const token = (connection: number) => tokens[round * CONNECTIONS + connection] as string;
    const rate = async (requests: readonly (readonly Buffer[])[]) => {
      const load = await drive(server.address, CONNECTIONS, (connection, turn) => requests[connection]?.[turn]);
      await idle(server);
      return load.rate * SPANS;
    };
    const rates: number[] = [];
    for (const shape of SHAPES) {
      const type = "application/x-protobuf";
      const post = (body: Buffer, i: number) =>
        requestBytes({ method: "POST", path: "/v1/traces", token: token(i), body, type, gzip: true });
      rates.push(await rate(makeSpans(shape, round).map((turns, i) => turns.map((body) => post(body, i)))));
    }
    const telemetry = makeBodies({ entries: SPANS, gzip: true, turns: TURNS }, round).map((turns, i) =>
      turns.map((body) => requestBytes({ method: "POST", path: TELEMETRY, token: token(i), body, gzip: true })),
    );
    const other = await rate(telemetry);
    if (round === 0) continue;
    for (const [i, one] of rates.entries()) ours[i]?.push(one);
    floor.push(other);
  }
  await server.stop();
  removeDirectory(directory);
  for (const [i, { scenario, atLeast }] of SHAPES.entries()) {
    report.result({ scenario, unit: "spans/s", ours: ours[i] as number[], floor, aim: { atLeast } });
    report.note(scenario, `the floor is telemetry of 100 entries: ${figure(median(floor))} entries/s`);
  }
}

/** Spans of one session a request; another trace each time. */
function makeSpans({ scenario, values }: Shape, round: number): Buffer[][] {
  const words = new Vocabulary(1_000);
  return Array.from({ length: CONNECTIONS }, (_, connection) => {
    const next = randomOf(1_000 * round + connection + 1);
    return Array.from({ length: TURNS }, (_, turn) => {
      const name = `${scenario.length}-${round}-${connection}-${turn}`;
      const trace = Buffer.from(name.padEnd(16, "x")).toString("hex").slice(0, 32);
      const spans = Array.from({ length: SPANS }, (_, i) => ({
        name: "span",
        trace,
        values: { "gen_ai.conversation.id": `s-${name}`, ...values(words, next, i) },
      }));
      return gzipSync(protobufOf(spansOf({ "service.name": "bench" }, "bench", ...spans)));
    });
  });
}
