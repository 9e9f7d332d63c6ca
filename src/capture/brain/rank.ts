import { entriesKind, isFromPack, kindOf } from "../../formats/brain-kinds.ts";

/** 0 for what matters most, which stays when there is too much. */
function rankOf(path: string): number {
  if (isFromPack(path)) return 5;
  if (!path.startsWith(".claude/brain/")) return path.startsWith("docs/") ? 4 : 3;
  if (entriesKind(path) !== undefined) return 0;
  return kindOf(path) === "session" ? 2 : 1;
}

/** Files in the order in which they are kept. Sessions and decisions are numbered or dated by their names: the newest first. */
export function byRank<F extends { readonly path: string }>(files: readonly F[]): F[] {
  return files
    .map((file) => ({ file, rank: rankOf(file.path) }))
    .sort((a, b) => {
      const order = a.file.path < b.file.path ? -1 : 1;
      return a.rank - b.rank || (a.rank === 2 || a.rank === 4 ? -order : order);
    })
    .map(({ file }) => file);
}
