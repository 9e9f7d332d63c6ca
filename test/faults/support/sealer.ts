import { seal } from "../../../src/record/telemetry/seal.ts";
import { withDirectory } from "./data.ts";

/** Seals what there is to seal in a directory, saying so after every block. */
await withDirectory(process.argv[2] as string, async (core) => {
  while ((await seal(core, 1)) > 0) process.stdout.write("block\n");
});
