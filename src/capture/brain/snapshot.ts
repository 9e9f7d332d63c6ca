import { collisionKey, judgePath } from "../../formats/brain-paths.ts";
import { sha256Hex } from "../../kit/hash.ts";
import { oneLine } from "../../kit/strings.ts";
import { redactText } from "../../redact/redact.ts";
import { byRank } from "./rank.ts";
import type { TreeFile } from "./tree.ts";

/** What one publication may hold. */
export interface Caps {
  readonly fileBytes: number;
  readonly snapshotBytes: number;
  readonly files: number;
}

const MIB = 1024 * 1024;
export const CAPS: Caps = { fileBytes: MIB, snapshotBytes: 5 * MIB, files: 500 };

export interface SnapshotFile {
  readonly path: string;
  readonly content: string;
}

/** Why the server would not have a file, as it said itself. */
export interface Objections {
  /** By path: the 1-based lines in which a secret begins, with the rule that found it. */
  readonly lines: ReadonlyMap<string, ReadonlyMap<number, string>>;
  /** Paths that hold a secret themselves. */
  readonly paths: ReadonlySet<string>;
}

/** Where a snapshot names what is missing from it. */
export const NOTICE_PATH = ".claude/brain/not-published.md";
const NOTICE_BYTES = 16 * 1024;
const MAX_SHOWN_CHARS = 200;

interface LeftOut {
  readonly path: string;
  readonly reason: string;
}

/**
 * Puts a snapshot together: the team's own errors first, then the rest of the brain, instructions, decisions, packs. A file too large
 * is cut with a visible footer; what does not fit at all is named in a file of the snapshot.
 * @param read the file's beginning without secrets; undefined when it cannot be had
 */
export function composeSnapshot(
  candidates: readonly TreeFile[],
  read: (path: string, most: number) => string | undefined,
  caps: Caps,
): SnapshotFile[] {
  const ordered = byRank(candidates);
  const all = select(ordered, read, caps);
  if (all.leftOut.length === 0) return all.files;
  const smaller = { ...caps, files: caps.files - 1, snapshotBytes: Math.max(0, caps.snapshotBytes - NOTICE_BYTES) };
  const { files, leftOut } = select(ordered, read, smaller);
  return [...files, { path: NOTICE_PATH, content: noticeOf(leftOut, caps) }];
}

function select(ordered: readonly TreeFile[], read: (path: string, most: number) => string | undefined, caps: Caps) {
  const files: SnapshotFile[] = [];
  const leftOut: LeftOut[] = [];
  const taken = new Set([collisionKey(NOTICE_PATH)]);
  let bytesLeft = caps.snapshotBytes;
  for (const { path, bytes } of ordered) {
    const wrong = whatIsWrong(path, taken);
    const tooMuch = files.length >= caps.files || Math.min(bytes, caps.fileBytes) > bytesLeft;
    if (wrong !== undefined || tooMuch) {
      leftOut.push({ path, reason: wrong ?? "there was no room for it" });
      continue;
    }
    const text = read(path, caps.fileBytes);
    if (text === undefined) continue;
    const content = cutBytes(text, Math.min(caps.fileBytes, bytesLeft), bytes);
    bytesLeft -= Buffer.byteLength(content);
    taken.add(collisionKey(path));
    files.push({ path, content });
  }
  return { files, leftOut };
}

function whatIsWrong(path: string, taken: ReadonlySet<string>): string | undefined {
  const wrong = judgePath(path);
  if (wrong !== undefined) return `its path ${wrong}`;
  if (redactText(path).findings.length > 0) return "its path holds a secret";
  return taken.has(collisionKey(path)) ? "another path is the same but for case or Unicode form" : undefined;
}

