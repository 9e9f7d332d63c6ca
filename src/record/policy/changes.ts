import { isDeepStrictEqual } from "node:util";
import type { Policy } from "./document.ts";

interface FromTo<T> {
  readonly from: T;
  readonly to: T;
}

/** How one policy differs from another; what is the same in both is absent. */
export interface PolicyChange {
  readonly captureMode?: FromTo<Policy["captureMode"]>;
  readonly requireApprovals?: FromTo<boolean>;
  /** Watchlist entries only the later, or only the earlier one has. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Other members of `actions` that differ. */
  readonly actions: readonly string[];
}

/** Compares two policies; members left out count as their defaults. */
export function comparePolicies(before: Policy, after: Policy): PolicyChange {
  const old = new Set(before.watchlist);
  const now = new Set(after.watchlist);
  const approvals = { from: before.actions?.requireApprovals ?? false, to: after.actions?.requireApprovals ?? false };
  const names = new Set([...Object.keys(before.actions ?? {}), ...Object.keys(after.actions ?? {})]);
  names.delete("requireApprovals");
  return {
    ...(before.captureMode === after.captureMode
      ? {}
      : { captureMode: { from: before.captureMode, to: after.captureMode } }),
    ...(approvals.from === approvals.to ? {} : { requireApprovals: approvals }),
    added: [...now].filter((glob) => !old.has(glob)),
    removed: [...old].filter((glob) => !now.has(glob)),
    actions: [...names].filter((name) => !isDeepStrictEqual(before.actions?.[name], after.actions?.[name])),
  };
}
