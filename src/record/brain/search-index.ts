import MiniSearch, { type SearchResult } from "minisearch";
import { type Core, slot } from "../../core.ts";
import { type Kind, kindOf } from "../../formats/brain-kinds.ts";
import { sections } from "../../kit/markdown.ts";
import { cooperative } from "../../kit/yield.ts";
import { readBlob } from "./follow.ts";
import { type ManifestEntries, rows } from "./rows.ts";

/** Text held in memory by all indexes together, in UTF-16 units; the least recently searched team gives way. */
const MAX_TEXT = 64 * 1024 * 1024;
/** A section longer than this is indexed in parts, so that a hit stays near what was asked. */
const PART_CHARS = 4_000;

const SHORT_QUESTION = 4;
/** The last word of a question may be unfinished; shorter beginnings stand for too many words to tell anything. */
const MIN_BEGINNING_CHARS = 4;
/** How often the words of a brain may stand in it that a beginning or a misspelling is taken for: each place costs a look. */
const MAX_PLACES = 20_000;

/** Words that one index knows at most, many times what a large brain holds, and how long they are. */
const MAX_WORDS = 100_000;
const MAX_WORD_CHARS = 64;

/** With fewer sections than this holding all the words, those holding some are shown after them. */
export const MIN_FULL_MATCHES = 5;

/** One indexed section. */
export interface Document {
  readonly id: number;
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

/** The words of a text: what stands between spaces, punctuation and symbols (code marks like ` and = among them). */
export function words(text: string): string[] {
  return text.split(/[\s\p{P}\p{S}]+/u).filter(Boolean);
}

/** The searchable sections of a team's current files. */
class TeamIndex {
  readonly documents = new Map<number, Document>();
  readonly #mini = new MiniSearch<Document>({
    fields: ["text", "heading", "path"],
    tokenize: words,
    processTerm: (term) => this.#admit(term.toLowerCase()),
    searchOptions: { processTerm: (term) => term.toLowerCase() },
    // Small steps with pauses: a vacuum in one go would keep other requests waiting.
    autoVacuum: { minDirtCount: 200, minDirtFactor: 0.1, batchSize: 100, batchWait: 10 },
  });
  /** How often each word stands in the sections. */
  readonly #vocabulary = new Map<string, number>();
  readonly #repos = new Map<string, { snapshotId: number; files: Map<string, IndexedFile> }>();
  #updating: Promise<void> | undefined;
  #nextId = 1;
  textChars = 0;

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
    // One that has no brain any more was erased.
    if (current.length !== this.#repos.size) return true;
    return current.some(({ repoKey, snapshotId }) => this.#repos.get(repoKey)?.snapshotId !== snapshotId);
  }

  #dropErased(current: ReadonlySet<string>): void {
    for (const [repoKey, { files }] of this.#repos) {
      if (current.has(repoKey)) continue;
      for (const [path, file] of [...files]) this.#remove(files, path, file);
      this.#repos.delete(repoKey);
    }
  }

  async #apply(core: Core, teamId: string): Promise<void> {
    const yieldNow = cooperative(core.clock);
    const currents = rows(core.store).currents.all(teamId);
    this.#dropErased(new Set(currents.map(({ repoKey }) => repoKey)));
    for (const { repoKey, snapshotId, entries } of currents) {
      const repo = this.#repos.get(repoKey) ?? { snapshotId: 0, files: new Map<string, IndexedFile>() };
      if (repo.snapshotId === snapshotId) continue;
      const current = new Map(JSON.parse(entries) as ManifestEntries);
      for (const [path, file] of repo.files)
        if (current.get(path) !== file.blobId) {
          this.#remove(repo.files, path, file);
          await yieldNow();
        }
      for (const [path, blobId] of current) {
        if (repo.files.has(path)) continue;
        const documents: number[] = [];
        for (const part of parts(readBlob(core, blobId))) {
          documents.push(this.#add({ ...part, repoKey, path, kind: kindOf(path) }));
          await yieldNow();
        }
        repo.files.set(path, { blobId, documents });
      }
      repo.snapshotId = snapshotId;
      this.#repos.set(repoKey, repo);
    }
  }

  /** A question by beginnings visits every word that begins so: without a bound on words one team could stall all. */
  #admit(term: string): string | null {
    if (term.length > MAX_WORD_CHARS) return null;
    const places = this.#vocabulary.get(term) ?? 0;
    if (places === 0 && this.#vocabulary.size >= MAX_WORDS) return null;
    this.#vocabulary.set(term, places + 1);
    return term;
  }

  #forgetWords({ text, heading, path }: Document): void {
    for (const word of words(`${text} ${heading} ${path}`)) {
      const term = word.toLowerCase();
      const places = this.#vocabulary.get(term) ?? 0;
      if (places > 1) this.#vocabulary.set(term, places - 1);
      else this.#vocabulary.delete(term);
    }
  }

  #add(document: Omit<Document, "id">): number {
    const id = this.#nextId++;
    this.#mini.add({ id, ...document });
    this.documents.set(id, { id, ...document });
    this.textChars += document.text.length;
    return id;
  }

  #remove(files: Map<string, IndexedFile>, path: string, file: IndexedFile): void {
    files.delete(path);
    for (const id of file.documents) {
      const document = this.documents.get(id);
      this.#mini.discard(id);
      this.documents.delete(id);
      if (!document) continue;
      this.textChars -= document.text.length;
      this.#forgetWords(document);
    }
  }

  /**
   * Sections with all the words; when those are few, followed by those with some. Only the last word may be a beginning, and
   * misspellings are looked for in short questions only: each costs a walk through the vocabulary. Either is given up where it would be
   * found nearly everywhere.
   */
  search(query: string, keep: (document: Document) => boolean): SearchResult[] {
    const count = words(query).length;
    const results = this.#mini.search(query, {
      boost: { heading: 3, path: 2 },
      prefix: (term, i) =>
        term.length >= MIN_BEGINNING_CHARS && i === count - 1 && this.#areFew((word) => word.startsWith(term)),
      fuzzy: (term) =>
        term.length >= 6 && count <= SHORT_QUESTION && this.#areFew((word) => isNear(word, term)) ? 1 : false,
      filter: (result) => {
        const document = this.documents.get(result.id as number);
        return document !== undefined && keep(document);
      },
      combineWith: "OR",
    });
    const full = results.filter((result) => result.queryTerms.length === count);
    if (full.length >= MIN_FULL_MATCHES) return full;
    return [...full, ...results.filter((result) => result.queryTerms.length < count)];
  }

  /** Whether the places of all words that are meant are few enough to be looked at. */
  #areFew(isMeant: (word: string) => boolean): boolean {
    let all = 0;
    for (const [word, places] of this.#vocabulary) if (isMeant(word)) all += places;
    return all <= MAX_PLACES;
  }
}

