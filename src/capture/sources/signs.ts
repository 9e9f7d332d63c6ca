import { type Stats, statSync } from "node:fs";

/** Properties of a file that change when it is written to, and are read without opening it. */
export interface Sign {
  readonly device: number;
  readonly inode: number;
  readonly size: number;
  /** Milliseconds since the epoch, with fractions. */
  readonly modified: number;
  readonly born: number;
}

/** Those that must be the same for a file to be unchanged. */
export const SIGNS = ["device", "inode", "size", "modified"] as const;

const read = ({ dev, ino, size, mtimeMs, birthtimeMs }: Stats): Sign => ({
  device: dev,
  inode: ino,
  size,
  modified: mtimeMs,
  // A copy may keep the time of the last write, but is born anew; some file systems know only the time of the last write.
  born: Math.min(birthtimeMs || mtimeMs, mtimeMs),
});

/** @returns undefined where there is no such file; a pipe is none, because whoever opened it would wait */
export function signOfFile(path: string): Sign | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats?.isFile() ? read(stats) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * When a transcript began; older ones are read first. A sub-agent's comes after its session's, which tells where both work: a copy has only
 * the time of its end, and the session's end is later.
 */
export function orderOf(path: string, { born }: Sign): number {
  const main = path.replace(/[\\/]subagents[\\/][^\\/]*$/, ".jsonl");
  const sign = main === path ? undefined : signOfFile(main);
  return sign ? Math.max(born, sign.born + 0.001) : born;
}

/** A database and its write-ahead log; never its -shm, which readers change. */
export function signOfDatabase(path: string): Sign | undefined {
  const main = signOfFile(path);
  const log = signOfFile(`${path}-wal`);
  return main && { ...main, size: main.size + (log?.size ?? 0), modified: Math.max(main.modified, log?.modified ?? 0) };
}
