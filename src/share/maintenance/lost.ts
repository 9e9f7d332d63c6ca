import { teamMoves } from "../../identity/teams/teams.ts";
import { keyIds } from "../../platform/keys/keys.ts";
import { databasePath, openFile, type Preparer } from "../../platform/store/store.ts";
import { type Hold, listHolds } from "../erasure/erasure.ts";
import { lakesIn } from "../lake/lake.ts";

/** What a restore takes back, as far as the database that it replaces tells. */

/** Teams that moved to another instance, and of which what was put in place does not know that. */
export type ServedAgain = readonly { readonly name: string; readonly movedTo: string }[];

/** Holds in force of which what was put in place does not know: what they kept runs out. */
export type HoldsGone = readonly Pick<Hold, "id" | "kind" | "teamId" | "deviceId" | "session" | "reason">[];

/** What was done since what is put in place was made, and has to be done anew. */
export interface Lost {
  readonly servedAgain: ServedAgain;
  readonly holdsGone: HoldsGone;
  /** Signing keys that came by a rotation: an earlier one signs again, which may have been replaced because others have it. */
  readonly keysGone: readonly string[];
  /** The lake of what was put in place, which may hold what came since; null where it has none. */
  readonly lake: string | null;
}

/** What the present database has and the restored one lacks, so that it must be done again. @param incoming the file of the restored database */
export function findLost(directory: string, incoming: string): Lost {
  const lost = <T extends { readonly id: string }>(list: (db: Preparer) => readonly T[]): T[] => {
    const known = new Set(listIn(incoming, list).map(({ id }) => id));
    return listIn(databasePath(directory), list).filter(({ id }) => !known.has(id));
  };
  const keys = lost(keyIds);
  return {
    // A directory of another installation, as where a server was started before, has others altogether.
    keysGone: keys.length < listIn(databasePath(directory), keyIds).length ? keys.map(({ id }) => id) : [],
    // What would be sent to such a team here would never be where it is served.
    servedAgain: lost(teamMoves.of).map(({ name, movedTo }) => ({ name, movedTo })),
    holdsGone: lost(listHolds)
      .filter(({ releasedAt }) => releasedAt === null)
      .map(({ id, kind, teamId, deviceId, session, reason }) => ({ id, kind, teamId, deviceId, session, reason })),
    lake: listIn(incoming, lakesIn)[0] ?? null,
  };
}

/** None where a database is missing or damaged, or from before there were such. */
function listIn<T>(path: string, list: (db: Preparer) => readonly T[]): readonly T[] {
  let db: ReturnType<typeof openFile> | undefined;
  try {
    db = openFile(path, { readonly: true });
    return list(db);
  } catch {
    return [];
  } finally {
    db?.close();
  }
}
