import { deserialize, serialize } from "node:v8";
import * as v from "valibot";
import { collisionKey, judgePath, PATH_SCHEMA } from "../../formats/brain-paths.ts";
import { sha256 } from "../../kit/hash.ts";
import { members } from "../../kit/json.ts";
import { fail, malformed, problem, tooLarge } from "../../kit/problem.ts";
import { Counter, DateTime, either, RepoKey } from "../../platform/http/fields.ts";
import { ownMemory, preparation, type Tools } from "../../platform/http/preparation.ts";
import { lineCounter, redactLongText } from "../../redact/redact.ts";
import type { CaptureMode } from "../policy/policy.ts";
import {
  cleanRepoKey,
  digestOfSent,
  requireAtMost,
  requireWholeNumber,
  type SentDigest,
} from "../sent-body/sent-body.ts";
import { manifestDigest, type ReadyFile, type Snapshot, withheldDigest } from "./snapshot.ts";

export const rawSecret = problem({
  name: "rawSecret",
  status: 422,
  code: "unprocessable",
  message: "A file holds a raw secret. Nothing was stored; redact it and send the snapshot again.",
});

/** Which contents are to be sent again is for programs: `missing`, the places of their files. */
export const contentNeeded = problem({
  name: "contentNeeded",
  status: 400,
  code: "content_needed",
  message:
    "The server does not hold the content of a file that was sent as a digest. Nothing was stored; send the content.",
});

export const BrainSnapshot = v.object({
  version: v.pipe(Counter, v.description("Counts up per device and repository.")),
  files: v.array(
    v.pipe(
      v.object({
        path: v.pipe(
          v.string(),
          v.description("Relative to the repository, folders separated by /; at most 512 bytes of UTF-8."),
          // Judged by `judgePath`, which says what is wrong and of which file.
          v.metadata(PATH_SCHEMA),
        ),
        content: v.optional(v.pipe(v.string(), v.description("Markdown."))),
        contentSha256: v.optional(
          v.pipe(
            v.string(),
            v.regex(/^[0-9a-f]{64}$/, "must be a SHA-256 digest in 64 lower-case hexadecimal digits"),
            v.description("Instead of a `content` that the team's record holds: its SHA-256, in hexadecimal digits."),
          ),
        ),
      }),
      // Judged by `requireSoundFiles`.
      v.metadata(either("content", "contentSha256")),
    ),
  ),
  repoKey: v.optional(RepoKey),
  clientTimestamp: v.optional(DateTime),
});

type SentSnapshot = v.InferOutput<typeof BrainSnapshot>;
type SentFile = SentSnapshot["files"][number];
type WholeFile = SentFile & { readonly content: string };

const isWhole = (file: SentFile): file is WholeFile => file.content !== undefined;

/** What reading a snapshot needs to know of where it came. */
interface SnapshotGiven {
  readonly captureMode: CaptureMode;
  /**
   * Whether contents that the team holds may be named by digest. Not by those who are told nothing of the team: the answer would say
   * whether it holds one.
   */
  readonly mayName: boolean;
  readonly maxFiles: number;
  readonly maxFileBytes: number;
  readonly maxSnapshotBytes: number;
}

/** What is asked of the store while a snapshot is read: SHA-256 digests in hexadecimal, by which contents are addressed. */
export type KnownQuestion = readonly string[];
/** For each of them the content that is held already and was scanned with today's rules. */
export type KnownAnswer = readonly (KnownFile | undefined)[];
export interface KnownFile extends Pick<Required<ReadyFile>, "blobId" | "bytes"> {
  /** Whether its text is not kept: it is addressed by other than that. */
  readonly isWithheld: 0 | 1;
}

/** A snapshot ready to be stored. */
export interface ReadySnapshot extends Snapshot {
  readonly captureMode: CaptureMode;
  readonly repoKey: string;
  /** Of the body. */
  readonly sent: SentDigest;
  /** Of its files, by what they are addressed by. */
  readonly digest: Buffer;
  /** Files of which the content was left out; all of them where nothing may be kept. */
  readonly withheld: number;
}

