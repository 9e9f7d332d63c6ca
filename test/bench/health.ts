import { drive, type Load, requestBytes } from "./load.ts";
import type { Settings } from "./run.ts";
import { newDirectory, removeDirectory, settle, startFloor, startReckon } from "./servers.ts";
import { figure, median, quantile, type Report } from "./table.ts";

const CONNECTIONS = 64;

/** The smallest request there is: what our way of a request costs over Node's own. */
export async function measureHealth({ quick, reckon }: Settings, report: Report): Promise<void> {
  const rounds = quick ? 3 : 7;
  const milliseconds = quick ? 700 : 1_500;
  const directory = newDirectory();
  const request = requestBytes({ path: "/api/health" });
  const servers = [await startReckon(directory, reckon), await startFloor(["health"])] as const;
  const loads: [Load[], Load[]] = [[], []];
  for (let i = 0; i <= rounds; i++)
    for (const which of i % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const until = performance.now() + milliseconds;
      const load = await drive(servers[which].address, CONNECTIONS, () =>
        performance.now() < until ? request : undefined,
      );
      if (i > 0) loads[which].push(load);
    }
  const [ours, floor] = loads;
  const rates = (all: Load[]) => all.map((load) => load.rate);
  const slowest = (all: Load[]) => all.map((load) => quantile(load.latencies, 0.99));
  report.result({
    scenario: "health",
    unit: "requests/s",
    ours: rates(ours),
    floor: rates(floor),
    aim: { atLeast: 0.6 },
  });
  report.result({
    scenario: "health, p99",
    unit: "ms",
    ours: slowest(ours),
    floor: slowest(floor),
    aim: { below: 2 },
  });
  const share = (all: Load[]) => figure(100 * median(all.map((load) => load.clientShare)));
  report.note("health", `client ${share(ours)} % of a core with ours, ${share(floor)} % with the floor`);
  await settle();
  for (const server of servers) await server.stop();
  removeDirectory(directory);
}
