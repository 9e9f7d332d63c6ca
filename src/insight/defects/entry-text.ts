import type { Core } from "../../core.ts";
import { splitLines, textBlocks } from "../../kit/markdown-blocks.ts";
import { readBlob } from "../../record/brain/brain.ts";
import type { Defect } from "./entry.ts";
import { pageRows } from "./page-rows.ts";

/**
 * What stands under an entry's heading, markdown as it was written.
 * @returns undefined when the file is not there any more
 */
export function entryText(core: Core, teamId: string, { repoKey, path, line }: Defect): string | undefined {
  const sql = pageRows(core.store);
  const blobId = sql.blobOf.get(teamId, repoKey, path);
  if (blobId === undefined) return undefined;
  const next = sql.nextLine.get(teamId, repoKey, path, line) ?? null;
  const lines = splitLines(readBlob(core, blobId)).slice(line - 1, next === null ? undefined : next - 1);
  let begin = 0;
  for (const chunk of textBlocks(lines))
    for (const { top, level, underlined, text, line: at } of chunk) {
      // The entry's own heading comes first.
      if (begin === 0) begin = at - 1 + text.split("\n").length + (underlined ? 1 : 0);
      else if (top && (level === 1 || (level === 2 && !underlined))) return lines.slice(begin, at - 1).join("\n");
    }
  return lines.slice(begin).join("\n");
}
