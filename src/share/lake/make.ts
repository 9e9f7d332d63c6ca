import type { Core } from "../../core.ts";
import { cooperative } from "../../kit/yield.ts";
import { backgroundWorkers } from "../../platform/workers/workers.ts";
import type { SealedTexts } from "../../record/telemetry/telemetry.ts";
import type { Mark } from "./rows.ts";
import { SOURCES } from "./sources.ts";
import type { Row, TableName } from "./tables.ts";
import { BLOCK_WORK, type BlockInput, type Made, type MadeOfDay, ROWS_WORK, type RowsInput } from "./work-types.ts";

/** Rows of one file. */
const MAX_ROWS = 100_000;

/** The files of the texts of a stream, by the day on which they came. @param block null for what lies in none */
export function filesOfTexts(
  core: Core,
  shard: string,
  block: number | null,
  { teamId, deviceId, repoKey, content, isCompressed, parts }: SealedTexts,
): Promise<readonly MadeOfDay[]> {
  const input: BlockInput = { shard, block, deviceId, repoKey, content: new Uint8Array(content), isCompressed, parts };
  return made(core, BLOCK_WORK, teamId, input) as Promise<readonly MadeOfDay[]>;
}

/** The files of a folder; more than one where there are very many rows. */
export async function* filesOfFolder(
  core: Core,
  shard: string,
  { kind, teamId, day }: Pick<Mark, "kind" | "teamId" | "day">,
): AsyncGenerator<Made> {
  const yieldNow = cooperative(core.clock);
  let portions: Uint8Array[] = [];
  let rows = 0;
  const cut = () => {
    const all = portions;
    portions = [];
    rows = 0;
    return fileOf(core, kind, teamId, all);
  };
  for (const portion of SOURCES[kind].portions(core, shard, teamId, day)) {
    portions.push(packed(portion));
    rows += portion.length;
    if (rows >= MAX_ROWS) yield await cut();
    await yieldNow();
  }
  if (rows > 0) yield await cut();
}

/** The file of a team's devices, which are few. */
export const fileOfDevices = (core: Core, teamId: string, rows: readonly Row[]): Promise<Made> =>
  fileOf(core, "devices", teamId, [packed(rows)]);

const packed = (rows: readonly Row[]) => new Uint8Array(Buffer.from(JSON.stringify(rows)));

const fileOf = (core: Core, table: TableName, teamId: string, portions: readonly Uint8Array[]): Promise<Made> =>
  made(core, ROWS_WORK, teamId, { table, portions } satisfies RowsInput) as Promise<Made>;

/** Has it made in a thread. @throws NoThreads where there can be none */
const made = (core: Core, name: string, team: string, input: unknown): Promise<unknown> =>
  backgroundWorkers(core).run({ name, payer: { team, credential: "lake" }, input });