/** Makes a brain snapshot ready: nothing is done to a file that is held already. */
export const readSnapshot = preparation({
  name: "brain",
  schema: BrainSnapshot,
  run: prepare,
  pack(snapshot) {
    const made = serialize(snapshot);
    return { made, transfer: ownMemory(made) };
  },
  unpack: (made: Uint8Array): ReadySnapshot => deserialize(made),
});

/** @throws Problem malformed (400), contentNeeded (400), tooLarge (413), rawSecret (422) */
async function prepare(
  sent: SentSnapshot,
  text: string,
  given: SnapshotGiven,
  { yieldNow, sent: body, ask }: Tools,
): Promise<ReadySnapshot> {
  const { captureMode } = given;
  requireWholeNumber(text, members(text), "version", 'In the body, "version"');
  requireSoundFiles(given, sent.files);
  const { version, clientTimestamp = null } = sent;
  const repoKey = cleanRepoKey(sent.repoKey);
  const known = { captureMode, repoKey, version, clientTimestamp, sent: digestOfSent(body) };
  if (captureMode === "off") {
    const none = { files: [], bytes: 0, redactionHits: 0, redactedFiles: 0 };
    return { ...known, ...none, digest: manifestDigest([]), withheld: sent.files.length };
  }
  const isMetadataOnly = captureMode === "metadata";
  const addressed: Addressed[] = [];
  for (const file of sent.files) {
    await yieldNow();
    addressed.push(addressOf(file, isMetadataOnly));
  }
  const stored = (await ask(addressed.map((one) => one.sha256.toString("hex")))) as KnownAnswer;
  requireHeld(given, sent.files, stored);
  const cleaner = new Cleaner(yieldNow);
  const files: ReadyFile[] = [];
  for (const [i, file] of sent.files.entries()) {
    await yieldNow();
    files.push(await cleaner.clean(i, file, addressed[i] as Addressed, stored[i], isMetadataOnly));
  }
  cleaner.requireNoSecrets();
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return {
    ...known,
    files,
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    redactionHits: cleaner.redactionHits,
    redactedFiles: cleaner.redactedFiles,
    digest: manifestDigest(files),
    withheld: isMetadataOnly ? sent.files.filter(({ content }) => content !== "").length : 0,
  };
}

/** The digest under which a file's content is stored. Withheld content is addressed by digest and size, because only those are kept of it. */
function addressOf(file: SentFile, isMetadataOnly: boolean): Addressed {
  const contentSha256 = isWhole(file) ? sha256(file.content) : Buffer.from(file.contentSha256 ?? "", "hex");
  if (!isMetadataOnly) return { contentSha256, sha256: contentSha256 };
  const key = isWhole(file) ? withheldDigest(contentSha256, Buffer.byteLength(file.content)) : Buffer.alloc(0);
  return { contentSha256, sha256: key };
}

/** @throws Problem contentNeeded (400); tooLarge (413) where what is held makes them too many bytes */
function requireHeld(
  { mayName, maxSnapshotBytes }: SnapshotGiven,
  files: readonly SentFile[],
  stored: KnownAnswer,
): void {
  if (files.every(isWhole)) return;
  const missing = files.flatMap((file, i) => (isWhole(file) || (mayName && stored[i]?.isWithheld === 0) ? [] : [i]));
  if (missing.length > 0) {
    const first = named(files[missing[0] as number]?.path);
    const message = `The team's record lacks contents that are named by a digest (${missing.length}; the first is of ${first}). Nothing was stored; send them.`;
    fail(contentNeeded, { message, members: { missing } });
  }
  const sizes = files.map((file, i) => (isWhole(file) ? Buffer.byteLength(file.content) : (stored[i]?.bytes ?? 0)));
  requireSmall(
    maxSnapshotBytes,
    sizes.reduce((sum, bytes) => sum + bytes, 0),
  );
}