/** Whether one letter more, less or other makes a word of another; more than that now and then, where letters repeat. */
function isNear(a: string, b: string): boolean {
  const most = Math.max(a.length, b.length);
  if (most - Math.min(a.length, b.length) > 1) return false;
  let same = 0;
  while (same < most && a[same] === b[same]) same++;
  for (let i = 1; same < most && a.at(-i) === b.at(-i); i++) same++;
  return same >= most - 1;
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

/** A team's index, up to date; built at first use. */
export async function teamIndex(core: Core, teamId: string): Promise<TeamIndex> {
  const all = indexes(core);
  const index = all.get(teamId) ?? new TeamIndex();
  // Re-inserting keeps the map in order of last use.
  all.delete(teamId);
  all.set(teamId, index);
  await index.update(core, teamId);
  let chars = [...all.values()].reduce((sum, { textChars }) => sum + textChars, 0);
  for (const [id, { textChars }] of all) {
    if (chars <= MAX_TEXT || id === teamId) break;
    chars -= textChars;
    all.delete(id);
  }
  return index;
}

/** Brings a team's index up to date in the background if it is in use. */
export function refreshIndex(core: Core, teamId: string): void {
  indexes(core)
    .get(teamId)
    ?.update(core, teamId)
    .catch((error: unknown) => core.log.error("index_update_failed", { cause: String(error) }));
}
