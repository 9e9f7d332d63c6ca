import { rename, writeFile } from "node:fs/promises";
import type { Core } from "../../core.ts";
import { SECOND_MS } from "../../kit/clock.ts";
import { leaveToOwner, withPath, writeFileAtomically } from "../../kit/files.ts";
import { figure, type Metric } from "../metrics/metrics.ts";
import { room } from "../rooms/rooms.ts";
import { type Checkpoint, checkpoint } from "./checkpoint.ts";
import { getCheckpoint, getLedgerKey, getTile } from "./endpoints.ts";
import { leafCount } from "./leaves.ts";
import { ensureLedgerKey } from "./ledger-key.ts";
import { checkpointFile, ensureEpoch } from "./open-epoch.ts";
import { storeSubtrees, tree } from "./tree.ts";
import { written } from "./written.ts";

/** The newest checkpoint, if it is not beside the database yet. */
function unwritten(core: Core): Checkpoint | undefined {
  const newest = checkpoint(core);
  return newest?.note === written(core).note ? undefined : newest;
}

/** Writes the newest checkpoint beside the database, where it shows when the database went back in time. */
async function writeCheckpoint(core: Core): Promise<void> {
  const newest = unwritten(core);
  if (newest === undefined) return;
  const { note, size } = newest;
  const path = checkpointFile(core);
  await writeFile(`${path}.tmp`, note, { mode: 0o600, flush: true }).catch((error) => {
    throw withPath(path, error);
  });
  leaveToOwner(`${path}.tmp`);
  await rename(`${path}.tmp`, path);
  Object.assign(written(core), { note, size, at: core.clock.now() });
}

const metrics: readonly Metric[] = [
  figure("gauge", "reckon_ledger_leaves", "Leaves of the log's tree.", leafCount),
  figure(
    "gauge",
    "reckon_ledger_checkpoint_leaves",
    "Leaves that the newest signed checkpoint beside the database covers.",
    (core) => written(core).size,
  ),
  figure(
    "gauge",
    "reckon_ledger_checkpoint_timestamp_seconds",
    "When that checkpoint was written, in seconds since the epoch; 0 where there is none.",
    (core) => written(core).at / SECOND_MS,
  ),
];

export const transparency = room({
  name: "transparency",
  tags: { Ledger: "Checkpoints, keys and proofs, with which anybody can check the record." },
  endpoints: [getCheckpoint, getLedgerKey, getTile],
  metrics,
  jobs: [
    {
      name: "ledger checkpoint",
      everyMs: SECOND_MS,
      async run(core) {
        // Another process may have brought a team's leaves, which are many at once.
        await tree(core).syncInSlices();
        await writeCheckpoint(core);
        await storeSubtrees(core);
      },
    },
  ],
  async open(core) {
    ensureLedgerKey(core);
    await tree(core).syncInSlices();
    await ensureEpoch(core);
    await writeCheckpoint(core);
  },
  close(core) {
    try {
      const note = unwritten(core)?.note;
      if (note !== undefined) writeFileAtomically(checkpointFile(core), note, true);
    } catch (error) {
      core.log.warn("last_checkpoint_not_written", { cause: String(error) });
    }
  },
});
