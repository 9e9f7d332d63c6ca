import { getHeapStatistics } from "node:v8";
import { type Core, slot } from "../../core.ts";
import { type Kind, kindOf } from "../../formats/brain-kinds.ts";
import { sections } from "../../kit/markdown.ts";
import { inSlices, type Slices } from "../../kit/slices.ts";
import { compareText } from "../../kit/strings.ts";
import { cooperative } from "../../kit/yield.ts";
import { readBlob } from "./follow.ts";
import { type ManifestEntries, rows } from "./rows.ts";
import { type Ranked, WordIndex } from "./word-index.ts";

/**
 * A unit of UTF-16 takes three bytes of the heap when it is indexed, seven where each word is a letter of two bytes. A machine with little
 * memory has a small heap.
 */
const HEAP = getHeapStatistics().heap_size_limit;
/** Text held in memory by all indexes together, in UTF-16 units; the least recently searched team gives way. */
const MAX_TEXT = Math.min(64 * 1024 * 1024, HEAP / 32);
/**
 * The same of one team's index. What comes beyond is not found: the keys of repositories are free, so that one device can send more than any
 * memory holds.
 */
const MAX_TEXT_OF_TEAM = HEAP / 16;
/** What a section, or a file, takes besides: as much as so much text. Its text may be none. */
const BESIDE_TEXT = 64;
/** A section longer than this is indexed in parts, so that a hit stays near what was asked. */
const PART_CHARS = 4_000;

/** With fewer sections than this holding all the words, those holding some are shown after them. */
export const MIN_FULL_MATCHES = 5;

/** One indexed section. */
export interface Document {
  readonly repoKey: string;
  readonly path: string;
  readonly heading: string;
  readonly line: number;
  readonly kind: Kind;
  readonly text: string;
}

interface IndexedFile {
  readonly blobId: number;
  readonly documents: readonly number[];
}

interface DocumentFound extends Omit<Ranked, "id"> {
  readonly document: Document;
}

/** The best sections of each group, best first, and how many there are. */
interface SectionsFound {
  readonly wholes: { readonly count: number; readonly best: readonly DocumentFound[] };
  /** None where there are enough of the former. */
  readonly others: { readonly count: number; readonly best: readonly DocumentFound[] };
  /** The words that the question's were taken for, in lower case. */
  readonly words: ReadonlySet<string>;
}

const textsOf = ({ text, heading, path }: Document): readonly string[] => [text, heading, path];

/** The searchable sections of a team's current files. */
class TeamIndex {
  readonly documents = new Map<number, Document>();
  readonly #words = new WordIndex();
  readonly #repos = new Map<string, { snapshotId: number; files: Map<string, IndexedFile> }>();
  #updating: Promise<void> | undefined;
  readonly #mostChars: number;
  #isFull = false;
  textChars = 0;

  constructor(mostChars: number) {
    this.#mostChars = mostChars;
  }

  /** Brings the index to the team's current snapshots by the difference, giving way to other work between slices. */
  async update(core: Core, teamId: string): Promise<void> {
    while (this.#updating) await this.#updating;
    if (!this.#isStale(core, teamId)) return;
    this.#updating = this.#apply(core, teamId).finally(() => {
      this.#updating = undefined;
    });
    await this.#updating;
  }

  #isStale(core: Core, teamId: string): boolean {
    const current = rows(core.store).currentIds.all(teamId);
    // A repository without a brain now was erased.
    if (current.length !== this.#repos.size) return true;
    return current.some(({ repoKey, snapshotId }) => this.#repos.get(repoKey)?.snapshotId !== snapshotId);
  }

  async #apply(core: Core, teamId: string): Promise<void> {
    const yieldNow = cooperative(core.clock);
    const currents = rows(core.store).currents.all(teamId);
    const keys = new Set(currents.map(({ repoKey }) => repoKey));
    for (const [repoKey, { files }] of this.#repos) {
      if (keys.has(repoKey)) continue;
      this.#repos.delete(repoKey);
      await inSlices(this.#remove(files, [...files.keys()]), yieldNow);
    }
    for (const { repoKey, snapshotId, entries } of currents) {
      const repo = this.#repos.get(repoKey) ?? { snapshotId: 0, files: new Map<string, IndexedFile>() };
      if (repo.snapshotId === snapshotId) continue;
      const current = new Map(JSON.parse(entries) as ManifestEntries);
      const others = [...repo.files].filter(([path, file]) => current.get(path) !== file.blobId);
      await inSlices(
        this.#remove(
          repo.files,
          others.map(([path]) => path),
        ),
        yieldNow,
      );
      for (const [path, blobId] of current) {
        if (repo.files.has(path)) continue;
        if (this.textChars >= this.#mostChars) {
          this.#noteFull(core, teamId);
          break;
        }
        const documents: number[] = [];
        for (const part of parts(readBlob(core, blobId))) {
          documents.push(this.#add({ ...part, repoKey, path, kind: kindOf(path) }));
          await yieldNow();
        }
        repo.files.set(path, { blobId, documents });
        this.textChars += BESIDE_TEXT;
      }
      repo.snapshotId = snapshotId;
      this.#repos.set(repoKey, repo);
    }
  }

  /** Says once that not all is found. What was left out comes in with the next version of its brain for which there is room. */
  #noteFull(core: Core, teamId: string): void {
    if (!this.#isFull) core.log.warn("search_index_full", { team: teamId, chars: this.textChars });
    this.#isFull = true;
  }

  #add(document: Document): number {
    const id = this.#words.add(textsOf(document));
    this.documents.set(id, document);
    this.textChars += document.text.length + BESIDE_TEXT;
    return id;
  }

