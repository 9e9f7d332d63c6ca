import { readTextFile, utf8Text } from "../../kit/bounded-text.ts";
import { SECOND_MS } from "../../kit/clock.ts";
import { consistencyProof, HASH_BYTES, type NodeAt, rootAt } from "../../kit/merkle.ts";
import { fail, invalid, unavailable } from "../../kit/problem.ts";
import type { Checkpoint } from "../../kit/transparency/checkpoint.ts";
import { MAX_PROOF_BYTES, PROOF_HEADER, parseGrowthProof, parseTlogProof } from "../../kit/transparency/proof.ts";
import { nodesFromTiles, TILE_WIDTH, type Tile, tilePath, tilesFor } from "../../kit/transparency/tiles.ts";

/** Where a checkpoint was read, and what more can be had there. Nothing of it is believed before it is verified. */
export interface Source {
  /** A signed note. */
  readonly checkpoint: string;
  /** The consistency proof from a size of the log to a head of it. @throws Problem where it cannot be had */
  growth(from: number, head: Pick<Checkpoint, "size" | "root">): Promise<readonly Buffer[]>;
}

const TIMEOUT_MS = 30 * SECOND_MS;
const MAX_CHECKPOINT_BYTES = 256 * 1024;

/** @param place the address of a log's server, or a file @throws Problem naming the place */
export const openSource = (place: string): Promise<Source> =>
  /^https?:\/\//i.test(place) ? openServer(place.replace(/\/+$/, "")) : Promise.resolve(openFile(place));

/** A checkpoint, alone, in a proof, or with a consistency proof as `writeGrowthProof` writes it. */
function openFile(path: string): Source {
  const text = readTextFile(path, MAX_PROOF_BYTES);
  const growth = text.startsWith("old ") ? parseGrowthProof(text) : undefined;
  const checkpoint = text.startsWith(`${PROOF_HEADER}\n`) ? parseTlogProof(text).checkpoint : text;
  return {
    checkpoint: growth?.checkpoint ?? checkpoint,
    growth: async (from, { size }) => {
      if (growth?.oldSize === from) return growth.hashes;
      const has = growth ? `proves growth from ${growth.oldSize} leaves on` : "holds no consistency proof";
      fail(
        invalid,
        `${path} ${has}: one from ${from} leaves to ${size} is needed (reckon ledger checkpoint --since ${from})`,
      );
    },
  };
}

/** A server that answers below `/ledger` as C2SP tlog-tiles says. */
async function openServer(base: string): Promise<Source> {
  const prefix = `${base}/ledger`;
  const address = `${prefix}/checkpoint`;
  const checkpoint = await get(address, MAX_CHECKPOINT_BYTES);
  return {
    checkpoint: utf8Text(checkpoint ?? fail(unavailable, `${address} is not there`), address),
    growth: async (from, { size, root }) => {
      const prove = (nodeAt: NodeAt) => ({ root: rootAt(size, nodeAt), proof: consistencyProof(from, size, nodeAt) });
      const contents = new Map<string, Buffer>();
      const tiles = tilesFor(size, prove);
      await Promise.all(tiles.map(async (tile) => contents.set(tilePath(tile), await getTile(prefix, tile))));
      const proven = prove(nodesFromTiles(size, (path) => contents.get(path) as Buffer));
      // Else what was garbled on the way would look like a fork.
      if (!proven.root.equals(root)) fail(invalid, `the tiles of ${prefix} are not those of the tree that it signed`);
      return proven.proof;
    },
  };
}

/** A tile's content. A log may keep only the full tile of one that was once partial: that begins with it. */
async function getTile(prefix: string, tile: Tile): Promise<Buffer> {
  const bytes = tile.width * HASH_BYTES;
  const address = `${prefix}/${tilePath(tile)}`;
  const content =
    (await get(address, bytes)) ??
    (await get(`${prefix}/${tilePath({ ...tile, width: TILE_WIDTH })}`, TILE_WIDTH * HASH_BYTES));
  if (!content) fail(unavailable, `${address} is not there`);
  if (content.length < bytes) fail(invalid, `${address} is shorter than such a tile`);
  return content.subarray(0, bytes);
}

/** @returns undefined where there is no such thing @throws Problem naming the address */
async function get(address: string, maxBytes: number): Promise<Buffer | undefined> {
  try {
    // Whoever is asked says nothing of where else to ask: an address elsewhere is for a person to judge.
    const reply = await fetch(address, { redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (reply.ok) return await bodyOf(reply, address, maxBytes);
    await reply.body?.cancel();
    if (reply.status === 404 || reply.status === 410) return undefined;
    const location = reply.headers.get("location");
    fail(unavailable, `${address} answers ${reply.status}${location ? ` and points to ${location}: name that` : ""}`);
  } catch (error) {
    const { name, cause } = error as Error & { cause?: Error };
    if (name === "Problem") throw error;
    fail(
      unavailable,
      `${address} cannot be read: ${name === "TimeoutError" ? "no answer" : (cause ?? (error as Error)).message}`,
    );
  }
}

async function bodyOf(reply: Response, address: string, maxBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of reply.body ?? []) {
    bytes += part.length;
    if (bytes > maxBytes) fail(invalid, `${address} answers with more than ${maxBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
