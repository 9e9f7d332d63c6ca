import { chmodSync, lstatSync, mkdirSync, readFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { readAsset } from "../../kit/assets.ts";
import { writeFileAtomically } from "../../kit/files.ts";
import { generateSigningPem, readSigningKey } from "../../kit/jwt.ts";

/**
 * The signing key of a local instance, PKCS#8 PEM. With a seed it is the key that comes with the program, so that every run on every
 * machine signs alike. Without one it is this user's own. Making that takes a third of a second and more, so it is kept in a folder below
 * the system's temporary directory. Nobody may rely on what either signs.
 */
export async function localSigningKey(seed: string | undefined, folder: string | undefined): Promise<string> {
  if (seed !== undefined) return readAsset("src/assets/demo/signing-key.pem").replace(/^.*\n/, "");
  if (folder === undefined) return generateSigningPem();
  const path = join(folder, "unseeded.pem");
  const kept = await readKept(path);
  if (kept !== undefined) return kept;
  const made = await generateSigningPem();
  try {
    writeFileAtomically(path, made);
  } catch {
    // Either another instance was faster, and its key counts; or nothing can be kept, and this key will do.
    return (await readKept(path)) ?? made;
  }
  return made;
}

async function readKept(path: string): Promise<string | undefined> {
  try {
    const pem = readFileSync(path, "utf8");
    await readSigningKey(pem);
    return pem;
  } catch {
    return undefined;
  }
}

/** This user's own folder for keys; undefined when the folder that is there belongs to somebody else. */
export function keyFolder(below = tmpdir()): string | undefined {
  try {
    const { uid, username } = userInfo();
    const folder = join(below, `reckon-keys-${uid >= 0 ? uid : username}`);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = lstatSync(folder);
    if (!found.isDirectory() || (uid >= 0 && found.uid !== uid)) return undefined;
    if (uid >= 0 && (found.mode & 0o077) !== 0) chmodSync(folder, 0o700);
    return folder;
  } catch {
    return undefined;
  }
}
