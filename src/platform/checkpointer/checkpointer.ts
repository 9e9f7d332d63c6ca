/**
 * The checkpointer: moves the write-ahead log into the database beside requests, gives free room back, and watches for what could harm the
 * database: its file taken away, a damaged structure (checked in another process when checking would delay the start).
 * Not here: how the store does it; what an operator does (maintenance).
 */
import { type ChildProcess, execFile } from "node:child_process";
import { statSync } from "node:fs";
import { type Core, slot } from "../../core.ts";
import { SECOND_MS } from "../../kit/clock.ts";
import { helperCommand } from "../../kit/respawn.ts";
import { type Job, jobMetrics, runs } from "../jobs/jobs.ts";
import { figure } from "../metrics/metrics.ts";
import { room } from "../rooms/rooms.ts";
import { CHECK_AT_START_BYTES, damageAdvice, databasePath, isReadError } from "../store/store.ts";
import { storeMetrics } from "./store-figures.ts";

/** What has been reported already, and the running check of the file. */
const known = slot(() => ({
  overCeiling: false,
  inPlace: true,
  check: undefined as ChildProcess | undefined,
}));

const checkpoints: Job = {
  name: "checkpoints",
  everyMs: 500,
  run(core) {
    const state = known(core);
    const { store, log } = core;
    if (state.inPlace && !store.checkInPlace()) {
      state.inPlace = false;
      log.error("database_taken_away", {
        path: databasePath(store.directory),
        advice: "it was removed or replaced while in use; nothing is stored until the server is restarted",
      });
    }
    const bytes = store.walBytes();
    const ceiling = core.config.maxWalBytes;
    if (bytes > ceiling && !state.overCeiling) log.warn("wal_over_ceiling", { bytes, ceiling });
    state.overCeiling = bytes > ceiling;
    store.checkpoint();
  },
};

/** Gives back the room of removed rows when it is much of the file, some at a time. */
const space: Job = {
  name: "space",
  everyMs: 15 * SECOND_MS,
  run: ({ store }) => store.giveBack(20),
};

/** Checks the structure of a large database in a process of its own. */
function checkBeside(core: Core, onDamage: (advice: string) => void): void {
  const { directory } = core.store;
  const { size: bytes } = statSync(databasePath(directory));
  if (bytes <= CHECK_AT_START_BYTES) return;
  core.log.info("structure_checking", { bytes });
  const { file, args } = helperCommand("__quick-check", [directory]);
  known(core).check = execFile(file, args, (error, _stdout, stderr) => {
    if (!error) core.log.info("structure_checked");
    else if (error.code === 1) {
      const finding = stderr.trim().replace(/^reckon: /, "");
      const advice = damageAdvice(directory, finding);
      // A read error is no damage to the file: the server goes on, and refuses requests that meet the error themselves.
      if (isReadError(finding)) core.log.error("structure_not_checked", { advice });
      else onDamage(advice);
    }
  });
}

export const checkpointer = room({
  name: "checkpointer",
  jobs: [checkpoints, space],
  metrics: [
    figure(
      "counter",
      "reckon_store_transactions_total",
      "Transactions committed.",
      (core) => core.store.stats.transactions,
    ),
    figure(
      "counter",
      "reckon_store_changes_total",
      "Changes committed; several share a transaction.",
      (core) => core.store.stats.changes,
    ),
    figure(
      "counter",
      "reckon_store_failures_total",
      "Transactions that could not be stored.",
      (core) => core.store.stats.failures,
    ),
    figure("gauge", "reckon_store_wal_bytes", "Size of the write-ahead log.", (core) => core.store.walBytes()),
    ...storeMetrics,
    figure("gauge", "reckon_resident_bytes", "Resident memory.", () => process.memoryUsage.rss()),
    runs,
    ...jobMetrics,
  ],
  open(core, onFatal) {
    known(core);
    checkBeside(core, onFatal);
  },
  close: (core) => known(core).check?.kill(),
});
