import type { Core } from "../../core.ts";
import { countTeams } from "../../identity/teams/teams.ts";
import { requireFile } from "../../kit/files.ts";
import { fail, invalid, unavailable } from "../../kit/problem.ts";
import { type Steps, unwatched } from "../../kit/steps.ts";
import { counted } from "../../kit/strings.ts";
import { findDelivery, newestDelivery } from "../../log/log.ts";
import { checkStructure, openCopy, schemaVersion } from "../../platform/store/store.ts";
import { type LedgerHead, verifyLedger } from "./verify-ledger.ts";

/** A copy of the database that another program made: a replica, or SQLite's own. It is a plain database, without our keys. */

/** Steps of what takes as long as a database is large. */
export const [CHECKING, VERIFYING] = ["checking the structure", "verifying the ledger"] as const;

/** What copies are looked at with. */
export type Parts = Pick<Core, "config" | "clock" | "random" | "log">;

export interface CopyFacts {
  readonly schema: number;
  readonly teams: number;
  readonly deliveries: number;
  /** When its newest delivery came, in milliseconds since the epoch; null where it has none. */
  readonly newestAt: number | null;
  /** The log's size and root; null where it has no leaf. */
  readonly head: LedgerHead | null;
}

/** Opens a copy for the work, and closes it. Changes nothing. */
export async function withCopy<T>(
  { config, clock, random, log }: Parts,
  file: string,
  work: (core: Core) => T | Promise<T>,
): Promise<T> {
  const store = openCopy(file);
  try {
    return await work({ config, clock, random, log, store, state: new Map() });
  } finally {
    store.close();
  }
}

/**
 * Reads a copy through and through: that it is ours, its structure, and its ledger against all that it holds. Changes nothing.
 * @param isSound its structure was looked at just before
 * @throws Problem saying what is wrong with it
 */
export async function inspectCopy(
  parts: Parts,
  file: string,
  steps: Steps = unwatched,
  isSound = false,
): Promise<CopyFacts> {
  requireFile(file);
  try {
    return await withCopy(parts, file, (copy) => {
      if (!isSound) {
        steps(CHECKING);
        const damage = checkStructure(copy.store.db, "integrity_check");
        if (damage !== undefined) fail(invalid, `it is damaged (${damage})`);
      }
      const { deliveries, faults, head } = verifyLedger(copy, undefined, steps(VERIFYING));
      const [first] = faults;
      if (first)
        fail(
          invalid,
          `its ledger does not verify: ${counted(faults.length, "fault")}, such as ${first.problem} of delivery ${first.deliveryId}: ${first.detail}`,
        );
      const newest = findDelivery(copy, newestDelivery(copy));
      const { db } = copy.store;
      return {
        schema: schemaVersion(db),
        teams: countTeams(db),
        deliveries,
        newestAt: newest?.receivedAt ?? null,
        head,
      };
    });
  } catch (error) {
    return failToRestore(file, error);
  }
}

/** Says of a backup, or of another copy, why it does not restore. */
export function failToRestore(file: string, error: unknown): never {
  if ((error as { code?: unknown }).code === "SQLITE_CANTOPEN")
    fail(
      unavailable,
      `${file} cannot be opened, which says nothing of what it holds: SQLite puts a file beside one that it reads. Copy it, with the -wal that may lie there, to a folder that can be written`,
    );
  fail(invalid, `${file} cannot be restored: ${(error as Error).message.split("\n")[0]}`);
}
