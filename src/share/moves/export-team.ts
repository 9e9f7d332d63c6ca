import { existsSync, linkSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Core } from "../../core.ts";
import { getTeam, type Team } from "../../identity/teams/teams.ts";
import { DERIVED, deriveAll } from "../../insight/derived/derived.ts";
import { programVersion } from "../../kit/assets.ts";
import { isoInstant } from "../../kit/clock.ts";
import { whereFull } from "../../kit/errors.ts";
import { syncFile } from "../../kit/files.ts";
import { conflict, fail, unavailable } from "../../kit/problem.ts";
import { type Actor, recordAct } from "../../platform/audit/audit.ts";
import { areCaughtUp } from "../../platform/projections/projections.ts";
import { CURRENT_SCHEMA, local, removeDatabase, type Store } from "../../platform/store/store.ts";
import {
  type Checkpoint,
  checkpoint,
  ledgerKeys,
  signStatement,
  subtreesBetween,
} from "../../platform/transparency/transparency.ts";
import { FORMAT, type Manifest, manifestText, readManifest } from "./manifest.ts";
import {
  attach,
  copyLeaves,
  copyOut,
  detach,
  digestOf,
  FILE_TABLES,
  leavesInFile,
  pricesOf,
  putManifest,
  putNodes,
  unfinishedErasures,
  writeCarelessly,
} from "./rows.ts";
import { MOVED } from "./tables.ts";

export interface ExportedTeam {
  readonly team: Team;
  /** Whether it moved: then nothing comes any more that the file does not have. */
  readonly isFinal: boolean;
  readonly deliveries: number;
  readonly leaves: number;
  readonly manifestSha256: string;
  /** What the file is checked with. */
  readonly key: string;
}

/** What is digested besides the rooms' tables. */
export const PROOF_TABLES: readonly string[] = ["log_leaves", "file_nodes"];

/** How often is looked for an instant at which all is worked through that was delivered. */
const MAX_TRIES = 200;

/**
 * Writes all rows of a team into a file of its own, with its leaves of the log and what proves them, as of one instant; beside a
 * running server or without one. What it holds in memory does not grow with the team.
 * @param file made whole or not at all; must not be there
 * @param onProgress told the share done, 0 to 1
 * @throws Problem where there is no such team, or no server ever ran
 */
export async function exportTeam(
  core: Core,
  team: string,
  file: string,
  onProgress: (share: number) => void,
  by: Actor,
): Promise<ExportedTeam> {
  const { id, name, movedTo } = getTeam(core, team);
  // Before anything is copied: while that lasts, what is read stands still, and what a server signs goes on.
  requireSigned(core);
  await recordAct(core, by, {
    action: "team.exported",
    teamId: id,
    target: { kind: "team", id, label: name },
    detail: { movedTo },
  });
  const partial = `${file}.partial`;
  const { db } = core.store;
  try {
    local.makeExcerpt(partial, FILE_TABLES);
    attach(db, partial);
    writeCarelessly(db);
    const done = await atRest(core, () => copyAll(core, id, onProgress));
    detach(db);
    syncFile(partial);
    // Fails where somebody made one meanwhile, as a rename would not.
    linkSync(partial, file);
    syncFile(file);
    return done;
  } catch (error) {
    throw whereFull(dirname(resolve(file)), error, "the file takes as much as the server holds of the team");
  } finally {
    if (existsSync(partial)) {
      detachIfNeeded(db);
      removeDatabase(partial);
    }
  }
}

function detachIfNeeded(db: Store["db"]): void {
  try {
    detach(db);
  } catch {
    // It was.
  }
}

/** Does something within a read transaction in which projections have read all that there is. */
async function atRest<T>(core: Core, work: () => T): Promise<T> {
  const { db } = core.store;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    await deriveAll(core);
    db.exec("BEGIN");
    try {
      if (areCaughtUp(core, DERIVED)) {
        const done = work();
        db.exec("COMMIT");
        return done;
      }
    } finally {
      if (db.inTransaction) db.exec("ROLLBACK");
    }
  }
  return fail(unavailable, "more is delivered than is worked through at the moment: try again later");
}

const requireSigned = (core: Core): Checkpoint =>
  checkpoint(core) ?? fail(unavailable, "no server started on this database yet");

function copyAll(core: Core, id: string, onProgress: (share: number) => void): ExportedTeam {
  const { db } = core.store;
  const team = getTeam(core, id);
  const steps = 2 * MOVED.length;
  for (const [i, table] of MOVED.entries()) {
    copyOut(db, table, id);
    onProgress((i + 1) / steps);
  }
  if (unfinishedErasures(db) > 0)
    fail(conflict, "Something of the team is being erased: try again once that is done (reckon doctor tells).");
  copyLeaves(db, id);
  const head = requireSigned(core);
  putNodes(db, subtreesBetween(core, leavesInFile(db), head.size));
  const manifest = manifestOf(core, team, head, (done) => onProgress((MOVED.length + done) / steps));
  const note = signStatement(core, manifestText(manifest));
  putManifest(db, note);
  onProgress(1);
  return {
    team,
    isFinal: team.movedTo !== null,
    deliveries: manifest.tables.deliveries?.rows ?? 0,
    leaves: manifest.tables.log_leaves?.rows ?? 0,
    manifestSha256: readManifest(note).sha256,
    key: manifest.key,
  };
}

function manifestOf(core: Core, team: Team, head: Checkpoint, onTable: (done: number) => void): Manifest {
  const { db } = core.store;
  const names = [...MOVED.map(({ name }) => name), ...PROOF_TABLES];
  const tables = Object.fromEntries(
    names.map((name, i) => {
      const digest = digestOf(db, name, "moving");
      onTable(Math.min(i + 1, MOVED.length));
      return [name, digest];
    }),
  );
  return {
    format: FORMAT,
    schema: CURRENT_SCHEMA.version,
    program: programVersion(),
    madeAt: isoInstant(core.clock.now()),
    team: { id: team.id, name: team.name },
    movedTo: team.movedTo,
    checkpoint: head.note,
    key: ledgerKeys.vkey(core) ?? "",
    prices: pricesOf(db),
    tables,
  };
}
