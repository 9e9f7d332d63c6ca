import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { requestErasure, resolveTarget } from "../../../src/share/erasure/erasure.ts";
import { withDirectory } from "./data.ts";

/** Asks for so many erasures in a directory, one after the other. */
await withDirectory(process.argv[2] as string, async (core) => {
  for (let i = 0; i < Number(process.argv[3]); i++)
    await requestErasure(core, resolveTarget(core, { repo: `repository ${i}` }), "they wanted it", COMMAND_LINE);
});
