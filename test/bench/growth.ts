import { statSync } from "node:fs";
import { databasePath } from "../../src/platform/store/store.ts";
import { fillDirectly } from "./held.ts";
import { CONNECTIONS, makeBodies } from "./ingest.ts";
import { drive, requestBytes } from "./load.ts";
import type { Settings } from "./run.ts";
import { bindDevices, idle, newDirectory, removeDirectory, startReckon } from "./servers.ts";
import { figure, type Report } from "./table.ts";

const SHAPE = { entries: 100, gzip: true, turns: 16 };

/** Whether taking deliveries becomes slower with what is held: the same load on a full database and on an empty one. */
export async function measureGrowth({ quick, reckon }: Settings, report: Report): Promise<void> {
  const millions = quick ? 2 : 50;
  const rounds = quick ? 5 : 9;
  const full = newDirectory();
  const empty = newDirectory();
  const { entries } = await fillDirectly(full, (filled) => filled.entries >= millions * 1e6, false);
  const contenders = await Promise.all(
    [full, empty].map(async (directory) => {
      const tokens = await bindDevices(directory, CONNECTIONS * (rounds + 1));
      const server = await startReckon(directory, reckon);
      // What is derived from the entries, and what compresses them, is done before.
      await idle(server);
      return { tokens, server, rates: [] as number[] };
    }),
  );
  const bodies = makeBodies(SHAPE, 0);
  for (let round = 0; round <= rounds; round++)
    for (const { tokens, server, rates } of round % 2 === 0 ? contenders : contenders.toReversed()) {
      const requests = bodies.map((turns, connection) =>
        turns.map((body) =>
          requestBytes({
            method: "POST",
            path: "/api/telemetry/ingest",
            token: tokens[round * CONNECTIONS + connection] as string,
            body,
            gzip: SHAPE.gzip,
          }),
        ),
      );
      const { rate } = await drive(server.address, CONNECTIONS, (connection, turn) => requests[connection]?.[turn]);
      // What is derived of one round is no part of the next.
      await idle(server);
      if (round > 0) rates.push(rate * SHAPE.entries);
    }
  const [ours, floor] = contenders.map(({ rates }) => rates) as [number[], number[]];
  const scenario = `ingest with ${entries / 1e6} million entries held`;
  report.result({ scenario, unit: "entries/s", ours, floor, aim: { atLeast: 0.9 } });
  report.note(
    scenario,
    `the floor is an empty database; the full one has ${figure(statSync(databasePath(full)).size / 1e6)} MB`,
  );
  for (const { server } of contenders) await server.stop();
  for (const directory of [full, empty]) removeDirectory(directory);
}
