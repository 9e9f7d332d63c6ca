import { sha256Hex } from "../../kit/hash.ts";
import type { Answer } from "../client.ts";
import type { SnapshotFile } from "./snapshot.ts";

/** The server's contents as they are remembered. */
export interface RememberedContents {
  /** SHA-256 digests, in hexadecimal. */
  readonly stored?: readonly string[];
}

/** A file as it is sent. */
type SentFile = SnapshotFile | { readonly path: string; readonly contentSha256: string };

/** Shorter contents are sent themselves. */
const DIGEST_CHARS = 64;

/**
 * The contents that the server holds of one brain. A file that did not change is named by the digest of its content, unless the server does
 * not say that it understands digests.
 */
export class StoredContents {
  #stored: ReadonlySet<string>;
  #wasAsked = false;

  constructor({ stored = [] }: RememberedContents) {
    this.#stored = new Set(stored);
  }

  /** Files as they are to be sent. */
  named(files: readonly SnapshotFile[]): SentFile[] {
    return files.map((file) => {
      const contentSha256 = sha256Hex(file.content);
      const isNamed = file.content.length > DIGEST_CHARS && this.#stored.has(contentSha256);
      return isNamed ? { path: file.path, contentSha256 } : file;
    });
  }

  /**
   * Learns from the server's answer.
   * @param sent as `named` gave them
   * @returns whether to send the files again, with contents that were only named: first with those that the server asks for, then with all
   */
  learn(answer: Answer, files: readonly SnapshotFile[], sent: readonly SentFile[]): boolean {
    if (answer.kind === "ok") {
      // The server does not say in which files it replaced something: then none counts as stored.
      const areStored = answer.takesDigests && answer.body.redactionHits === 0;
      this.#stored = new Set(areStored ? files.map(({ content }) => sha256Hex(content)) : []);
    }
    if (answer.kind !== "refused" || answer.status !== 400) return false;
    if (!sent.some((file) => "contentSha256" in file)) return false;
    const { missing } = answer.body;
    const needed = Array.isArray(missing) && !this.#wasAsked ? missing.flatMap((place) => digestOf(sent[place])) : [];
    this.#wasAsked = true;
    this.#stored = needed.length > 0 ? this.#stored.difference(new Set(needed)) : new Set();
    return true;
  }

  remembered(): RememberedContents {
    return { stored: [...this.#stored] };
  }
}

const digestOf = (file: SentFile | undefined) => (file && "contentSha256" in file ? [file.contentSha256] : []);
