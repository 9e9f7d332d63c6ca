import { createWriteStream, existsSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdCompress } from "node:zlib";
import type { Core } from "../../core.ts";
import { programVersion } from "../../kit/assets.ts";
import { isoInstant } from "../../kit/clock.ts";
import { syncDirectory, syncFile } from "../../kit/files.ts";
import { sha256 } from "../../kit/hash.ts";
import { conflict, fail, invalid } from "../../kit/problem.ts";
import { TAR_END, tarMember } from "../../kit/tar.ts";
import { cooperative } from "../../kit/yield.ts";
import { type Actor, COMMAND_LINE, recordAct } from "../../platform/audit/audit.ts";
import { ledgerVerifierKey } from "../../platform/transparency/transparency.ts";
import { partsOf } from "./parts.ts";
import type { ExportScope } from "./scope.ts";

/** Where a file of lines is cut: what an archive holds in memory at once. */
const MAX_FILE_CHARS = 8 * 1024 * 1024;

interface ManifestFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface ExportResult {
  readonly file: string;
  readonly bytes: number;
  readonly files: number;
  /** The digest of `MANIFEST.json`, which has those of all other files: note it to prove later that nothing was changed. */
  readonly manifestSha256: string;
}

/**
 * Writes everything of a scope into a tar archive, compressed with Zstandard (RFC 8878), file by file; the last is `MANIFEST.json`.
 * It is not of one instant: what arrives meanwhile may be in it or not.
 * @param onFile told with each file how many there are
 * @throws Problem when the file exists or has no place
 */
export async function exportArchive(
  core: Core,
  scope: ExportScope,
  target: string,
  onFile: (files: number) => void = () => {},
  by: Actor = COMMAND_LINE,
): Promise<ExportResult> {
  const file = resolve(target);
  if (existsSync(file)) fail(conflict, `${file} exists already; an export never overwrites one`);
  if (!statSync(dirname(file), { throwIfNoEntry: false })?.isDirectory())
    fail(invalid, `${dirname(file)} is no directory`);
  const { kind, teams, person, repoKey } = scope;
  await recordAct(core, by, {
    action: "record.exported",
    teamId: teams.length === 1 && !person ? (teams[0]?.teamId ?? null) : null,
    target: {
      kind,
      id: person?.id ?? teams[0]?.teamId ?? null,
      label: person?.email ?? repoKey ?? teams[0]?.name ?? kind,
    },
  });
  const partial = `${file}.partial`;
  const archive = new Archive(core.clock.now(), onFile);
  try {
    await pipeline(
      Readable.from(archive.chunks(core, scope), { objectMode: false }),
      createZstdCompress(),
      createWriteStream(partial, { mode: 0o600 }),
    );
    syncFile(partial);
    renameSync(partial, file);
    syncDirectory(dirname(file));
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
  const { files, manifestSha256 } = archive;
  return { file, bytes: statSync(file).size, files: files.length, manifestSha256 };
}

class Archive {
  readonly files: ManifestFile[] = [];
  manifestSha256 = "";
  readonly #at: number;
  readonly #onFile: (files: number) => void;
  constructor(at: number, onFile: (files: number) => void) {
    this.#at = at;
    this.#onFile = onFile;
  }

  /** The archive, a piece at a time. */
  async *chunks(core: Core, scope: ExportScope): AsyncGenerator<Uint8Array> {
    const yieldNow = cooperative(core.clock);
    const open = new Map<string, { texts: string[]; chars: number; count: number }>();
    const cut = (name: string) => {
      const lines = open.get(name);
      if (!lines || lines.chars === 0) return [];
      const content = lines.texts.join("");
      const path = `${name}/${String(++lines.count).padStart(5, "0")}.jsonl`;
      lines.texts = [];
      lines.chars = 0;
      return this.#file(path, content);
    };
    for await (const part of partsOf(core, scope)) {
      await yieldNow();
      if ("file" in part) yield* this.#file(part.file, part.content);
      else {
        const lines = open.get(part.lines) ?? { texts: [], chars: 0, count: 0 };
        open.set(part.lines, lines);
        lines.texts.push(part.text);
        lines.chars += part.text.length;
        if (lines.chars >= MAX_FILE_CHARS) yield* cut(part.lines);
      }
    }
    for (const name of open.keys()) yield* cut(name);
    yield* this.#manifest(core, scope);
    yield TAR_END;
  }

  async *#file(path: string, text: string): AsyncGenerator<Uint8Array> {
    const content = Buffer.from(text);
    this.files.push({ path, bytes: content.length, sha256: sha256(content).toString("hex") });
    this.#onFile(this.files.length);
    yield await tarMember(path, content, this.#at);
  }

  async *#manifest(core: Core, { kind, teams, repoKey, person }: ExportScope): AsyncGenerator<Uint8Array> {
    const manifest = {
      version: 1,
      madeAt: isoInstant(this.#at),
      program: programVersion(),
      scope: {
        kind,
        repoKey,
        personId: person?.id ?? null,
        teams: teams.map(({ teamId, name }) => ({ teamId, name })),
      },
      /** What the file `checkpoint` is verified with. */
      ledgerKey: ledgerVerifierKey(core) ?? null,
      files: [...this.files],
    };
    const text = `${JSON.stringify(manifest, null, 2)}\n`;
    this.manifestSha256 = sha256(text).toString("hex");
    yield* this.#file("MANIFEST.json", text);
  }
}
