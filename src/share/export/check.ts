import { closeSync, createReadStream, openSync, readSync, statSync } from "node:fs";
import { pipeline } from "node:stream";
import { getHeapStatistics } from "node:v8";
import { createZstdDecompress } from "node:zlib";
import { sha256Hex } from "../../kit/hash.ts";
import type { ExportedItem } from "../../kit/items.ts";
import { parseJson } from "../../kit/json.ts";
import { fail, invalid, Problem } from "../../kit/problem.ts";
import { counted } from "../../kit/strings.ts";
import { systemErrorText } from "../../kit/system-error.ts";
import { type TarFile, tarFiles } from "../../kit/tar.ts";
import { type CheckReport, judgeCosigners, openSigned, Steps } from "../../kit/transparency/check.ts";
import type { NoteKey } from "../../kit/transparency/note.ts";
import { brainExport } from "../../record/brain/brain.ts";
import { telemetryExport } from "../../record/telemetry/telemetry.ts";
import { traceExport } from "../../record/traces/traces.ts";
import { Deliveries } from "./check-deliveries.ts";

/** The first bytes of what is compressed with Zstandard (RFC 8878 section 3.1.1). */
const MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** No file that an export makes is half as large. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_NAMED = 5;

/** Lines that hold items of deliveries, by the folder of their files. */
const READERS = new Map<string, (line: string) => ExportedItem[]>([
  ["telemetry", telemetryExport.itemsOf],
  ["sessions", traceExport.itemsOf],
  ["notes", traceExport.itemsOfNotes],
  ["brain", brainExport.itemsOf],
]);

/** Files that are judged; what else an archive has, such as what people did, the log does not tell of. */
const PROVEN = /^(?:MANIFEST\.json|checkpoint|(?:deliveries(?:-since)?|telemetry|sessions|notes|brain)\/.*)$/;

/** Files of which what they say is kept in memory. */
const KEPT = /^(?:MANIFEST\.json$|deliveries(?:-since)?\/)/;

/** Whether a file is an archive, by how it begins; false where it cannot be read. */
export function isArchive(path: string): boolean {
  try {
    const fd = openSync(path, "r");
    try {
      const begin = Buffer.alloc(MAGIC.length);
      return readSync(fd, begin, 0, begin.length, 0) === begin.length && begin.equals(MAGIC);
    } finally {
      closeSync(fd);
    }
  } catch {
    return false;
  }
}

/**
 * Judges an archive that `exportArchive` made, with nothing but the log's key: that no file was changed, that each delivery is a leaf of
 * the tree that was signed, and that what the archive holds of a delivery is what its leaf commits to. It is read twice, a file at a
 * time, and nothing of it is written anywhere.
 * @param cosigners keys of witnesses, all of whom must have cosigned the checkpoint
 * @param onProgress told how much was read, from 0 to 1
 */
export async function checkArchive(
  path: string,
  logKey: NoteKey,
  cosigners: readonly NoteKey[],
  onProgress: (share: number) => void = () => {},
): Promise<CheckReport> {
  const steps = new Steps();
  const found = await judged(steps, () => readFacts(path, (share) => onProgress(share / 2)));
  const checkpoint = found && steps.take("checkpoint", () => openSigned(found.checkpoint, logKey));
  if (found && checkpoint) {
    steps.take("inclusion", () => [true, found.deliveries.judgeInclusion(checkpoint)]);
    await judged(steps, () => readContents(path, found.deliveries, (share) => onProgress((1 + share) / 2)), "item");
  }
  const cosignatures = checkpoint ? judgeCosigners(steps, checkpoint, cosigners) : [];
  return { proven: steps.areAllSound, steps: steps.list, checkpoint, bundle: null, cosignatures };
}

async function judged<T extends { readonly detail: string }>(
  steps: Steps,
  work: () => Promise<T>,
  step: "file" | "item" = "file",
): Promise<T | null> {
  try {
    const found = await work();
    return steps.take(step, () => [found, found.detail]);
  } catch (error) {
    return steps.take(step, () => {
      if (error instanceof Problem) throw error;
      // Zstandard says nothing of a stream that ends too early.
      const reason = systemErrorText(error) ?? ((error as Error).message || "it is cut short");
      return fail(invalid, `the archive cannot be read: ${reason}`);
    });
  }
}

interface Facts {
  readonly detail: string;
  /** The signed note. */
  readonly checkpoint: string;
  readonly deliveries: Deliveries;
}

/** What a file's digest and name take besides the name, and what each value of a JSON text does besides its characters. */
const FILE_BYTES = 256;
const VALUE_BYTES = 24;
/** How much of the memory there is may be taken by what an archive tells: a few kilobytes may unpack to any number of lines. */
const MAX_HEAP_SHARE = 0.75;

/** Roughly what the values of JSON texts take in memory. */
function bytesInMemory(content: Buffer): number {
  let values = 0;
  for (const byte of content) if (byte === 0x2c || byte === 0x5b || byte === 0x7b) values++;
  return content.length + values * VALUE_BYTES;
}

