import { chmod, copyFile, lstat, mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { ROOT } from "../bundle.ts";
import type { Source } from "./artefacts.ts";

/** What a package installs: paths without a leading slash, a file's content or where it lies, and its mode. */
export interface Installed {
  readonly path: string;
  readonly from: string;
  readonly mode: number;
}

const SETTINGS_FILE = "etc/default/reckon";
const SAMPLES = join(ROOT, "docs", "samples");

/** Linux packages of every kind hold these. @param executable the one of the package's architecture */
export function installed(executable: string): Installed[] {
  return [
    { path: "usr/bin/reckon", from: executable, mode: 0o755 },
    { path: "usr/lib/systemd/system/reckon.service", from: join(SAMPLES, "reckon.service"), mode: 0o644 },
    { path: SETTINGS_FILE, from: join(SAMPLES, "reckon.default"), mode: 0o644 },
    { path: "usr/share/doc/reckon/copyright", from: join(ROOT, "LICENSE"), mode: 0o644 },
    ...["nginx.conf", "Caddyfile", "compose.yaml", "ci.yml"].map((name) => ({
      path: `usr/share/doc/reckon/samples/${name}`,
      from: join(SAMPLES, name),
      mode: 0o644,
    })),
  ];
}

/** Lays files out in a folder, with the modes and the time that the package shall have. */
export async function layOut(folder: string, files: readonly Installed[], { epoch }: Source): Promise<void> {
  for (const { path, from, mode } of files) {
    const to = join(folder, path);
    await mkdir(dirname(to), { recursive: true });
    await copyFile(from, to);
    await chmod(to, mode);
  }
  await settle(folder, epoch);
}

/** Writes a file of a package that is made of text. */
export async function writeText(file: string, text: string, mode = 0o644): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  await chmod(file, mode);
}

/** Gives everything in a folder, and the folder, one time; folders one mode. */
export async function settle(folder: string, epoch: number): Promise<void> {
  for (const name of await readdir(folder, { recursive: true })) await settleOne(join(folder, name), epoch);
  await settleOne(folder, epoch);
}

async function settleOne(path: string, epoch: number): Promise<void> {
  if ((await lstat(path)).isDirectory()) await chmod(path, 0o755);
  await utimes(path, epoch, epoch);
}

/** The text of a file beside the code that makes packages, with `@NAME@` filled in. */
export async function template(name: string, values: Readonly<Record<string, string>>): Promise<string> {
  const text = await readFile(join(import.meta.dirname, "templates", name.replaceAll("/", sep)), "utf8");
  return text.replace(/@([A-Z_]+)@/g, (_, key: string) => {
    const value = values[key];
    if (value === undefined) throw new Error(`${name} names @${key}@, which has no value`);
    return value;
  });
}
