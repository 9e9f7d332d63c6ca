import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** File systems of our own: small ones that fill up, ones whose power is cut, ones that fail. Linux and root only. */

function can(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: "ignore" }).status === 0;
}

function tryMount(): string | undefined {
  if (process.platform !== "linux") return "file systems are mounted on Linux only";
  if (process.getuid?.() !== 0) return "mounting file systems needs root";
  const probe = mkdtempSync(join(tmpdir(), "reckon-mount-"));
  const mounted = can("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", probe);
  if (mounted) execFileSync("umount", [probe]);
  rmdirSync(probe);
  return mounted ? undefined : "this machine does not let us mount file systems";
}

/** Why file systems cannot be mounted here; undefined when they can. */
export const noMounts: string | undefined = tryMount();

/**
 * Ends processes and stops the disk behind them: FS_IOC_SHUTDOWN with FS_SHUTDOWN_FLAGS_NOLOGFLUSH, as `xfs_io -x -c shutdown`
 * sends it. The processes go first, because ext4 answers an fsync that is under way with success although it dropped its
 * transaction; a machine without power does not live to pass that on. The disk follows within microseconds, so that an
 * fsync under way is cut short.
 */
const CUT =
  "import fcntl,os,struct,sys\ndisk=os.open(sys.argv[1],os.O_RDONLY)\nfor pid in sys.argv[2:]:os.kill(int(pid),9)\n" +
  "fcntl.ioctl(disk,0x8004587D,struct.pack('I',2))";

/** Why power cannot be cut here; undefined when it can. */
export const noPowerCut: string | undefined =
  noMounts ??
  (!can("mkfs.ext4", "-V") ? "mkfs.ext4 is not installed" : undefined) ??
  (!can("python3", "-c", "import fcntl") ? "python3 is not installed" : undefined);

export interface Mount {
  readonly path: string;
  /** Mounts it again with other options, e.g. `ro`. */
  remount(options: string): void;
  unmount(): void;
}

function mounted(path: string, cleanUp: () => void): Mount {
  let there = true;
  return {
    path,
    remount: (options) => void execFileSync("mount", ["-o", `remount,${options}`, path]),
    unmount() {
      if (!there) return;
      there = false;
      // Lazily: a process of a failed test may still hold it.
      if (!can("umount", path)) can("umount", "-l", path);
      rmdirSync(path);
      cleanUp();
    },
  };
}

export function mountTmpfs(size: string): Mount {
  const path = mkdtempSync(join(tmpdir(), "reckon-tmpfs-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", path]);
  return mounted(path, () => {});
}

export interface Disk {
  readonly path: string;
  /**
   * Cuts the power: what was not flushed by now is gone, and every access fails until the disk is mounted again.
   * @param pids processes that end with it, as on a machine that loses its power; without any, the disk alone fails
   */
  cutPower(...pids: number[]): void;
  /** Puts all that was written on it. */
  flush(): void;
  /** Brings the disk back with what survived. All processes using it must be gone. */
  restorePower(): void;
  remove(): void;
}

/** An ext4 file system in a file. */
export function mountDisk(megabytes: number): Disk {
  // On a disk, not in memory as other temporary files: there an fsync takes long enough to be cut short.
  let image = join("/var/tmp", `reckon-disk-${process.pid}-${Math.random().toString(36).slice(2)}.img`);
  writeFileSync(image, "");
  truncateSync(image, megabytes * 1024 * 1024);
  execFileSync("mkfs.ext4", ["-q", "-F", image]);
  const path = mkdtempSync(join(tmpdir(), "reckon-ext4-"));
  // A commit interval of an hour: nothing reaches the disk because time went by, only because it was flushed.
  const mount = () => execFileSync("mount", ["-o", "loop,commit=3600", image, path]);
  mount();
  return {
    path,
    cutPower: (...pids) => void execFileSync("python3", ["-c", CUT, path, ...pids.map(String)]),
    flush: () => void execFileSync("sync", ["-f", path]),
    restorePower() {
      execFileSync("umount", [path]);
      // As another disk: processes of other tests, with an earlier view of the mounts, keep the failed one.
      const failed = image;
      image = `${failed}.on`;
      execFileSync("cp", ["--sparse=always", failed, image]);
      rmSync(failed);
      mount();
    },
    remove() {
      if (!can("umount", path)) can("umount", "-l", path);
      rmdirSync(path);
      rmSync(image, { force: true });
    },
  };
}