/** @throws Problem tooLarge (413) */
function requireSmall(most: number, total: number): void {
  if (total > most) fail(tooLarge, `The files have ${total} bytes together; at most ${most} are taken.`);
}

type Addressed = Pick<ReadyFile, "sha256" | "contentSha256">;

const named = (path = "") => JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);

function requireSoundFiles(given: SnapshotGiven, files: readonly SentFile[]): void {
  requireAtMost(given.maxFiles, files.length, ["snapshot", "files"]);
  const seen = new Map<string, number>();
  let total = 0;
  files.forEach((file, i) => {
    const { path } = file;
    const wrong = judgePath(path);
    if (wrong) fail(malformed, `The path of file ${i} ${wrong}.`);
    const twin = seen.get(collisionKey(path));
    if (twin !== undefined)
      fail(
        malformed,
        `Files ${twin} and ${i} have paths that are the same but for case or Unicode form: ${named(files[twin]?.path)} and ${named(path)}.`,
      );
    seen.set(collisionKey(path), i);
    if (!isWhole(file)) {
      if (file.contentSha256 === undefined) fail(malformed, `In the body, "files.${i}.content" is missing.`);
      return;
    }
    const { content } = file;
    if (!content.isWellFormed()) fail(malformed, `The content of file ${i} holds a lone surrogate.`);
    const bytes = Buffer.byteLength(content);
    if (bytes > given.maxFileBytes)
      fail(tooLarge, `File ${i} has ${bytes} bytes; at most ${given.maxFileBytes} are taken.`);
    total += bytes;
  });
  requireSmall(given.maxSnapshotBytes, total);
}

/** Findings named in a refusal; one is enough to refuse, the others save a round trip each. */
const MAX_NAMED = 50;

/** Scans what is new, and replaces likely secrets. */
class Cleaner {
  redactionHits = 0;
  redactedFiles = 0;
  readonly #secrets: string[] = [];
  readonly #yieldNow: () => Promise<void> | undefined;

  constructor(yieldNow: () => Promise<void> | undefined) {
    this.#yieldNow = yieldNow;
  }

  /** @param stored its content, if it is held already */
  async clean(
    i: number,
    { path: sentPath, content = "" }: SentFile,
    addressed: Addressed,
    stored: KnownAnswer[number],
    isMetadataOnly: boolean,
  ): Promise<ReadyFile> {
    const path = await this.#replace(sentPath, (_line, rule) => `the path of file ${i} (${rule})`);
    if (stored) return { path, ...addressed, blobId: stored.blobId, bytes: stored.bytes };
    const text = await this.#replace(content, (line, rule) => `${path} line ${line} (${rule})`);
    if (text !== content) this.redactedFiles++;
    const contentSha256 = text === content ? addressed.contentSha256 : sha256(text);
    const bytes = Buffer.byteLength(text);
    return isMetadataOnly
      ? { path, sha256: withheldDigest(contentSha256, bytes), contentSha256, bytes, content: "" }
      : { path, sha256: contentSha256, contentSha256, bytes, content: text };
  }

  async #replace(text: string, name: (line: number, rule: string) => string): Promise<string> {
    const redacted = await redactLongText(text, this.#yieldNow);
    const lineAt = lineCounter(text);
    for (const { rule, strength, start } of redacted.findings)
      if (strength === "certain") this.#secrets.push(name(lineAt(start), rule));
    this.redactionHits += redacted.findings.length;
    return redacted.text;
  }

  /** @throws Problem rawSecret (422) where one is certain */
  requireNoSecrets(): void {
    if (this.#secrets.length === 0) return;
    const unnamed = this.#secrets.length - MAX_NAMED;
    const more = unnamed > 0 ? `; and ${unnamed} more` : "";
    fail(
      rawSecret,
      `Raw secret in ${this.#secrets.slice(0, MAX_NAMED).join(", ")}${more}. Nothing was stored; redact and send the snapshot again.`,
    );
  }
}
