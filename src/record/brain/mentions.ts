import { type Core, slot } from "../../core.ts";
import type { Kind } from "../../formats/brain-kinds.ts";
import { compareText } from "../../kit/strings.ts";
import { cooperative } from "../../kit/yield.ts";
import {
  beginningOf,
  beginningsIn,
  mayName,
  type Named,
  NO_PATHS,
  placesIn,
  shasByBeginning,
  sortPaths,
} from "./mention-places.ts";
import { teamIndex } from "./search-index.ts";

/** What to look for: commits (at least seven hexadecimal digits of each) and paths of files. */
export interface MentionQuery {
  readonly commits: readonly string[];
  readonly files: readonly string[];
  /** Paths mean something in their own repository only; commits are looked for in all of the team's. */
  readonly repoKey: string;
}

/** A place in the team's current brain that names a commit or a file. */
interface Mention {
  readonly repoKey: string;
  readonly path: string;
  readonly kind: Kind;
  /** Of the section that it stands in; `""` for what precedes the first heading. */
  readonly heading: string;
  /** 1-based line of the place itself. */
  readonly line: number;
  /** That line, cut to 240 characters around the place. */
  readonly text: string;
  readonly names: Named;
}

export interface Mentions {
  /** By repository, path and line; of one thing named several times in a section only the first place. */
  readonly mentions: readonly Mention[];
  /** Not everything was looked through, or not every place is listed. */
  readonly cutShort: boolean;
}

const LOOKED_THROUGH: readonly Kind[] = ["error", "security", "anti-pattern", "decision"];
const MAX_TEXT = 16 * 1024 * 1024;
const MAX_MENTIONS = 50;
const MAX_NAMES = 500;
const EXCERPT_CHARS = 240;

/**
 * Where the errors, decisions, security notes and anti-patterns of a team's current brain name one of the commits (by a
 * beginning of its SHA of at least seven digits, or in full) or one of the files (by its whole path). Nothing is guessed: a
 * file's bare name is no mention of it, unless the name is all of its path.
 */
export async function findMentions(core: Core, teamId: string, query: MentionQuery): Promise<Mentions> {
  const commits = shasByBeginning(query.commits.slice(0, MAX_NAMES));
  const files = sortPaths(query.files.slice(0, MAX_NAMES));
  const mentions: Mention[] = [];
  if (commits.size === 0 && query.files.length === 0) return { mentions, cutShort: false };
  const sought = new Set([...commits.keys()].map(beginningOf));
  const index = await teamIndex(core, teamId);
  const yieldNow = cooperative(core.clock);
  let room = MAX_TEXT;
  let cutShort = files.cut || query.files.length > MAX_NAMES || query.commits.length > MAX_NAMES;
  for (const document of index.documents.values()) {
    const own = document.repoKey === query.repoKey;
    if (!LOOKED_THROUGH.includes(document.kind) || (!own && commits.size === 0)) continue;
    room -= document.text.length;
    // One more than is listed is looked for: it tells that there are more.
    if (room < 0 || mentions.length > MAX_MENTIONS) break;
    await yieldNow();
    // Nearly all sections name nothing of what is looked for: their words stay unread.
    const paths = own && mayName(files, document.text) ? files : NO_PATHS;
    if (paths === NO_PATHS && !beginnings(core, document).some((one) => sought.has(one))) continue;
    const { repoKey, path, kind, heading, text } = document;
    for (const { at, names } of placesIn(text, commits, paths)) {
      mentions.push({
        repoKey,
        path,
        kind,
        heading,
        line: document.line + linesBefore(text, at),
        text: lineAt(text, at),
        names,
      });
    }
  }
  cutShort ||= room < 0 || mentions.length > MAX_MENTIONS;
  mentions.splice(MAX_MENTIONS);
  mentions.sort((a, b) => compareText(a.repoKey, b.repoKey) || compareText(a.path, b.path) || a.line - b.line);
  return { mentions, cutShort };
}

/** What the commits begin with that sections of the index name, as far as anybody asked. */
const looked = slot(() => new WeakMap<object, readonly number[]>());

const beginnings = (core: Core, document: { readonly text: string }): readonly number[] =>
  looked(core).getOrInsertComputed(document, () => beginningsIn(document.text));

function linesBefore(text: string, at: number): number {
  return (text.slice(0, at).match(/\r\n|[\r\n]/g) ?? []).length;
}

function lineAt(text: string, at: number): string {
  const from = Math.max(text.lastIndexOf("\n", at - 1) + 1, at - EXCERPT_CHARS / 2);
  const end = text.indexOf("\n", at);
  const to = Math.min(end === -1 ? text.length : end, from + EXCERPT_CHARS);
  return text.slice(from, to).toWellFormed().replace(/\s+/g, " ").trim();
}
