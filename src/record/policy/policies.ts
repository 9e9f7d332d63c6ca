import { isDeepStrictEqual } from "node:util";
import type { Core } from "../../core.ts";
import { makers } from "../../identity/people/people.ts";
import { fail, problem } from "../../kit/problem.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { comparePolicies } from "./changes.ts";
import { DEFAULT_POLICY, type Policy } from "./document.ts";
import { forgetCaptureMode } from "./mode.ts";
import { rows, type VersionRow } from "./rows.ts";

/** A policy as it was put in force. */
export interface PolicyVersion {
  /** 0 for the default, which nobody put in force. */
  readonly id: number;
  readonly policy: Policy;
  readonly createdAt: number | null;
  readonly createdBy: string | null;
}

/** What a team has that never set a policy. */
export const DEFAULT_VERSION: PolicyVersion = { id: 0, policy: DEFAULT_POLICY, createdAt: null, createdBy: null };

export const versionOf = (core: Core, { document, createdBy, ...row }: VersionRow): PolicyVersion => ({
  ...row,
  createdBy: createdBy && makers.called(core, createdBy),
  policy: JSON.parse(document) as Policy,
});

/** The policy in force for a team, with who put it in force and when. */
export function currentVersion(core: Core, teamId: string): PolicyVersion {
  const stored = rows(core.store).current.get(teamId);
  return stored ? versionOf(core, stored) : DEFAULT_VERSION;
}

/** The policy in force for a team. */
export function currentPolicy(core: Core, teamId: string): Policy {
  return currentVersion(core, teamId).policy;
}

/** What a change was made from. */
export interface Basis {
  /** The version it was made from: another one in force by now refuses it. */
  readonly basedOn?: number | undefined;
  /** The version that is brought back. */
  readonly restores?: number | undefined;
}

/** Somebody else put a policy in force meanwhile. */
export const newerPolicy = problem({
  name: "newerPolicy",
  status: 409,
  code: "newer_policy",
  message: "Somebody changed the policy meanwhile. Look at what is in force now, then decide again.",
});

/**
 * Puts a policy in force; the earlier ones stay as history.
 * @returns false when the very same one was in force already: then nothing is stored
 * @throws Problem newerPolicy
 */
export function setPolicy(
  core: Core,
  teamId: string,
  policy: Policy,
  by: Actor,
  { basedOn, restores }: Basis = {},
): Promise<boolean> {
  return core.store.write(() => {
    const before = currentVersion(core, teamId);
    // The default may change with a new release; a policy that was set stays. A change that is sent twice is in force already.
    if (before.id !== 0 && isDeepStrictEqual(before.policy, policy)) return false;
    if (basedOn !== undefined && basedOn !== before.id) fail(newerPolicy);
    const { lastInsertRowid } = rows(core.store).insert.run(
      ...[teamId, JSON.stringify(policy), core.clock.now(), makers.of(by)],
    );
    forgetCaptureMode(core, teamId);
    const { captureMode, requireApprovals, added, removed, actions } = comparePolicies(before.policy, policy);
    recordEvent(core, by, {
      action: restores === undefined ? "policy.changed" : "policy.restored",
      teamId,
      target: { kind: "policy", id: String(lastInsertRowid) },
      detail: {
        ...(captureMode && { captureMode }),
        ...(requireApprovals && { requireApprovals }),
        ...(added.length > 0 && { watchlistAdded: added.length }),
        ...(removed.length > 0 && { watchlistRemoved: removed.length }),
        ...(actions.length > 0 && { actions: actions.slice(0, 20) }),
        ...(restores !== undefined && { restored: restores }),
      },
    });
    return true;
  });
}
