import type { Core } from "../../core.ts";
import { currentPrices } from "../../insight/spend/spend.ts";
import { DAY_MS, isoInstant, MINUTE_MS } from "../../kit/clock.ts";
import { DataDirectoryError } from "../../kit/errors.ts";
import { counted, shellWord } from "../../kit/strings.ts";
import { timedWalk } from "../../log/log.ts";
import { troubledJobs } from "../../platform/jobs/jobs.ts";
import { isWrapped, listKeys, wrappedKeys } from "../../platform/keys/keys.ts";
import { failures } from "../../platform/projections/projections.ts";
import { CURRENT_SCHEMA, local, schemaVersion } from "../../platform/store/store.ts";
import { lastRuns, openErasures } from "../erasure/erasure.ts";
import { lakeStatus, lakeText } from "../lake/lake.ts";
import { examineInstallers } from "../releases/releases.ts";
import { lastBackupAt } from "./last-backup.ts";
import { lastReplicaCheck, staleReplica } from "./last-replica-check.ts";
import { hasTable } from "./rows.ts";
import { scheduledBackups } from "./scheduled-backup.ts";

export interface Finding {
  readonly check: string;
  readonly status: "ok" | "warning" | "failed";
  readonly detail: string;
}

export function examineSchema({ store }: Core): Finding {
  const check = "schema";
  const version = schemaVersion(store.db);
  if (version === CURRENT_SCHEMA.version) {
    const [first, ...more] = local.declaredOtherwise(store.db);
    if (first === undefined) return { check, status: "ok", detail: `schema ${version}` };
    const others = more.length === 0 ? "" : `, and ${more.length} more`;
    const advice = 'restore a backup from before with "reckon restore"';
    return { check, status: "failed", detail: `somebody altered schema ${version}: ${first}${others}; ${advice}` };
  }
  const detail =
    `schema ${version} of an older Reckon; starting "reckon serve --data ${shellWord(store.directory)}" upgrades it to ` +
    `${CURRENT_SCHEMA.version}, after putting a backup aside`;
  return { check, status: "warning", detail };
}

/** A wrong clock dates what comes, and removes what it should not. */
export function examineClock(core: Core): Finding {
  const wrong = timedWalk.fromFuture(core);
  return { check: "clock", status: wrong ? "warning" : "ok", detail: wrong ?? isoInstant(core.clock.now()) };
}

/** Rows that projections passed over. The record itself is whole; only tables derived from it lack something. */
export function examineDerived(core: Core): Finding {
  const check = "derived tables";
  const [first, ...more] = hasTable(core.store.db, "projection_failures") ? failures(core) : [];
  if (!first) return { check, status: "ok", detail: "no delivery was skipped" };
  const times = [first, ...more].reduce((sum, { count }) => sum + count, 0);
  const at = `${first.name} at ${first.checkpoint} (${isoInstant(first.failedAt)}): ${first.cause}`;
  return { check, status: "warning", detail: `${times} could not be processed and were skipped, such as ${at}` };
}

/** Work in the background that failed when it was tried last; a running server tries it again. */
export function examineJobs(core: Core): Finding {
  const check = "background jobs";
  const [first, ...more] = hasTable(core.store.db, "job_failures") ? troubledJobs(core) : [];
  if (!first) return { check, status: "ok", detail: "none failed" };
  const others = more.length === 0 ? "" : `, and ${more.map(({ job }) => job).join(", ")} as well`;
  return { check, status: "warning", detail: `${first.job} failed (${first.tries}): ${first.cause}${others}` };
}

/** An installer without its file is not offered, but takes nothing from anything else. */
export function examineReleases(core: Core): Finding {
  const check = "installers";
  if (!hasTable(core.store.db, "releases")) return { check, status: "ok", detail: "none" };
  const { missing, leftovers } = examineInstallers(core);
  const details: string[] = [];
  if (missing.length > 0)
    details.push(
      `the file of ${missing.join(", ")} is missing or cut short: put it back into releases/, or remove the release and add it anew`,
    );
  if (leftovers.length > 0)
    details.push(
      `${leftovers.length} in releases/ that no release names, such as ${leftovers[0]}: a copy that was cut short goes with the ` +
        "next start of the server, an installer once it is a day old, and what is none of ours stays",
    );
  if (details.length === 0)
    return { check, status: "ok", detail: "the files of all installers that are served from here are there" };
  return { check, status: "warning", detail: details.join("; ") };
}

/** Prices that cannot be read change no figure that is stored, but every sum that is shown. */
export function examinePrices(core: Core): Finding {
  const check = "prices";
  const { date, overridden, problem } = currentPrices(core);
  if (problem !== null) return { check, status: "warning", detail: `${problem}; the file is not used` };
  return { check, status: "ok", detail: overridden ? `prices.json of ${date}` : `the built-in ones, of ${date}` };
}

