import { gzipSync } from "node:zlib";
import { protobufOf, spansOf } from "../support/otlp.ts";
import { CONNECTIONS, makeBodies } from "./ingest.ts";
import { drive, requestBytes } from "./load.ts";
import { TELEMETRY } from "./probe.ts";
import type { Settings } from "./run.ts";
import { bindDevices, idle, newDirectory, removeDirectory, startReckon } from "./servers.ts";
import { figure, median, type Report } from "./table.ts";
import { randomOf, Vocabulary } from "./text.ts";

const SPANS = 100;
const TURNS = 8;

/** Requests of 100 spans in Protocol Buffers, gzipped, against telemetry of 100 entries: the same server, at the same connections. */
export async function measureOtlp({ quick, reckon }: Settings, report: Report): Promise<void> {
  const rounds = quick ? 3 : 7;
  const directory = newDirectory();
  const tokens = await bindDevices(directory, CONNECTIONS * (rounds + 1));
  const server = await startReckon(directory, reckon);
  const entries = makeBodies({ entries: SPANS, gzip: true, turns: TURNS });
  const ours: number[] = [];
  const floor: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const spans = makeSpans(round);
    const token = (connection: number) => tokens[round * CONNECTIONS + connection] as string;
    const otlp = spans.map((turns, i) =>
      turns.map((body) => {
        const type = "application/x-protobuf";
        return requestBytes({ method: "POST", path: "/v1/traces", token: token(i), body, type, gzip: true });
      }),
    );
    const telemetry = entries.map((turns, i) =>
      turns.map((body) => requestBytes({ method: "POST", path: TELEMETRY, token: token(i), body, gzip: true })),
    );
    const rate = async (requests: readonly (readonly Buffer[])[]) => {
      const load = await drive(server.address, CONNECTIONS, (connection, turn) => requests[connection]?.[turn]);
      await idle(server);
      return load.rate * SPANS;
    };
    const [one, other] = [await rate(otlp), await rate(telemetry)];
    if (round === 0) continue;
    ours.push(one);
    floor.push(other);
  }
  await server.stop();
  removeDirectory(directory);
  const scenario = "OTLP, 100 spans, protobuf, gzip";
  report.result({ scenario, unit: "spans/s", ours, floor, aim: { atLeast: 0.8 } });
  report.note(scenario, `the floor is telemetry of 100 entries: ${figure(median(floor))} entries/s`);
}

/** Model calls of one session a request, each with its prompt; another trace each time. */
function makeSpans(round: number): Buffer[][] {
  const words = new Vocabulary(1_000);
  return Array.from({ length: CONNECTIONS }, (_, connection) => {
    const next = randomOf(1_000 * round + connection + 1);
    return Array.from({ length: TURNS }, (_, turn) => {
      const name = `${round}-${connection}-${turn}`;
      const trace = Buffer.from(name.padEnd(16, "x")).toString("hex").slice(0, 32);
      const spans = Array.from({ length: SPANS }, (_, i) => ({
        name: "chat claude-opus-4-6",
        trace,
        values: {
          "gen_ai.operation.name": "chat",
          "gen_ai.request.model": "claude-opus-4-6",
          "gen_ai.conversation.id": `s-${name}`,
          "gen_ai.response.id": `msg-${name}-${i}`,
          "gen_ai.usage.input_tokens": 1_000 + i,
          "gen_ai.usage.output_tokens": 100 + i,
          "gen_ai.input.messages": words.phrase(next, 250),
        },
      }));
      return gzipSync(protobufOf(spansOf({ "service.name": "bench" }, "bench", ...spans)));
    });
  });
}