/** A text of at most so many bytes of UTF-8: its beginning with a footer that says how much is missing. */
function cutBytes(text: string, most: number, wholeBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= most) return text;
  const footer = (kept: number) => `\n\n[cut: the first ${kept} of ${wholeBytes} bytes are published]\n`;
  let end = Math.max(0, most - footer(wholeBytes).length);
  // Not between the bytes of one character (RFC 3629 section 3).
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end) + footer(end);
}

function noticeOf(leftOut: readonly LeftOut[], { files, snapshotBytes }: Caps): string {
  let text = `# Not published\n\nA snapshot of this brain holds ${files} files and ${snapshotBytes} bytes at most. Left out were:\n\n`;
  for (const [i, { path, reason }] of leftOut.entries()) {
    const line = `- ${JSON.stringify(oneLine(redactText(path).text, MAX_SHOWN_CHARS))}: ${reason}\n`;
    if (Buffer.byteLength(text) + Buffer.byteLength(line) > NOTICE_BYTES - 100)
      return `${text}- and ${leftOut.length - i} more\n`;
    text += line;
  }
  return text;
}

/** What tells two snapshots apart. */
export const digestOf = (files: readonly SnapshotFile[]): string =>
  sha256Hex(files.map(({ path, content }) => `${path}\0${sha256Hex(content)}\n`).join(""));

/**
 * Reads which files a server refused because of a secret: it names path, line and rule of the first fifty.
 * @param reason the text of its refusal (422)
 */
export function readObjections(reason: string, sent: readonly SnapshotFile[]): Objections {
  const lines = new Map<string, Map<number, string>>();
  for (const { path } of sent) {
    const name = `${path} line `;
    for (let at = reason.indexOf(name); at !== -1; at = reason.indexOf(name, at + name.length)) {
      // Not where the path is only the end of a longer one.
      if (!/(?:\bin|,) $/.test(reason.slice(Math.max(0, at - 4), at))) continue;
      const found = /^(\d{1,9}) \(([a-z0-9-]{1,64})\)/.exec(reason.slice(at + name.length, at + name.length + 80));
      if (!found) continue;
      lines.getOrInsert(path, new Map()).set(Number(found[1]), found[2] as string);
    }
  }
  const indexes = [...reason.matchAll(/\bthe path of file (\d{1,4}) \(/g)].map(([, index]) => Number(index));
  return { lines, paths: new Set(indexes.flatMap((index) => sent[index]?.path ?? [])) };
}

/**
 * The snapshot without what the server objects to. With a named line go those after it, up to the next empty one: a secret may go on there.
 * @param whole leave the files out altogether, with a line in their place
 */
export function withoutSecrets(
  files: readonly SnapshotFile[],
  { lines, paths }: Objections,
  whole: boolean,
): SnapshotFile[] {
  const kept = files.flatMap(({ path, content }) => {
    if (paths.has(path)) return [];
    const named = lines.get(path);
    if (!named) return [{ path, content }];
    if (whole)
      return [
        { path, content: `[not published: the server finds a secret in this file (${[...named.values()][0]})]\n` },
      ];
    return [{ path, content: blankLines(content, named) }];
  });
  if (paths.size === 0) return kept;
  const notice = kept.find(({ path }) => path === NOTICE_PATH)?.content ?? "# Not published\n\n";
  const content = `${notice}- files whose paths hold a secret: ${paths.size}\n`;
  return [...kept.filter(({ path }) => path !== NOTICE_PATH), { path: NOTICE_PATH, content }];
}

function blankLines(content: string, named: ReadonlyMap<number, string>): string {
  // Lines with their ends between them, as the server counts them: LF, CR LF and CR.
  const parts = content.split(/(\r\n|[\r\n])/);
  let inside = false;
  for (let i = 0; i < parts.length; i += 2) {
    const rule = named.get(i / 2 + 1);
    if (rule !== undefined) parts[i] = `[REDACTED:${rule}]`;
    else if (inside && parts[i]?.trim() !== "") parts[i] = "";
    else inside = false;
    inside ||= rule !== undefined;
  }
  return parts.join("");
}
