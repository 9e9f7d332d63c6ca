import { existsSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Core } from "../../core.ts";
import { programVersion } from "../../kit/assets.ts";
import { isWindows } from "../../kit/files.ts";
import { type Steps, unwatched } from "../../kit/steps.ts";
import { counted } from "../../kit/strings.ts";
import { ensureSigningKey, hasSigningKey, keyFaults } from "../../platform/keys/keys.ts";
import { BESIDE, checkStructure, damageAdvice, databasePath, schemaVersion } from "../../platform/store/store.ts";
import { ledgerKeys, type TreeHead, treeHead } from "../../platform/transparency/transparency.ts";
import { CHECKING, VERIFYING } from "./copies.ts";
import {
  examineBackups,
  examineClock,
  examineDerived,
  examineErasures,
  examineJobs,
  examineLake,
  examinePrices,
  examineReleases,
  examineReplica,
  examineRetention,
  examineSchema,
  type Finding,
} from "./findings.ts";
import { verifyLedger } from "./verify-ledger.ts";

const LOW_SPACE_BYTES = 512 * 1024 * 1024;

/** Examines an open data directory, of an older schema too, without changing it. */
export async function examine(core: Core, steps: Steps = unwatched): Promise<Finding[]> {
  const { db, directory } = core.store;
  const findings: Finding[] = [];
  const add = (check: string, status: Finding["status"], detail: string) => findings.push({ check, status, detail });

  steps(CHECKING);
  const damage = checkStructure(db, "integrity_check");
  if (damage !== undefined) {
    add("structure", "failed", damageAdvice(directory, damage));
    // Whatever else is asked of it may fail, or be answered wrongly.
    return findings;
  }
  add("structure", "ok", "the database file is sound");
  findings.push(examineSchema(core));
  steps("checking references");
  const orphans = db.pragma("foreign_key_check") as { readonly table: string }[];
  const [orphan] = orphans;
  const gone = `${orphans.length} rows refer to rows that are gone, such as one of ${orphan?.table}`;
  if (orphan) add("references", "failed", damageAdvice(directory, gone));
  else add("references", "ok", "every row's references hold");

  if (isOpen(directory)) add("directory", "warning", `others can reach the data directory: chmod 700 ${directory}`);
  else if (!isWindows) add("directory", "ok", "only its owner can read the data directory");
  findings.push(await examineKey(core), examineLogKey(core), examinePrices(core));

  const { bavail, bsize } = statfsSync(directory);
  const free = bavail * bsize;
  add("space", free < LOW_SPACE_BYTES ? "warning" : "ok", `${Math.floor(free / 1048576)} MiB free`);
  const wal = core.store.walBytes();
  add("write-ahead log", wal > core.config.maxWalBytes ? "warning" : "ok", `${Math.floor(wal / 1024)} KiB`);

  const ledger = verifyLedger(core, undefined, steps(VERIFYING));
  const first = ledger.faults[0];
  if (first)
    add(
      "ledger",
      "failed",
      `${counted(ledger.faults.length, "fault")} in ${ledger.deliveries} deliveries, such as ${first.problem} of delivery ${first.deliveryId}: ` +
        `${first.detail}; "reckon ledger verify" names all`,
    );
  else add("ledger", "ok", counted(ledger.deliveries, "delivery verifies", "deliveries verify"));
  findings.push(
    examineClock(core),
    examineDerived(core),
    examineJobs(core),
    examineReleases(core),
    examineErasures(core),
    examineRetention(core),
    examineBackups(core),
    ...examineReplica(core),
    ...examineLake(core),
  );
  return findings;
}

/** Whether others may reach a path. On Windows modes do not say that. */
const isOpen = (path: string): boolean => !isWindows && (statSync(path).mode & 0o077) !== 0;

async function examineKey(core: Core): Promise<Finding> {
  const check = "signing key";
  if (core.config.signing === "off") return { check, status: "ok", detail: "signing is off" };
  if (!hasSigningKey(core)) return { check, status: "ok", detail: "none yet; the first start makes it" };
  try {
    const key = await ensureSigningKey(core);
    // Those of retired keys, too: licences that they signed are verified with them.
    const [fault] = keyFaults(core);
    if (fault) return { check, status: "failed", detail: fault.detail };
    const path = join(core.store.directory, BESIDE.key);
    if (existsSync(path) && isOpen(path))
      return { check, status: "warning", detail: `others can read the key: chmod 600 ${path}` };
    return { check, status: "ok", detail: `key ${key.kid}` };
  } catch (error) {
    return { check, status: "failed", detail: (error as Error).message };
  }
}

function examineLogKey(core: Core): Finding {
  const check = "ledger key";
  const problem = ledgerKeys.problem(core);
  if (!problem) return { check, status: "ok", detail: "the one that signs the log" };
  const path = join(core.store.directory, BESIDE.ledgerKey);
  const detail = `${path} ${problem}: put back the file from your backup before the server starts. Under another what was signed before does not verify`;
  return { check, status: "failed", detail };
}

/** What there is to know of where the data lies, at a glance; `examine` looks deeper. */
export interface StorageFacts {
  readonly directory: string;
  readonly databaseBytes: number;
  readonly walBytes: number;
  /** Left on the file system for who runs the program. */
  readonly freeBytes: number;
  readonly schema: number;
  readonly program: string;
  /** The log's size and root; an auditor who notes them can prove later that nothing before changed. */
  readonly ledgerHead: TreeHead;
}

/** Facts of an open data directory; cheap enough for every view of a page. */
export function storageFacts(core: Core): StorageFacts {
  const { directory, db } = core.store;
  const { bavail, bsize } = statfsSync(directory);
  return {
    directory,
    databaseBytes: statSync(databasePath(directory)).size,
    walBytes: core.store.walBytes(),
    freeBytes: bavail * bsize,
    schema: schemaVersion(db),
    program: programVersion(),
    ledgerHead: treeHead(core),
  };
}
