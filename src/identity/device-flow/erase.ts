import type { Core } from "../../core.ts";
import { MAX_ERASED_ROWS } from "../../kit/erase-steps.ts";
import { rows } from "./rows.ts";

/**
 * Row change: erases a person's tokens, none of which is accepted any more, and the authorizations that they answered.
 * @returns how many went
 */
export function eraseTokensOf(core: Core, userId: string): number {
  const sql = rows(core.store);
  return sql.dropAuthorizations.run(userId).changes + sql.dropTokens.run(userId, MAX_ERASED_ROWS).changes;
}
