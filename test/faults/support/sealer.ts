import { createInterface } from "node:readline";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { sealContents } from "../../../src/record/brain/seal.ts";
import { seal as sealEntries } from "../../../src/record/telemetry/seal.ts";
import { seal as sealSpans } from "../../../src/record/traces/seal.ts";
import { withDirectory } from "./data.ts";

/** Seals what there is to seal in a directory. Says so after every block, and goes on with the next for each line that it is given. */
const lines = createInterface(process.stdin)[Symbol.asyncIterator]();
await withDirectory(process.argv[2] as string, async (core) => {
  const later = { ...core, clock: { ...core.clock, now: () => core.clock.now() + DAY_MS } };
  for (const seal of [sealContents, sealSpans, sealEntries])
    while ((await seal(later, 1)) > 0) {
      process.stdout.write("block\n");
      await lines.next();
    }
});
// Nothing more is to come, and the process would wait for it.
process.stdin.destroy();
