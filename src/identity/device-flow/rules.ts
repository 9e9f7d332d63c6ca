import type { AuthorizationRow } from "./rows.ts";

/** Where an authorization stands for the tool that polls it. `over` is denied or redeemed. */
export type Standing = "unknown" | "over" | "expired" | "pending" | "approved";

/** What was decided outranks time: a denial stays one after the code expired. An approval that nobody fetched expires. */
export function judgeAuthorization(
  found: Pick<AuthorizationRow, "status" | "expiresAt"> | undefined,
  now: number,
): Standing {
  if (!found) return "unknown";
  if (found.status === "denied" || found.status === "redeemed") return "over";
  return found.expiresAt <= now ? "expired" : found.status;
}
