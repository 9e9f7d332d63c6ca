import { findSecrets, lineCounter, redactLongText } from "../../redact/redact.ts";

/** A secret for certain: the pack cannot be published with it. Never carries the value. */
export interface Leak {
  /** A file's path, or what else it stands in: `README`, `title`, `summary`, `licence`, `tags`, `name`, `version`. */
  readonly path: string;
  readonly line: number;
  readonly rule: string;
}

/** A likely secret that was replaced. */
export interface Replaced extends Leak {
  /** The line as it will be published. */
  readonly text: string;
}

export interface Cleaned {
  readonly text: string;
  readonly leaks: readonly Leak[];
  readonly replaced: readonly Replaced[];
}

const MAX_LINE_CHARS = 160;
const AROUND = 60;

/** Takes likely secrets out of a text, and tells of certain ones. @param yieldNow awaited between pieces of a long one */
export async function clean(
  path: string,
  original: string,
  yieldNow: () => Promise<void> | undefined,
): Promise<Cleaned> {
  const { text, findings } = await redactLongText(original, yieldNow);
  const leaks: Leak[] = [];
  const replaced: Replaced[] = [];
  const lineAt = lineCounter(original);
  // Where a finding's marker stands in the text without secrets.
  let shift = 0;
  for (const { rule, strength, start, end } of findings) {
    const line = lineAt(start);
    if (strength === "certain") leaks.push({ path, line, rule });
    else replaced.push({ path, line, rule, text: lineAround(text, start + shift) });
    shift += `[REDACTED:${rule}]`.length - (end - start);
  }
  return { text, leaks, replaced };
}

/** Secrets in a text that cannot be published in part, such as a path or a tag; likely ones too. @param where as in `Leak.path` */
export function leaksIn(where: string, text: string): Leak[] {
  return findSecrets(text).map(({ rule }) => ({ path: where, line: 1, rule }));
}

function lineAround(text: string, at: number): string {
  const from = Math.max(text.lastIndexOf("\n", at - 1) + 1, at - AROUND);
  const to = text.indexOf("\n", at);
  return text.slice(from, Math.min(to === -1 ? text.length : to, from + MAX_LINE_CHARS)).trim();
}

/** In a sentence, at most a few of them. */
export function leaksText(leaks: readonly Leak[]): string {
  const named = leaks.slice(0, 5).map(({ path, line, rule }) => `${path}, line ${line} (${rule})`);
  const more = leaks.length - named.length;
  return `a secret stands in ${named.join("; ")}${more > 0 ? `; and ${more} more` : ""}. Nothing was published; take it out of the brain and push it again`;
}
