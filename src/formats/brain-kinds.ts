/** Kinds of markdown files in a brain, told from their paths. */
export const KINDS = ["error", "security", "anti-pattern", "decision", "session", "note"] as const;
export type Kind = (typeof KINDS)[number];

const KIND_WORDS: readonly (readonly [Kind, RegExp])[] = [
  ["error", /^errors?$/],
  ["security", /^security$/],
  ["anti-pattern", /^anti-?_?patterns?$/],
  ["decision", /^(?:decisions?|adrs?)$/],
  ["session", /^sessions?$/],
];

/** Whether a file came with an installed pack: others' knowledge, to be found and read, but nothing that happened here. */
export const isFromPack = (path: string): boolean => /(?:^|\/)\.claude\/brain\/packs\//i.test(path);

/** The kind of a file, told from its name, or else from the nearest folder whose name tells a kind. */
export function kindOf(path: string): Kind {
  const parts = path.toLowerCase().split("/");
  const stem = (parts.pop() as string).replace(/\.[a-z]+$/, "");
  const named = (text: string) => KIND_WORDS.find(([, word]) => word.test(text))?.[0];
  // "session-2026-11-21" and "adr-0007" are named by their first word.
  return named(stem) ?? named(stem.replace(/[-_]?\d.*$/, "")) ?? parts.toReversed().map(named).find(Boolean) ?? "note";
}

/** Kinds of brain files whose dated headings are entries: defects. */
export const DEFECT_KINDS = ["error", "security", "anti-pattern"] as const;
export type DefectKind = (typeof DEFECT_KINDS)[number];

/** The kind of the team's own entries in a file, told from the file's name; undefined for other files. */
export function entriesKind(path: string): DefectKind | undefined {
  if (isFromPack(path)) return undefined;
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (!/\.(?:md|mdx|markdown)$/i.test(name)) return undefined;
  const kind = kindOf(name);
  return DEFECT_KINDS.find((defectKind) => defectKind === kind);
}
