import { readFile, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { BuildError } from "../bundle.ts";
import { run } from "./artefacts.ts";
import type { LinuxTarget } from "./packages.ts";

/** Where a Debian machine has the libraries of a target: its own, or those for building for another. */
const PLACES: Record<LinuxTarget, { readonly triplet: string; readonly folders: readonly string[] }> = {
  "linux-x64": {
    triplet: "x86_64-linux-gnu",
    folders: ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/x86_64-linux-gnu/lib"],
  },
  "linux-arm64": {
    triplet: "aarch64-linux-gnu",
    folders: ["/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/aarch64-linux-gnu/lib"],
  },
};
/** Their licences ask that the texts travel along. */
const LICENCES = ["libc6", "libstdc++6", "libatomic1", "libgcc-s1"];
const CROSS_LICENCES = [
  "libc6-arm64-cross",
  "libstdc++6-arm64-cross",
  "libatomic1-arm64-cross",
  "libgcc-s1-arm64-cross",
];

/** A file of the image, its path without a leading slash. */
export interface ImageFile {
  readonly path: string;
  readonly mode: number;
  readonly content: Buffer;
}

/**
 * What an executable needs beside itself: its loader, its libraries and theirs, and their licences.
 * @throws BuildError when one of them is not on this machine
 */
export async function librariesOf(executable: string, target: LinuxTarget): Promise<ImageFile[]> {
  const { triplet } = PLACES[target];
  const loader = /interpreter: (\S+?)\]/.exec(run("readelf", ["--wide", "--program-headers", executable]))?.[1];
  if (!loader) throw new BuildError(`${executable} names no loader`);
  const found = new Map<string, ImageFile>();
  const waiting = [...neededBy(executable)];
  for (let name = waiting.pop(); name; name = waiting.pop()) {
    if (found.has(name)) continue;
    const file = await findLibrary(name, target);
    const path = loader.endsWith(`/${name}`) ? loader.slice(1) : `lib/${triplet}/${name}`;
    found.set(name, { path, mode: 0o755, content: await readFile(file) });
    waiting.push(...neededBy(file));
  }
  return [...found.values(), ...(await licences(target))];
}

function neededBy(file: string): string[] {
  const listed = run("readelf", ["--wide", "--dynamic", file]);
  return [...listed.matchAll(/\(NEEDED\).*\[([^\]]+)\]/g)].map(([, name = ""]) => name);
}

async function findLibrary(name: string, target: LinuxTarget): Promise<string> {
  for (const folder of PLACES[target].folders) {
    const path = join(folder, name);
    if (await stat(path).catch(() => undefined)) return await realpath(path);
  }
  throw new BuildError(
    `${name} for ${target} is not on this machine (Debian, for the other architecture: libc6-arm64-cross, libstdc++6-arm64-cross, libatomic1-arm64-cross)`,
  );
}

async function licences(target: LinuxTarget): Promise<ImageFile[]> {
  const packages = target === `linux-${process.arch}` ? LICENCES : CROSS_LICENCES;
  return Promise.all(
    packages.map(async (name) => {
      const content = await readFile(`/usr/share/doc/${name}/copyright`).catch(() => {
        throw new BuildError(`the licence of ${name} is not on this machine`);
      });
      return { path: `usr/share/doc/${name}/copyright`, mode: 0o644, content };
    }),
  );
}
