import { HASH_BYTES, type NodeAt, rootOf } from "../merkle.ts";

/*
 * Tiles (C2SP tlog-tiles): the hashes of a tree in rows of 256. A hash of a tile at level L is the root over 256^L leaves.
 */

/** Levels of the tree in one tile. */
const TILE_HEIGHT = 8;
/** Hashes of a full tile. */
export const TILE_WIDTH = 2 ** TILE_HEIGHT;
const MAX_LEVEL = 63;

export interface Tile {
  readonly level: number;
  /** Index within its level, from 0. */
  readonly n: number;
  /** Hashes in it: 256, or 1 to 255 in the last of its level. */
  readonly width: number;
}

/** Where a tile is served, below a log's prefix: `tile/<L>/<N>[.p/<W>]`. */
export function tilePath({ level, n, width }: Tile): string {
  const digits = String(n).padStart(Math.ceil(String(n).length / 3) * 3, "0");
  const groups = digits.match(/\d{3}/g) as string[];
  const path = groups.map((group, i) => (i < groups.length - 1 ? `x${group}` : group)).join("/");
  return `tile/${level}/${path}${width === TILE_WIDTH ? "" : `.p/${width}`}`;
}

/** The tile that a path names; undefined where that is not how a tile's path is written. */
export function parseTilePath(path: string): Tile | undefined {
  const match = /^tile\/(\d{1,2})\/((?:x\d{3}\/){0,5}\d{3})(?:\.p\/(\d{1,3}))?$/.exec(path);
  if (!match) return undefined;
  const [, level, n = "", width] = match;
  const tile = { level: Number(level), n: Number(n.replace(/[x/]/g, "")), width: Number(width ?? TILE_WIDTH) };
  const isSound =
    tile.level <= MAX_LEVEL && Number.isSafeInteger(tile.n) && tile.width >= 1 && tile.width <= TILE_WIDTH;
  // Each tile has one path, so that nobody can ask for one of them in two ways.
  return isSound && tilePath(tile) === path ? tile : undefined;
}

/** How many hashes a tile has in a tree of this size; 0 where there is no such tile. */
export function tileWidth(level: number, n: number, size: number): number {
  const hashes = Math.floor(size / TILE_WIDTH ** level) - n * TILE_WIDTH;
  return Math.min(Math.max(hashes, 0), TILE_WIDTH);
}

/** A tile's content. @param nodeAt is asked for its hashes alone */
export const tileBytes = ({ level, n, width }: Tile, nodeAt: NodeAt): Buffer =>
  Buffer.concat(Array.from({ length: width }, (_, i) => nodeAt(level * TILE_HEIGHT, n * TILE_WIDTH + i)));

/** The hashes in a tile from which a subtree's root is computed. */
interface Span {
  readonly tile: Tile;
  /** The first of them in the tile. */
  readonly from: number;
  readonly count: number;
}

/** The hashes from which to compute the n-th subtree of 2^level leaves, which is complete in a tree of this size. */
function spanOf(level: number, n: number, size: number): Span {
  const tileLevel = Math.floor(level / TILE_HEIGHT);
  const count = 2 ** (level % TILE_HEIGHT);
  const first = n * count;
  const tileIndex = Math.floor(first / TILE_WIDTH);
  return {
    tile: { level: tileLevel, n: tileIndex, width: tileWidth(tileLevel, tileIndex, size) },
    from: first % TILE_WIDTH,
    count,
  };
}

/** The root over a span of a tile's content. */
const rootOfSpan = (content: Buffer, { from, count }: Span): Buffer =>
  rootOf(
    Array.from({ length: count }, (_, i) => content.subarray((from + i) * HASH_BYTES, (from + i + 1) * HASH_BYTES)),
  );

/**
 * The tiles that some work needs of a tree: it is run once with dummy hashes, to see which nodes it asks for.
 * @param size of the tree
 */
export function tilesFor(size: number, work: (nodeAt: NodeAt) => unknown): Tile[] {
  const tiles = new Map<string, Tile>();
  work((level, n) => {
    const { tile } = spanOf(level, n, size);
    tiles.set(tilePath(tile), tile);
    return Buffer.alloc(HASH_BYTES);
  });
  return [...tiles.values()];
}

/** Nodes of a tree from its tiles. @param contentOf a tile's content, by its path */
export const nodesFromTiles =
  (size: number, contentOf: (path: string) => Buffer): NodeAt =>
  (level, n) => {
    const span = spanOf(level, n, size);
    return rootOfSpan(contentOf(tilePath(span.tile)), span);
  };
