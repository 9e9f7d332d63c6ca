import { type Core, slot } from "../../core.ts";
import { cooperative } from "../../kit/yield.ts";
import { readBlob } from "../../record/brain/brain.ts";
import { type ParsedFile, parseSteps } from "./parse.ts";

/** Content never changes, so neither does what was read of it: kept while a large file is stored piece by piece. */
const held = slot((): Map<number, ParsedFile> => new Map());
const MAX_HELD_ENTRIES = 20_000;

/** The entries of a brain file, giving way to other work while they are read. */
export async function parsedBlob(core: Core, blobId: number): Promise<ParsedFile> {
  const known = held(core);
  const before = known.get(blobId);
  if (before) return before;
  const file = await readEntries(core, blobId);
  known.set(blobId, file);
  let entries = [...known.values()].reduce((sum, file) => sum + file.entries.length + 1, 0);
  for (const [id, file] of known) {
    if (entries <= MAX_HELD_ENTRIES || id === blobId) break;
    entries -= file.entries.length + 1;
    known.delete(id);
  }
  return file;
}

/** One file that cannot be parsed must not keep the others of its brain, and every later brain, waiting. */
async function readEntries(core: Core, blobId: number): Promise<ParsedFile> {
  const yieldNow = cooperative(core.clock);
  const markdown = readBlob(core, blobId);
  try {
    const steps = parseSteps(markdown);
    let step = steps.next();
    while (!step.done) {
      await yieldNow();
      step = steps.next();
    }
    return step.value;
  } catch (error) {
    core.log.error("entries_unreadable", { blob: blobId, cause: String(error) });
    return { entries: [], skipped: 1, unreadable: String(error) };
  }
}