/** Nightly runs that did not come, or to an end: a running server makes them. */
export function examineRetention(core: Core): Finding {
  const check = "retention";
  if (!hasTable(core.store.db, "retention_rules")) return { check, status: "ok", detail: "everything is kept" };
  const runs = lastRuns(core);
  const late = runs.find(({ at, completedAt }) => completedAt === null || core.clock.now() - at > 2 * DAY_MS);
  if (late)
    return {
      check,
      status: "warning",
      detail: `the last run of ${late.teamId}, of ${isoInstant(late.at)}, is long ago or not finished`,
    };
  return {
    check,
    status: "ok",
    detail: runs.length === 0 ? "nothing ran yet" : `${counted(runs.length, "team")}, each ran in the last two days`,
  };
}

/** Only of those that the server makes by itself: of copies made otherwise it cannot know. */
export function examineBackups(core: Core): Finding {
  const check = "backups";
  const last = lastBackupAt(core);
  const newest = last === undefined ? "none is noted" : `the newest is of ${isoInstant(last)}`;
  const facts = scheduledBackups(core);
  if (!facts) return { check, status: "ok", detail: `RECKON_BACKUP_EVERY is not set here; ${newest}` };
  const { kept, folder, everyMs, failure } = facts;
  if (failure !== null) return { check, status: "warning", detail: `${failure}; ${newest}` };
  const [first] = kept;
  if (!first || first.at < core.clock.now() - 2 * everyMs)
    return {
      check,
      status: "warning",
      detail: `${first ? "the newest is late" : "none is there yet"} in ${folder}; ${newest}`,
    };
  return { check, status: "ok", detail: `${kept.length} in ${folder}, the newest of ${isoInstant(first.at)}` };
}

/** The last check of the replica, and the keys that are wrapped in the database; empty when there is neither. */
export function examineReplica(core: Core): Finding[] {
  const found: Finding[] = [];
  const last = lastReplicaCheck(core.store.directory);
  if (last) {
    const at = last.goodAt === null ? "it never was well" : `it was well at ${isoInstant(last.goodAt)}`;
    const detail = last.failure === null ? at : `${last.failure}; ${at}`;
    found.push({ check: "replica", status: staleReplica(core) ? "warning" : "ok", detail });
  }
  const wrapped = wrappedKeys(core);
  if (wrapped) {
    const isActive = isWrapped(core, listKeys(core).find(({ retiredAt }) => retiredAt === null)?.kid);
    const detail = isActive
      ? `the active keys, since ${isoInstant(wrapped.wrappedAt)}`
      : 'those in the database are of an earlier key: run "reckon key wrap" again';
    found.push({ check: "wrapped keys", status: isActive ? "ok" : "warning", detail });
  }
  return found;
}

const LATE_MS = DAY_MS / 24;

/** The state of the lake; empty when there never was one. While it cannot be reached, it still holds what was erased here. */
export function examineLake(core: Core): Finding[] {
  const status = hasTable(core.store.db, "lake_places") ? lakeStatus(core) : undefined;
  if (!status) return [];
  const { failure, currentAt, waiting } = status;
  const isLate = (currentAt ?? 0) < core.clock.now() - LATE_MS && Object.values(waiting).some((count) => count > 0);
  const detail = `${failure === null ? "" : `${failure}; `}${lakeText(status)}`;
  return [{ check: "lake", status: failure !== null || isLate ? "warning" : "ok", detail }];
}

/** So long a server may take to clean the files once something was erased. */
const RECLAIMED_WITHIN_MS = 30 * MINUTE_MS;

/** Where room is given back only by a VACUUM, an erased text may stand in the file until then. */
export function examineErasures(core: Core): Finding {
  const check = "erasures";
  const { db } = core.store;
  let unfinished: number;
  try {
    unfinished = openErasures.unfinished(core, hasTable(db, "erasures"));
  } catch (error) {
    if (error instanceof DataDirectoryError) return { check, status: "failed", detail: error.message };
    throw error;
  }
  if (unfinished > 0)
    return {
      check,
      status: "warning",
      detail: `${unfinished} not finished: unless a command is still at work, the next start of the server goes on with them`,
    };
  if (db.pragma("auto_vacuum", { simple: true }) !== 2)
    return {
      check,
      status: "warning",
      detail:
        "the file was made by an older Reckon and is not vacuumed yet: a start with room for a copy of it does that",
    };
  const since = schemaVersion(db) === CURRENT_SCHEMA.version ? openErasures.unreclaimedSince(core) : undefined;
  if (since !== undefined && core.clock.now() - since > RECLAIMED_WITHIN_MS)
    return {
      check,
      status: "warning",
      detail:
        `what was erased at ${isoInstant(since)} may stand in reckon.db and reckon.db-wal still: a server takes it out within two minutes of ` +
        "its start, unless another program reads from them all the time; where that is Litestream, stop it for two minutes meanwhile",
    };
  return { check, status: "ok", detail: "none is unfinished" };
}
