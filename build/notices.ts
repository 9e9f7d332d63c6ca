import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Metafile } from "esbuild";
import { readPackageJSON } from "pkg-types";

const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;
/** Packages that carry Node.js itself, one a platform. */
const NODE_PACKAGE = /^node-(?:bin-)?(?:linux|darwin|win)-/;
/** What embedded files were made from. */
const DATA_PACKAGES = ["@zxcvbn-ts/language-common"];
const RULE = "-".repeat(100);

/** Folders of the packages that an executable has something of, without Node.js; sorted. */
export function packageFolders({ inputs }: Metafile): string[] {
  const found = Object.keys(inputs).flatMap(
    (path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
  );
  return [...new Set([...found, ...DATA_PACKAGES.map((name) => `node_modules/${name}`)])].sort();
}

/**
 * The licence texts of everything that an executable is made of: the packages in the bundle and Node.js itself. Their licences
 * ask that the texts travel with every copy.
 * @param root folder that the bundle was made in
 * @throws Error when a package carries no licence text
 */
export async function notices(root: string, metafile: Metafile): Promise<string> {
  const folders = new Set(packageFolders(metafile));
  // The same text for every target, so Node.js as it is installed here.
  const runtime = (await readdir(join(root, "node_modules"))).filter((name) => NODE_PACKAGE.test(name)).slice(0, 1);
  for (const name of runtime) folders.add(`node_modules/${name}`);
  const parts = await Promise.all([...folders].sort().map((folder) => notice(root, folder)));
  return [
    "Reckon is made with the following software. Each part is under its own licence.",
    ...parts,
    "SQLite, within better-sqlite3, is in the public domain: https://www.sqlite.org/copyright.html\n",
  ].join(`\n\n${RULE}\n\n`);
}

async function notice(root: string, folder: string): Promise<string> {
  const { name, version, license } = await readPackageJSON(join(root, folder));
  const files = (await readdir(join(root, folder))).filter((file) => LICENCE_FILE.test(file)).sort();
  if (files.length === 0) throw new Error(`${name} ${version} carries no licence text`);
  const texts = await Promise.all(files.map((file) => readFile(join(root, folder, file), "utf8")));
  return [`${name} ${version} (${license ?? "see below"})`, ...texts.map((text) => text.trim())].join("\n\n");
}
