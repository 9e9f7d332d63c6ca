import type { Core } from "../../core.ts";
import { inHashSlices } from "../../kit/hash-slices.ts";
import { rows } from "./rows.ts";

/** So many entries of a repository are read at once. */
const AT_ONCE = 2_000;

type Statements = ReturnType<typeof rows>;

/**
 * Reads entries of a team's errors files, or of one of its repositories, in pieces where there are many: none holds others up.
 * @param most of each piece
 */
export async function readErrors<Name extends "totals" | "open" | "classes">(
  core: Core,
  name: Name,
  { teamId, repoKey, most = 1 }: { readonly teamId: string; readonly repoKey: string | undefined; most?: number },
): Promise<ReturnType<Statements[Name]["ofSlice"]["all"]>[number][]> {
  type Row = ReturnType<Statements[Name]["ofSlice"]["all"]>[number];
  const sql = rows(core.store);
  const { ofRepo, ofSlice } = sql[name];
  const range = { teamId, repoKey: repoKey ?? null, most };
  const [held] = sql.entries(teamId, repoKey);
  if (repoKey !== undefined && (held?.entries ?? 0) <= AT_ONCE) return ofRepo.all(range) as Row[];
  return inHashSlices(core.clock, (slice) => ofSlice.all({ ...range, ...slice }) as Row[]);
}
