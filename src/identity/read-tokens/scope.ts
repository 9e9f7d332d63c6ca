import { KINDS } from "../../formats/brain-kinds.ts";
import { globMatcher, judgeGlob } from "../../kit/glob.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { hasControls } from "../../kit/strings.ts";
import { redactText } from "../../redact/redact.ts";

/** What a read token narrows its owner's reading to; an empty list does not narrow. */
export interface ReadScope {
  readonly teams: readonly string[];
  readonly repos: readonly string[];
  /** Globs over file paths. */
  readonly paths: readonly string[];
  readonly kinds: readonly string[];
}

/** Values in each of a scope's lists. */
const MAX_VALUES = 50;
const MAX_REPO_CHARS = 512;

/**
 * Reads the scope requested for a token. Values named twice count once.
 * @param teams ids of the teams that its owner is in
 * @throws Problem on the first value that is not possible
 */
export function readScope(requested: Partial<ReadScope>, teams: readonly string[]): ReadScope {
  return {
    teams: list("teams", requested.teams, (team) => {
      if (!teams.includes(team)) fail(invalid, `The token's owner is not in the team "${team}".`);
      return team;
    }),
    repos: list("repositories", requested.repos, readRepo),
    paths: list("path globs", requested.paths, readGlob),
    kinds: list("kinds", requested.kinds, (kind) => {
      if (!(KINDS as readonly string[]).includes(kind))
        fail(invalid, `"${kind}" is no kind; there are ${KINDS.join(", ")}.`);
      return kind;
    }),
  };
}

function list(what: string, values: readonly string[] = [], read: (value: string) => string): string[] {
  if (values.length > MAX_VALUES) fail(invalid, `A scope has at most ${MAX_VALUES} ${what}.`);
  return [...new Set(values.map(read))];
}

function readRepo(repo: string): string {
  if (repo === "" || repo.length > MAX_REPO_CHARS || hasControls(repo))
    fail(invalid, `A repository's key has 1 to ${MAX_REPO_CHARS} characters on one line.`);
  // Redacted as the stored keys are, so that it names the same repository.
  return redactText(repo).text;
}

function readGlob(glob: string): string {
  if (hasControls(glob)) fail(invalid, "A path glob holds no control characters.");
  if (redactText(glob).findings.length > 0) fail(invalid, "A path glob holds what looks like a secret.");
  const wrong = judgeGlob(glob);
  if (wrong !== undefined) fail(invalid, `The path glob "${glob}" ${wrong}.`);
  return glob;
}

/** The facts of a file that a scope judges. */
export interface ScopedFile {
  readonly repoKey: string;
  readonly path: string;
  readonly kind: string;
}

/** Makes a test whether a scope includes a team's file. It remembers the paths it has judged: use it for one read. */
export function scopeFilter(scope: ReadScope): (file: ScopedFile) => boolean {
  const globs = scope.paths.map(globMatcher);
  const judged = new Map<string, boolean>();
  const inPaths = (path: string) => judged.getOrInsertComputed(path, () => globs.some((matches) => matches(path)));
  return ({ repoKey, path, kind }) =>
    (scope.repos.length === 0 || scope.repos.includes(repoKey)) &&
    (scope.kinds.length === 0 || scope.kinds.includes(kind)) &&
    (globs.length === 0 || inPaths(path));
}
