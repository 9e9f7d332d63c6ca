import type { Core } from "../../core.ts";
import { compressBlock } from "../../kit/blocks.ts";
import { SECOND_MS } from "../../kit/clock.ts";
import { cooperative } from "../../kit/yield.ts";
import type { Job } from "../../platform/jobs/jobs.ts";
import { contentRows, type PlacedBlob } from "./content-rows.ts";

/** Versions of a file lie far from each other where others of its repository change in between: small blocks would hold few of one. */
const MAX_BLOCK_BYTES = 1024 * 1024;
/** Files of a block, at most: everybody else waits while their rows are rewritten. */
const MAX_BLOCK_FILES = 1_000;
/** Bytes that are moved before the job pauses, at most: stopping the server waits for it. */
const MAX_RUN_BYTES = 8 * 1024 * 1024;

/** Moves contents of files into compressed blocks, a team's own, once there are enough of them for one: they never change. */
export const sealJob: Job = {
  name: "brain.seal",
  everyMs: 15 * SECOND_MS,
  async run(core) {
    await sealContents(core, MAX_RUN_BYTES);
  },
};

/** @returns how many bytes of contents were moved; fewer than asked for where there is no more to do */
export async function sealContents(core: Core, maxBytes: number): Promise<number> {
  const sql = contentRows(core.store);
  const yieldNow = cooperative(core.clock);
  let moved = 0;
  for (let team = sql.teamAfter.get(""); team !== undefined; team = sql.teamAfter.get(team)) {
    for (let ids = fullBlock(core, team); ids; ids = fullBlock(core, team)) {
      if (moved >= maxBytes) return moved;
      const bytes = await sealBlock(core, team, ids);
      // Something else changed them meanwhile: the next run looks anew.
      if (bytes === undefined) return moved;
      moved += bytes;
    }
    await yieldNow();
  }
  return moved;
}

/** The first of a team's contents that lie in no block, as many as fit into one; undefined where they do not fill it. */
function fullBlock(core: Core, teamId: string): readonly number[] | undefined {
  const ids: number[] = [];
  let bytes = 0;
  for (const blob of contentRows(core.store).unsealed.iterate(teamId)) {
    if (ids.length > 0 && bytes + blob.bytes > MAX_BLOCK_BYTES) return ids;
    ids.push(blob.id);
    bytes += blob.bytes;
    if (bytes >= MAX_BLOCK_BYTES || ids.length === MAX_BLOCK_FILES) return ids;
  }
  return undefined;
}

/** Makes a block of contents. @returns the bytes of its texts; undefined where they changed meanwhile */
async function sealBlock(core: Core, teamId: string, ids: readonly number[]): Promise<number | undefined> {
  const sql = contentRows(core.store);
  const texts = Buffer.concat(ids.map((id) => Buffer.from(sql.place.get(id)?.plain ?? "")));
  const content = await compressBlock(texts);
  return core.store.write(() => {
    const blobs = ids.map((id) => sql.blob.get(id)).filter((blob): blob is PlacedBlob => blob?.blockId === null);
    if (!Buffer.concat(blobs.map(({ plain }) => Buffer.from(plain))).equals(texts)) return undefined;
    const blockId = Number(sql.insertBlock.run(teamId, content).lastInsertRowid);
    if (!sql.block.get(blockId)?.equals(content)) throw new Error(`block ${blockId} is not what was stored`);
    sql.deferReferences();
    for (const { id } of blobs) sql.dropBlob.run(id);
    let blockAt = 0;
    for (const { plain: _, ...blob } of blobs) {
      // Removed and inserted: after an update SQLite leaves the page as empty as it became.
      sql.putBlob.run({ ...blob, teamId, blockId, blockAt });
      blockAt += blob.bytes;
    }
    return texts.length;
  });
}
