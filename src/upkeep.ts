import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import type { Core } from "./core.ts";
import { helperCommand } from "./kit/respawn.ts";
import { CHECK_AT_START_BYTES, damageAdvice, databasePath, isReadError } from "./platform/store/store.ts";

const CHECKPOINT_EVERY_MS = 500;

/**
 * Starts the work that goes on beside requests: checkpoints on a timer, and for a large database the structural check, in a
 * process of its own, that would otherwise delay the start.
 * @param onDamage told what the operator should do when the check finds damage
 * @returns a function that stops it
 */
export function startChecks(core: Core, onDamage: (advice: string) => void): () => void {
  let overCeiling = false;
  let inPlace = true;
  const checkpoints = setInterval(() => {
    try {
      core.store.checkpoint();
    } catch (error) {
      core.log.warn("checkpoint_failed", { cause: String(error) });
    }
    if (inPlace && !core.store.checkInPlace()) {
      inPlace = false;
      core.log.error("database_taken_away", {
        path: databasePath(core.store.directory),
        advice: "it was removed or replaced while in use; nothing is stored until the server is restarted",
      });
    }
    const bytes = core.store.walBytes();
    if (bytes > core.config.maxWalBytes && !overCeiling)
      core.log.warn("wal_over_ceiling", { bytes, ceiling: core.config.maxWalBytes });
    overCeiling = bytes > core.config.maxWalBytes;
  }, CHECKPOINT_EVERY_MS);
  checkpoints.unref();
  const stopCheck = checkBeside(core, onDamage);
  return () => {
    clearInterval(checkpoints);
    stopCheck();
  };
}

function checkBeside(core: Core, onDamage: (advice: string) => void): () => void {
  const { directory } = core.store;
  if (statSync(databasePath(directory)).size <= CHECK_AT_START_BYTES) return () => {};
  const { file, args } = helperCommand("__quick-check", [directory]);
  const child = execFile(file, args, (error, _stdout, stderr) => {
    if (!error) core.log.info("structure_checked");
    else if (error.code === 1) {
      const finding = stderr.trim().replace(/^reckon: /, "");
      const advice = damageAdvice(directory, finding);
      // What could not be read may be sound: requests that meet the error are refused one by one.
      if (isReadError(finding)) core.log.error("structure_not_checked", { advice });
      else onDamage(advice);
    }
  });
  return () => child.kill();
}
