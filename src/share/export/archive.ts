import { pipeline, Readable } from "node:stream";
import { createZstdCompress } from "node:zlib";
import type { Core } from "../../core.ts";
import { programVersion } from "../../kit/assets.ts";
import { isoInstant } from "../../kit/clock.ts";
import { sha256Hex } from "../../kit/hash.ts";
import { TAR_END, tarMember } from "../../kit/tar.ts";
import { cooperative } from "../../kit/yield.ts";
import { type Actor, type Event, recordAct } from "../../platform/audit/audit.ts";
import { ledgerKeys } from "../../platform/transparency/transparency.ts";
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
  readonly bytes: number;
  readonly files: number;
  /** The digest of `MANIFEST.json`, which has those of all other files: note it to prove later that nothing was changed. */
  readonly manifestSha256: string;
}

/**
 * Writes everything of a scope into a tar archive, compressed with Zstandard (RFC 8878), file by file; the last is `MANIFEST.json`.
 * It is not of one instant: what arrives meanwhile may be in it or not.
 * @param write puts it somewhere, as it comes; returns how many bytes it was
 * @param onFile told with each file how many there are
 */
export async function exportArchive(
  core: Core,
  scope: ExportScope,
  write: (archive: AsyncIterable<Uint8Array>) => Promise<number>,
  by: Actor,
  onFile: (files: number) => void = () => {},
): Promise<ExportResult> {
  const archive = new Archive(core.clock.now(), onFile);
  const content = async function* () {
    // On record before the first byte is anywhere.
    await recordAct(core, by, actOf(scope));
    yield* archive.chunks(core, scope);
  };
  const source = Readable.from(content(), { objectMode: false });
  // What goes wrong is what reads of the last stream meet.
  const bytes = await write(pipeline(source, createZstdCompress(), () => {}));
  const { files, manifestSha256 } = archive;
  return { bytes, files: files.length, manifestSha256 };
}

const actOf = ({ kind, teams, person, repoKey }: ExportScope): Event => ({
  action: "record.exported",
  teamId: teams.length === 1 && !person ? (teams[0]?.teamId ?? null) : null,
  target: {
    kind,
    id: person?.id ?? teams[0]?.teamId ?? null,
    label: person?.email ?? repoKey ?? teams[0]?.name ?? kind,
  },
});

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
        const lines = open.getOrInsertComputed(part.lines, () => ({ texts: [], chars: 0, count: 0 }));
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
    this.files.push({ path, bytes: content.length, sha256: sha256Hex(content) });
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
      ledgerKey: ledgerKeys.vkey(core) ?? null,
      files: [...this.files],
    };
    const text = `${JSON.stringify(manifest, null, 2)}\n`;
    this.manifestSha256 = sha256Hex(text);
    yield* this.#file("MANIFEST.json", text);
  }
}
