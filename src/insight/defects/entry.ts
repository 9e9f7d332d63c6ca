import type { DefectKind } from "../../formats/brain-kinds.ts";
import type { Entry } from "../../formats/errors/entry.ts";

/** An entry of a team's current brain. */
export interface Defect extends Entry {
  /** Stays while the entry does, whatever of it changes (see `matchEntries`), and is never given to another. */
  readonly id: number;
  readonly repoKey: string;
  readonly path: string;
  readonly kind: DefectKind;
}
