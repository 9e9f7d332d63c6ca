import { readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { type Core, slot } from "../../core.ts";
import { SECOND_MS } from "../../kit/clock.ts";
import { writeFileAtomically } from "../../kit/files.ts";
import { room } from "../rooms/rooms.ts";
import { checkpoint } from "./checkpoint.ts";
import { getCheckpoint, getLedgerKey, getTile } from "./endpoints.ts";
import { ensureLedgerKey } from "./ledger-key.ts";
import { checkpointFile, ensureEpoch } from "./open-epoch.ts";
import { storeSubtrees, tree } from "./tree.ts";

const written = slot((core) => ({ note: readOr(checkpointFile(core)) }));

function readOr(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** The newest checkpoint, where it is not beside the database yet. */
function unwritten(core: Core): string | undefined {
  const note = checkpoint(core)?.note;
  return note === written(core).note ? undefined : note;
}

/** Puts the newest checkpoint beside the database, by which a database that went back in time is known. */
async function writeCheckpoint(core: Core): Promise<void> {
  const note = unwritten(core);
  if (note === undefined) return;
  const path = checkpointFile(core);
  await writeFile(`${path}.tmp`, note, { mode: 0o600, flush: true });
  await rename(`${path}.tmp`, path);
  written(core).note = note;
}

export const transparency = room({
  name: "transparency",
  tags: { Ledger: "What anybody can check the record with." },
  endpoints: [getCheckpoint, getLedgerKey, getTile],
  jobs: [
    {
      name: "ledger checkpoint",
      everyMs: SECOND_MS,
      async run(core) {
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
      const note = unwritten(core);
      if (note !== undefined) writeFileAtomically(checkpointFile(core), note, true);
    } catch (error) {
      core.log.warn("last_checkpoint_not_written", { cause: String(error) });
    }
  },
});
