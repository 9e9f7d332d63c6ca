import type { Core } from "../../core.ts";
import { collisionKey } from "../../formats/brain-paths.ts";
import { visible } from "../../kit/escape-invisible.ts";
import { globMatcher, judgeGlob } from "../../kit/glob.ts";
import { conflict, fail, invalid, notFound } from "../../kit/problem.ts";
import { listFiles, readFile, type SnapshotFacts } from "../../record/brain/brain.ts";
import { judgePackPath } from "./paths.ts";
import { MAX_FILES, MAX_PACK_BYTES } from "./rules.ts";

const BRAIN_FOLDER = ".claude/brain/";
/** Where packs of others lie (see download.ts): taken only when somebody names them. */
const PACKS_FOLDER = "packs/";
const MAX_GLOBS = 50;

/** Which files of a brain a pack takes. */
export interface Choice {
  readonly repoKey: string;
  /** Globs over their paths. */
  readonly globs?: readonly string[] | undefined;
  /** The paths themselves, as the brain has them; instead of globs. */
  readonly paths?: readonly string[] | undefined;
}

interface ChosenFile {
  /** As the brain has it. */
  readonly source: string;
  /** In the archive: below the brain's folder. */
  readonly path: string;
  readonly content: string;
}

export interface Chosen {
  readonly snapshot: SnapshotFacts;
  readonly files: readonly ChosenFile[];
}

/** A brain file's path below the brain's folder, however its client spelled it. */
const brainPath = (source: string) => (source.startsWith(BRAIN_FOLDER) ? source.slice(BRAIN_FOLDER.length) : source);

/** Whether a file came with an installed pack. */
export const isOfPack = (source: string) => brainPath(source).startsWith(PACKS_FOLDER);

/** Why a file of a brain cannot be published, continuing a sentence that begins with its name; undefined when it can. */
export const judgeSource = (source: string): string | undefined => judgePackPath(brainPath(source));

/** Takes files from the current brain of one of the team's repositories. @throws Problem */
export function chooseFiles(core: Core, teamId: string, { repoKey, globs = [], paths }: Choice): Chosen {
  const brain = listFiles(core, teamId, repoKey);
  if (!brain) fail(notFound, `the team has no brain of a repository "${repoKey.slice(0, 200)}"`);
  const known = brain.files.map((file) => file.path);
  const sources = paths === undefined ? matching(known, globs) : named(known, paths);
  if (sources.length === 0) fail(invalid, "no file is chosen; a pack holds at least one");
  requirePackPaths(sources);
  if (sources.length > MAX_FILES) fail(invalid, `a pack holds at most ${MAX_FILES} files`);
  const { snapshotId } = brain.snapshot;
  const files = sources.map((source) => {
    const file = readFile(core, teamId, repoKey, source, snapshotId);
    if (!file) fail(conflict, "the brain changed meanwhile; look again");
    if (file.withheldSha256)
      fail(
        invalid,
        `"${source}" is not stored: when it came, the capture policy let only its path, size and digest be kept`,
      );
    return { source, path: brainPath(source), content: file.content };
  });
  const bytes = files.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  if (bytes > MAX_PACK_BYTES) fail(invalid, `the files exceed ${MAX_PACK_BYTES / 1024 / 1024} MiB together`);
  return { snapshot: brain.snapshot, files };
}

function matching(known: readonly string[], globs: readonly string[]): string[] {
  if (globs.length > MAX_GLOBS) fail(invalid, `at most ${MAX_GLOBS} globs choose a pack's files`);
  const matchers = globs.map((glob) => {
    const wrong = judgeGlob(glob);
    if (wrong) fail(invalid, `the glob "${glob.slice(0, 100)}" ${wrong}`);
    const matches = globMatcher(glob);
    if (!known.some((path) => matches(path) || matches(brainPath(path))))
      fail(invalid, `no file of the brain matches "${glob}"`);
    return matches;
  });
  if (matchers.length === 0) return known.filter((path) => !isOfPack(path));
  return known.filter((path) => matchers.some((matches) => matches(path) || matches(brainPath(path))));
}

function named(known: readonly string[], paths: readonly string[]): string[] {
  const there = new Set(known);
  for (const path of paths)
    if (!there.has(path)) fail(conflict, `the brain has no file "${path.slice(0, 200)}" any more; choose again`);
  return [...new Set(paths)].sort();
}

/** Paths were judged as keys when the brain came; here they become names of files on somebody's disk. */
function requirePackPaths(sources: readonly string[]): void {
  const refused = sources.filter((source) => judgeSource(source) !== undefined);
  const [first] = refused;
  if (first === undefined) return;
  const more = refused.length > 1 ? `; ${refused.length - 1} more cannot be published either` : "";
  fail(invalid, `the file "${visible(first)}" ${judgeSource(first)}, so no pack may hold it${more}. Choose the others`);
}

/**
 * Refuses files that would be one, or a file and a folder, on some disk.
 * @param files `source` null for what is made for the pack
 * @throws Problem
 */
export function requireApart(files: readonly { readonly path: string; readonly source: string | null }[]): void {
  const seen = new Map<string, string>();
  const named = ({ path, source }: (typeof files)[number]) =>
    source === null ? `the pack's own ${path}` : `"${source}"`;
  for (const file of files) {
    const twin = seen.get(collisionKey(file.path));
    if (twin !== undefined) fail(invalid, `${twin} and ${named(file)} would be one file in the pack`);
    seen.set(collisionKey(file.path), named(file));
  }
  for (const key of seen.keys())
    for (let at = key.indexOf("/"); at !== -1; at = key.indexOf("/", at + 1)) {
      const file = seen.get(key.slice(0, at));
      if (file !== undefined) fail(invalid, `${file} is a file and ${seen.get(key)} needs it as a folder`);
    }
}
