import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Metafile } from "esbuild";
import type { Bundle } from "./bundle.ts";

/** Ceilings in bytes, and what was weighed against them. */
interface Weights {
  /** JavaScript of ours and of dependencies, all chunks. */
  readonly codeBytes: number;
  /** Files that are read at run time, without the SQLite addon. */
  readonly embeddedBytes: number;
  /** The finished executable on a stripped base. */
  readonly executableBytes?: number;
}

/** The ceilings of `budget.json`. */
export async function readBudget(): Promise<Required<Weights>> {
  return JSON.parse(await readFile(join(import.meta.dirname, "budget.json"), "utf8"));
}

/** What a bundle on disk weighs. */
export async function weigh(bundle: Bundle): Promise<Weights> {
  let codeBytes = 0;
  let embeddedBytes = 0;
  for (const file of [bundle.main, ...bundle.files]) {
    const { size } = await stat(join(bundle.folder, file));
    if (file.endsWith(".mjs")) codeBytes += size;
    else if (!file.endsWith(".node")) embeddedBytes += size;
  }
  return { codeBytes, embeddedBytes };
}

/** One line for every ceiling that is exceeded; none when all is well. */
export function judgeWeights(weights: Weights, ceilings: Required<Weights>, metafile: Metafile): string[] {
  const rows = Object.keys(ceilings) as (keyof Weights)[];
  return rows.flatMap((name) => {
    const weight = weights[name];
    if (weight === undefined || weight <= ceilings[name]) return [];
    return [
      `${name} is ${weight}, over its ceiling of ${ceilings[name]} in build/budget.json by ${weight - ceilings[name]}; ` +
        `most of the code comes from ${heaviest(metafile).join(", ")}`,
    ];
  });
}

/** The five that bring the most JavaScript: packages by name, our own code by room. */
export function heaviest(metafile: Metafile): string[] {
  const bytes = new Map<string, number>();
  for (const output of Object.values(metafile.outputs))
    for (const [path, input] of Object.entries(output.inputs)) {
      if (path.endsWith(".node")) continue;
      const owner = ownerOf(path);
      bytes.set(owner, (bytes.get(owner) ?? 0) + input.bytesInOutput);
    }
  return [...bytes]
    .sort(([, a], [, b]) => b - a)
    .slice(0, 5)
    .map(([owner, size]) => `${owner} ${size}`);
}

function ownerOf(path: string): string {
  const inPackage = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path);
  return inPackage?.[1] ?? path.split("/").slice(0, 2).join("/");
}
