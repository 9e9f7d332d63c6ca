import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { shellQuoted } from "../../src/kit/strings.ts";

/**
 * What Node.js starts as `reckon`. For a worker of a run of tests it is the bundle that the executable is made of, which starts in
 * a third of the time; scripts start the sources.
 */
export const MAIN = process.env.RECKON_TEST_RUN
  ? await bundled(process.env.RECKON_TEST_RUN)
  : join(import.meta.dirname, "../../src/main.ts");

/** What a shell starts as `reckon`, in whatever folder that lies: a script that starts the same. */
export const SCRIPT = `#!/bin/sh\nexec ${shellQuoted(process.execPath)} ${shellQuoted(MAIN)} "$@"\n`;

/** The bundle of a run, which the first worker that needs it makes for all. */
async function bundled(runFolder: string): Promise<string> {
  const folder = join(runFolder, "program");
  const main = join(folder, "main.mjs");
  const isMade = join(runFolder, "program-made");
  try {
    mkdirSync(join(runFolder, "program-begun"));
  } catch {
    // Only a file tells that another process is done.
    for (let tries = 0; !existsSync(isMade); tries++) {
      if (tries > 1_200) throw new Error("another worker did not make the bundle in a minute");
      await pause(50);
    }
    return main;
  }
  const { bundle } = await import("../../build/bundle.ts");
  await bundle(folder);
  writeFileSync(isMade, "");
  return main;
}
