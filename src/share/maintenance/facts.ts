import { statfsSync, statSync } from "node:fs";
import type { Core } from "../../core.ts";
import { programVersion } from "../../kit/assets.ts";
import { ledgerHead } from "../../log/log.ts";
import { databasePath } from "../../platform/store/store.ts";

/** What there is to know of where the data lies, at a glance; `examine` looks deeper. */
export interface StorageFacts {
  readonly directory: string;
  readonly databaseBytes: number;
  readonly walBytes: number;
  /** Left on the file system for who runs the program. */
  readonly freeBytes: number;
  readonly schema: number;
  readonly program: string;
  /** The newest delivery; an auditor who notes it can prove later that nothing before it changed. */
  readonly ledgerHead: { readonly id: number; readonly chainSha256: string } | undefined;
}

/** Facts of an open data directory; cheap enough for every view of a page. */
export function storageFacts(core: Core): StorageFacts {
  const { directory, db } = core.store;
  const { bavail, bsize } = statfsSync(directory);
  return {
    directory,
    databaseBytes: statSync(databasePath(directory)).size,
    walBytes: core.store.walBytes(),
    freeBytes: bavail * bsize,
    schema: db.pragma("user_version", { simple: true }) as number,
    program: programVersion(),
    ledgerHead: ledgerHead(core),
  };
}
