import type { Factor } from "./rank.ts";

/** A pack by the version that everybody is told to install, as everybody sees it. Instants are milliseconds since the epoch. */
export interface PackEntry {
  readonly id: string;
  /** A slug, unique in the installation; names the pack in addresses and folders. */
  readonly name: string;
  readonly title: string;
  /** One line. */
  readonly summary: string;
  /** An SPDX identifier, or the publisher's own words. */
  readonly license: string;
  /** Lower-case slugs, e.g. `typescript`; at most ten. */
  readonly tags: readonly string[];
  readonly publisher: { readonly name: string; readonly verified: boolean };
  readonly featured: boolean;
  /** The newest stable version (semver.org 2.0.0); a pre-release only where there is nothing else. */
  readonly version: string;
  /** Prevention rules that its files hold. */
  readonly rules: number;
  readonly files: number;
  /** Size of the archive. */
  readonly bytes: number;
  /** Of the archive, lower-case hexadecimal. */
  readonly sha256: string;
  /** Distinct devices that downloaded it with their token. */
  readonly installs: number;
  /** Those of them in the last fourteen days. */
  readonly recentInstalls: number;
  /** Trust, 0 to 100: the sum of the points in `why`. */
  readonly rank: number;
  readonly why: readonly Factor[];
  /** When its first version was published, and the one that is offered. */
  readonly createdAt: number;
  readonly publishedAt: number;
}

/** A file in a pack's archive, by its path below the archive's one folder. */
export interface PackFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

interface PackVersion {
  readonly version: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly files: number;
  readonly rules: number;
  readonly publishedAt: number;
  /** Why it is not handed out, continuing "It is not handed out: "; null when it is. */
  readonly withheld: string | null;
}

/** A pack with what its own page shows. */
export interface Pack extends PackEntry {
  /** Markdown of the version that is offered; untrusted, render it with `renderMarkdown` of kit. */
  readonly readme: string;
  readonly contents: readonly PackFile[];
  /** Pre-releases too, last published first. */
  readonly versions: readonly PackVersion[];
}

export interface FoundPacks {
  /** By rank, best first, ties by name. */
  readonly entries: readonly PackEntry[];
  /** All that match, whatever the limit. */
  readonly total: number;
}
