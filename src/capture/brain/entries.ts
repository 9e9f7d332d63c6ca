import { entriesKind } from "../../formats/brain-kinds.ts";
import type { Entry } from "../../formats/errors/entry.ts";
import { parseFile } from "../../formats/errors/parse.ts";
import { CAPS } from "./snapshot.ts";
import { readOutgoing, type Tree, unignoredFiles } from "./tree.ts";

/** What the errors files of a work tree hold, as the server would read them. */
export interface TreeEntries {
  readonly entries: readonly Entry[];
  /** Headings that are no entries, and files that cannot be read. */
  readonly skipped: number;
}

/** Reads the errors files of a work tree. @returns undefined when there is none, or git does not say what it ignores */
export function readEntries(tree: Tree): TreeEntries | undefined {
  const files = unignoredFiles(tree)?.filter(({ path }) => entriesKind(path) === "error") ?? [];
  if (files.length === 0) return undefined;
  const entries: Entry[] = [];
  let skipped = 0;
  for (const { path } of files) {
    try {
      const parsed = parseFile(readOutgoing(tree.root, path, CAPS.fileBytes) ?? "");
      entries.push(...parsed.entries);
      skipped += parsed.skipped;
    } catch {
      // No prose: see textBlocks.
      skipped++;
    }
  }
  return { entries, skipped };
}