/** Compares every file with the manifest, and keeps what tells of deliveries. @throws Problem */
async function readFacts(path: string, onProgress: (share: number) => void): Promise<Facts> {
  const digests = new Map<string, string>();
  const deliveries = new Deliveries();
  let checkpoint: string | undefined;
  let manifest: unknown;
  let left = MAX_HEAP_SHARE * getHeapStatistics().heap_size_limit;
  for await (const { name, content } of filesIn(path, onProgress)) {
    left -= FILE_BYTES + name.length + (KEPT.test(name) ? bytesInMemory(content) : 0);
    if (left < 0) fail(invalid, "the archive tells of more than fits into the memory of this process");
    if (digests.has(name)) fail(invalid, `the archive has the file ${JSON.stringify(name)} twice`);
    digests.set(name, sha256Hex(content));
    if (name === "MANIFEST.json") manifest = parseJson(content.toString());
    else if (name === "checkpoint") checkpoint = content.toString();
    else if (/^deliveries(?:-since)?\//.test(name))
      for (const line of linesOf(content)) deliveries.take(line, name.startsWith("deliveries-since/"));
  }
  digests.delete("MANIFEST.json");
  const listed = listedIn(manifest);
  const wrong = [...new Set([...listed.keys(), ...digests.keys()])].filter(
    (name) => listed.get(name) !== digests.get(name),
  );
  if (wrong.length > 0)
    fail(invalid, `${counted(wrong.length, "file is", "files are")} not what the manifest says: ${named(wrong)}`);
  if (checkpoint === undefined) fail(invalid, "the archive has no checkpoint: it proves nothing");
  return { detail: `${counted(digests.size, "file")} as the manifest says`, checkpoint, deliveries };
}

function listedIn(manifest: unknown): Map<string, string> {
  const { files } = (manifest ?? {}) as { files?: unknown };
  if (!Array.isArray(files)) fail(invalid, "the archive has no manifest: it was cut off, or is none of ours");
  return new Map(files.map((file) => [String(file?.path), String(file?.sha256)]));
}

/** Contents of brains' files: those that an archive has, and those that its snapshots name. */
class Contents {
  readonly #shown = new Set<string>();
  readonly #listed = new Set<string>();
  readonly #due = new Set<string>();

  /** Takes up a file, and says whether it is one of these. @throws Problem for one that is not what its name says */
  take(name: string, content: Buffer): boolean {
    const own = /^brain\/([0-9a-f]{64})\.md$/.exec(name)?.[1];
    if (own === undefined) return false;
    const isOwn = sha256Hex(content) === own;
    // Of what was withheld there is an empty file under another digest.
    if (content.length > 0 && !isOwn) fail(invalid, `the content of ${name} is another`);
    if (isOwn) this.#shown.add(own);
    return true;
  }

  /** @param isKept whether what the item names has to be there */
  list({ text }: ExportedItem, isKept: boolean): void {
    const digest = /\0([0-9a-f]{64})$/.exec(text)?.[1];
    if (digest === undefined) return;
    this.#listed.add(digest);
    if (isKept) this.#due.add(digest);
  }

  /** @returns the files that no snapshot names @throws Problem where one is not there */
  judge(): string[] {
    for (const digest of this.#due)
      if (!this.#shown.has(digest)) fail(invalid, `the content of brain/${digest}.md is not there`);
    return Array.from(this.#shown.difference(this.#listed), (digest) => `brain/${digest}.md`);
  }
}

/** Compares what the archive holds of deliveries with what their leaves commit to. @throws Problem */
async function readContents(
  path: string,
  deliveries: Deliveries,
  onProgress: (share: number) => void,
): Promise<{ readonly detail: string }> {
  const contents = new Contents();
  const unproven = new Set<string>();
  for await (const { name, content } of filesIn(path, onProgress)) {
    if (contents.take(name, content)) continue;
    if (!PROVEN.test(name)) unproven.add(name.split("/")[0] ?? name);
    for (const item of itemsIn(name, content)) {
      deliveries.hold(item);
      if (name.startsWith("brain/")) contents.list(item, deliveries.keptContents(item.deliveryId));
    }
  }
  const others = [...unproven, ...contents.judge()];
  const proof = deliveries.judgeContents();
  return { detail: others.length === 0 ? proof : `${proof}; nothing proves ${named(others)}` };
}

/** The items that a file's lines hold; none in others. @throws Problem */
function* itemsIn(name: string, content: Buffer): Generator<ExportedItem> {
  const read = READERS.get(name.split("/")[0] ?? "");
  for (const line of read ? linesOf(content) : [])
    try {
      yield* read?.(line) ?? [];
    } catch (error) {
      if (error instanceof Problem) throw error;
      fail(invalid, `a line of ${name} cannot be read`);
    }
}

/** The files of an archive, each held as a whole. @throws Problem, and whatever reading throws */
async function* filesIn(path: string, onProgress: (share: number) => void): AsyncGenerator<TarFile> {
  const source = createReadStream(path);
  const { size } = statSync(path);
  // What goes wrong with either ends both, and is thrown where the other is read.
  for await (const file of tarFiles(
    pipeline(source, createZstdDecompress(), () => {}),
    MAX_FILE_BYTES,
  )) {
    onProgress(source.bytesRead / size);
    yield file;
  }
}

/** Lines one by one, since there may be very many. */
function* linesOf(content: Buffer): Generator<string> {
  for (let start = 0, end = 0; start < content.length; start = end + 1) {
    end = content.indexOf(10, start);
    if (end === -1) end = content.length;
    if (end > start) yield content.toString("utf8", start, end);
  }
}

const named = (names: readonly string[]) =>
  names
    .slice(0, MAX_NAMED)
    .map((name) => JSON.stringify(name))
    .join(", ") + (names.length > MAX_NAMED ? ", …" : "");
