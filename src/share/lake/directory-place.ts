import { chmod, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { isWindows } from "../../kit/files.ts";
import type { Place } from "./place.ts";

/** A directory of this machine, or what is mounted there. */
export function directoryPlace(root: string): Place {
  const half = (path: string) => join(root, dirname(path), `.${basename(path)}.part`);
  return {
    name: root,
    async put(path, bytes) {
      const file = await openNew(root, half(path));
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(half(path), join(root, path));
      await flush(join(root, dirname(path)));
    },
    async remove(path) {
      for (const file of [half(path), join(root, path)]) await rm(file, { force: true });
    },
    isEmpty: async () => (await readdir(root).catch(noneWhereMissing)).length === 0,
    async *list() {
      for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue;
        const file = join(entry.parentPath, entry.name);
        yield { path: relative(root, file).split(sep).join("/"), bytes: (await stat(file)).size };
      }
    },
  };
}

function noneWhereMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === "ENOENT") return [];
  throw error;
}

/** Whoever asks the lake is mostly another user: the permissions of its own directory say who may, whatever this process's files have. */
async function openNew(root: string, path: string) {
  const first = await mkdir(dirname(path), { recursive: true });
  for (let at = dirname(path); first !== undefined && at !== root && at.startsWith(first); at = dirname(at))
    await chmod(at, 0o755);
  // Of a write that was cut short; or a link of somebody else's, which led to another file.
  await rm(path, { force: true });
  const file = await open(path, "wx");
  await file.chmod(0o644);
  return file;
}

/** A name survives a power cut once its folder is flushed. */
async function flush(folder: string): Promise<void> {
  if (isWindows) return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
