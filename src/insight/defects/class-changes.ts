import type { Core } from "../../core.ts";
import { onWire } from "../../formats/errors/fingerprint.ts";
import { inBatches, type RowChange } from "../../platform/projections/projections.ts";
import { type ClassFacts, storeClass } from "../triage/triage.ts";
import { pageRows } from "./page-rows.ts";

/** Newest entries of a class that are read; the others are only counted. */
const NEWEST = 20;
const HIGHEST = Buffer.alloc(32, 0xff);

/** The range of whole fingerprints that begin with 8 hexadecimal digits. */
export const classRange = (fingerprint: string): readonly [low: Buffer, high: Buffer] => {
  const low = Buffer.from(fingerprint, "hex");
  return [low, Buffer.concat([low, HIGHEST])];
};

/** Which classes some row changes touch: what their entries come to is stored in the same transaction. */
export class ClassChanges {
  readonly #core: Core;
  readonly #teamId: string;
  /** By class the numbers of entries that it did not have before. */
  readonly #touched = new Map<string, Set<number>>();
  constructor(core: Core, teamId: string) {
    this.#core = core;
    this.#teamId = teamId;
  }

  touch(fingerprint: Buffer): Set<number> {
    return this.#touched.getOrInsert(onWire(fingerprint), new Set());
  }

  join(fingerprint: Buffer, id: number): void {
    this.touch(fingerprint).add(id);
  }

  /** Row changes as functions. Each makes as many as one transaction may hold, and stores the classes that they touched. */
  async *inBatches(changes: Iterable<RowChange>): AsyncGenerator<() => void> {
    for await (const batch of inBatches(changes))
      yield () => {
        // The transaction before may have been undone.
        this.#touched.clear();
        batch();
        for (const [fingerprint, joined] of this.#touched)
          storeClass(this.#core, this.#teamId, fingerprint, factsOf(this.#core, this.#teamId, fingerprint), joined);
      };
  }
}

function factsOf(core: Core, teamId: string, fingerprint: string): ClassFacts | undefined {
  const sql = pageRows(core.store);
  const [low, high] = classRange(fingerprint);
  const all = sql.reposOfClass.all(teamId, low, high);
  if (all.length === 0) return undefined;
  const first = all.reduce((a, b) =>
    b.firstSeen < a.firstSeen || (b.firstSeen === a.firstSeen && b.repoKey > a.repoKey) ? b : a,
  );
  return {
    occurrences: all.reduce((sum, { occurrences }) => sum + occurrences, 0),
    open: all.reduce((sum, { open }) => sum + open, 0),
    ...{ firstSeen: first.firstSeen, firstRepo: first.repoKey },
    repos: all.map(({ repoKey }) => repoKey),
    newest: sql.ofClass.all(teamId, low, high, null, NEWEST),
  };
}
