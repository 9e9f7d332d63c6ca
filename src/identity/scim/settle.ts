import type { Core } from "../../core.ts";
import { MINUTE_MS } from "../../kit/clock.ts";
import type { Actor } from "../../platform/audit/audit.ts";
import type { Job } from "../../platform/jobs/jobs.ts";
import { directoryRecords } from "../directory/directory.ts";
import { syncMemberships } from "../members/members.ts";
import { getUser } from "../people/people.ts";
import { findIssuer, rolesBy } from "../sso/sso.ts";
import { provisioning } from "./scope.ts";

/** People whose memberships are settled in one transaction: others get their turn between. */
const BATCH = 20;

/**
 * Brings the memberships of an issuer's people in line with their groups, for people whose groups changed. If the process ends, the rest
 * stays marked.
 */
export async function settleTeams(core: Core, issuerId: string, by?: Actor): Promise<void> {
  let count: number;
  do {
    count = await core.store.write(() => {
      const issuer = findIssuer(core, issuerId);
      if (!issuer) return 0;
      const batch = directoryRecords.pending(core, issuerId, BATCH);
      for (const { id, userId } of batch) {
        const roles = rolesBy(issuer, directoryRecords.groupNames(core, id));
        syncMemberships(core, getUser(core, userId), issuerId, roles, by ?? provisioning(issuer, null));
        directoryRecords.setPending(core, id, false);
      }
      return batch.length;
    });
  } while (count === BATCH);
}

/** Finishes what an ended process left, and settles memberships after the meaning of an issuer's groups changed. */
export const settleJob: Job = {
  name: "scim-teams",
  everyMs: MINUTE_MS,
  async run(core) {
    for (const issuerId of directoryRecords.pendingIssuers(core)) await settleTeams(core, issuerId);
  },
};
