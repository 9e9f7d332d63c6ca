import { promisify } from "node:util";
import { constants, zstdCompress, zstdCompressSync, zstdDecompress, zstdDecompressSync } from "node:zlib";

/** How blocks are compressed, zstd (RFC 8878). */
const BLOCK_OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 9, [constants.ZSTD_c_checksumFlag]: 1 } };
/** No block holds more: a few bytes that somebody else packed may unpack to gigabytes. */
export const MAX_UNPACKED_BYTES = 64 * 1024 * 1024;
const UNPACK_OPTIONS = { maxOutputLength: MAX_UNPACKED_BYTES };
const compress = promisify<Buffer, typeof BLOCK_OPTIONS, Buffer>(zstdCompress);
const decompress = promisify<Buffer, typeof UNPACK_OPTIONS, Buffer>(zstdDecompress);

const NOT_BACK = "a compressed block does not give back its texts";

/** Compresses texts on another thread, and decompresses them to be sure. @throws Error when the result differs */
export async function compressBlock(texts: Buffer): Promise<Buffer> {
  const content = await compress(texts, BLOCK_OPTIONS);
  if (!(await decompress(content, UNPACK_OPTIONS)).equals(texts)) throw new Error(NOT_BACK);
  return content;
}

/** As `compressBlock`, but on the event loop: for small texts only. @throws Error likewise */
export function compressBlockNow(texts: Buffer): Buffer {
  const content = zstdCompressSync(texts, BLOCK_OPTIONS);
  if (!unpackBlock(content).equals(texts)) throw new Error(NOT_BACK);
  return content;
}

/** @throws Error where it is damaged, or holds more than any block */
export const unpackBlock = (content: Buffer): Buffer => zstdDecompressSync(content, UNPACK_OPTIONS);

/** Bytes of memory for cached texts, and what each takes besides. Whoever reads one text of a block mostly reads its neighbours, too. */
const MAX_KEPT_BYTES = 16 * 1024 * 1024;
const BYTES_BESIDE = 512;

/** The texts of the blocks that were read last, by the block's number. The content under a number never changes. */
export class BlockCache {
  #bytes = 0;
  readonly #texts = new Map<number, Buffer>();

  /**
   * @param contentOf reads a block's compressed content
   * @returns an empty buffer when the block is missing or damaged, which verifying reports
   */
  texts(id: number, contentOf: (id: number) => Buffer | undefined): Buffer {
    const known = this.#texts.get(id);
    const texts = known ?? openBlock(contentOf(id));
    if (known) this.#texts.delete(id);
    else this.#bytes += texts.length + BYTES_BESIDE;
    this.#texts.set(id, texts);
    for (const [oldest, { length }] of this.#texts) {
      if (this.#bytes <= MAX_KEPT_BYTES || oldest === id) break;
      this.#texts.delete(oldest);
      this.#bytes -= length + BYTES_BESIDE;
    }
    return texts;
  }
}

function openBlock(content: Buffer | undefined): Buffer {
  try {
    // Copied into memory of its own: a small buffer of zlib or Node is a part of an allocation of 64 KiB, which would stay as a whole.
    return content ? Buffer.from(new Uint8Array(unpackBlock(content)).buffer) : Buffer.alloc(0);
  } catch {
    return Buffer.alloc(0);
  }
}
