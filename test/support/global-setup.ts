import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { generateSigningPem } from "../../src/kit/jwt.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Folder of this run: holds a signing key that instances adopt, and what faults were reached. */
    runFolder: string;
  }
}

/**
 * A file system in memory with room for a run. Most tests wait for the disk longer than they compute, and what a disk loses or
 * refuses is tested on disks of their own (`test/faults/support/disk.ts`).
 */
function roomInMemory(): string | undefined {
  const path = "/dev/shm";
  if (!existsSync(path)) return undefined;
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize >= 2 * 1024 ** 3 ? path : undefined;
}

/** Removes a folder, in which a run that was killed may have left a disk; what cannot be removed must not keep others from running. */
function remove(folder: string): void {
  const mounts = existsSync("/proc/mounts") ? readFileSync("/proc/mounts", "utf8").split("\n") : [];
  for (const [, path = ""] of mounts.map((line) => line.split(" ")).toReversed())
    if (path.startsWith(`${folder}/`)) spawnSync("umount", ["-l", path]);
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // Tried again by the next run.
  }
}

/** Removes what killed runs left, which would stay in memory until the machine starts anew. */
function sweep(room: string): void {
  for (const name of readdirSync(room)) {
    const pid = /^reckon-test-(\d+)-/.exec(name)?.[1];
    if (pid === undefined) continue;
    try {
      process.kill(Number(pid), 0);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ESRCH") remove(join(room, name));
    }
  }
}

/** Prepares what all test files share. Making an RSA key costs half a second; instances adopt this one. */
export default async function setup(project: TestProject): Promise<() => void> {
  const room = roomInMemory() ?? tmpdir();
  sweep(room);
  const runFolder = mkdtempSync(join(room, `reckon-test-${process.pid}-`));
  // Some tests run the program as another user.
  chmodSync(runFolder, 0o755);
  mkdirSync(join(runFolder, "faults"));
  const key = await generateSigningPem();
  writeFileSync(join(runFolder, "signing-key.pem"), key, { mode: 0o600 });
  // Where local instances look for one that was made before.
  mkdirSync(join(runFolder, "dev-keys"));
  writeFileSync(join(runFolder, "dev-keys", "unseeded.pem"), key, { mode: 0o600 });
  process.env.RECKON_TEST_RUN = runFolder;
  process.env.TMPDIR = join(runFolder, "tmp");
  mkdirSync(process.env.TMPDIR, { mode: 0o1777 });
  // Workers and the processes they start compile each file once between them.
  process.env.NODE_COMPILE_CACHE = join(runFolder, "compiled");
  project.provide("runFolder", runFolder);
  return () => rmSync(runFolder, { recursive: true, force: true, maxRetries: 5 });
}