  *#remove(files: Map<string, IndexedFile>, paths: readonly string[]): Slices<void> {
    const gone = new Map<number, readonly string[]>();
    for (const path of paths) {
      for (const id of files.get(path)?.documents ?? []) {
        const document = this.documents.get(id) as Document;
        gone.set(id, textsOf(document));
        this.documents.delete(id);
        this.textChars -= document.text.length + BESIDE_TEXT;
      }
      if (files.delete(path)) this.textChars -= BESIDE_TEXT;
    }
    yield* this.#words.remove(gone);
  }

  /** Orders sections by place, the same whatever came first. One may be gone meanwhile. */
  readonly #byPlace = (a: number, b: number): number => {
    const [one, other] = [this.documents.get(a), this.documents.get(b)];
    if (!one || !other) return 0;
    return compareText(one.repoKey, other.repoKey) || compareText(one.path, other.path) || one.line - other.line;
  };

  /** Sections with all of some words; when those are few, also those with some. @param most of each */
  *search(terms: readonly string[], keep: (document: Document) => boolean, most: number): Slices<SectionsFound> {
    const holds = (id: number) => {
      const document = this.documents.get(id);
      return document !== undefined && keep(document);
    };
    const { wholes, others, words } = yield* this.#words.search(terms, holds, most, this.#byPlace);
    const found = (best: readonly Ranked[]) =>
      best.flatMap(({ id, score }) => {
        const document = this.documents.get(id);
        return document ? [{ document, score }] : [];
      });
    const rest = wholes.count < MIN_FULL_MATCHES ? others : { count: 0, best: [] };
    return {
      wholes: { count: wholes.count, best: found(wholes.best) },
      others: { count: rest.count, best: found(rest.best) },
      words,
    };
  }
}

function* parts(content: string): Generator<{ heading: string; line: number; text: string }> {
  for (const section of sections(content)) {
    if (section.text.length <= PART_CHARS) {
      yield section;
      continue;
    }
    let line = section.line;
    let from = 0;
    while (from < section.text.length) {
      const newline = section.text.lastIndexOf("\n", from + PART_CHARS);
      const to =
        newline > from && from + PART_CHARS < section.text.length
          ? newline + 1
          : Math.min(section.text.length, from + PART_CHARS);
      const text = section.text.slice(from, to);
      yield { heading: section.heading, line, text };
      line += text.split("\n").length - 1;
      from = to;
    }
  }
}

const indexes = slot(() => new Map<string, TeamIndex>());

/** A team's index, up to date; built at first use. @param mostChars of text that it holds, but for the rest of the last file */
export async function teamIndex(core: Core, teamId: string, mostChars = MAX_TEXT_OF_TEAM): Promise<TeamIndex> {
  const all = indexes(core);
  const index = all.get(teamId) ?? new TeamIndex(mostChars);
  // Re-inserting keeps the map in order of last use.
  all.delete(teamId);
  all.set(teamId, index);
  letGo(all, teamId);
  await index.update(core, teamId);
  letGo(all, teamId);
  return index;
}

/** Lets go of the indexes that were not searched for longest, but for one, while all together hold too much. */
function letGo(all: Map<string, TeamIndex>, but: string): void {
  let chars = all.values().reduce((sum, { textChars }) => sum + textChars, 0);
  for (const [id, { textChars }] of all) {
    if (chars <= MAX_TEXT || id === but) break;
    chars -= textChars;
    all.delete(id);
  }
}

/** Brings a team's index up to date in the background if it is in use. */
export function refreshIndex(core: Core, teamId: string): void {
  indexes(core)
    .get(teamId)
    ?.update(core, teamId)
    .catch((error: unknown) => core.log.error("index_update_failed", { cause: String(error) }));
}
