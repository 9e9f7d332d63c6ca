import type { Store } from "../../platform/store/store.ts";
import { FILE } from "./rows.ts";

/** An erasure that is on record here, and is among those that come. */
export interface SharedErasure {
  readonly id: string;
  /** JSON, as each has it. */
  readonly here: string;
  readonly there: string;
}

/** Erasures that stand here and in the attached file, with what each was of in both. */
export const sharedErasures = (db: Store["db"]): SharedErasure[] =>
  db
    .prepare<[], SharedErasure>(
      `SELECT h.id, h.target AS here, t.target AS there FROM ${FILE}.erasures t JOIN main.erasures h ON h.id = t.id ORDER BY h.id`,
    )
    .all();

export const setErasureTarget = (db: Store["db"], id: string, target: string): unknown =>
  db.prepare("UPDATE main.erasures SET target = ? WHERE id = ?").run(target, id);
