import { join } from "node:path";

/**
 * What Node.js starts as `reckon`. For a worker of a run of tests it is the bundle that the executable is made of, which starts in
 * a third of the time; scripts start the sources.
 */
export const MAIN = process.env.RECKON_TEST_RUN
  ? await bundled(join(process.env.RECKON_TEST_RUN, `program-${process.pid}`))
  : join(import.meta.dirname, "../../src/main.ts");

async function bundled(folder: string): Promise<string> {
  const { bundle } = await import("../../build/bundle.ts");
  const made = await bundle(folder);
  return join(made.folder, made.main);
}
