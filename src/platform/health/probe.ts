import { setTimeout as delay } from "node:timers/promises";
import { type Core, slot } from "../../core.ts";
import { SECOND_MS } from "../../kit/clock.ts";
import { rows } from "./rows.ts";

/** A write is tried when the last proof that writing works is older than this. */
const PROOF_LASTS_MS = 10 * SECOND_MS;
/** A successful read is proof for so long. */
const READ_LASTS_MS = 100;
/** After a failure a write is tried this often, until one succeeds. */
const RETRY_MS = SECOND_MS;
/**
 * How long another process may keep the write lock before that counts as trouble. Deliveries wait longer; whoever asks for the
 * health has a second at most.
 */
const LOCK_LASTS_MS = 500;
const LOCK_RETRY_MS = 20;
/** Bytes written to prove recovery after a failure: more than a full disk may have left over. */
const RECOVERY_BYTES = 256 * 1024;

interface State {
  readAt: number;
  provenAt: number;
  triedAt: number;
  changesThen: number;
  failed: boolean;
}
const states = slot(
  (): State => ({
    readAt: -Infinity,
    provenAt: -Infinity,
    triedAt: -Infinity,
    changesThen: -1,
    failed: false,
  }),
);

/**
 * Whether the database can be read and written. Successful requests are proof enough; without traffic, or after a failure,
 * a small write is tried, at most once a second.
 */
export async function probeStore(core: Core): Promise<boolean> {
  const state = states(core);
  const now = core.clock.monotonic();
  const failing = state.failed || core.store.failing;
  // A flood of health checks is no reason for a flood of queries.
  if (!failing && now - state.readAt < READ_LASTS_MS && now - state.provenAt < PROOF_LASTS_MS) return true;
  try {
    // SQLite goes on reading and writing a file that was taken away.
    if (!core.store.checkInPlace()) return false;
    rows(core.store).read.get();
    state.readAt = now;
  } catch {
    state.failed = true;
    return false;
  }
  if (!failing && core.store.stats.changes !== state.changesThen) {
    state.changesThen = core.store.stats.changes;
    if (state.changesThen > 0) state.provenAt = now;
  }
  if (!failing && now - state.provenAt < PROOF_LASTS_MS) return true;
  if (now - state.triedAt < RETRY_MS) return !failing;
  state.triedAt = now;
  const written = (await writeProbe(core, failing ? RECOVERY_BYTES : 0)) && (!failing || (await writeProbe(core, 0)));
  if (!written) {
    state.failed = true;
    return false;
  }
  if (failing) core.log.info("store_recovered");
  Object.assign(state, { failed: false, provenAt: now, changesThen: core.store.stats.changes });
  return true;
}

/** Writes so many bytes, durably, as soon as no other process is writing. @returns whether they were stored in time */
async function writeProbe(core: Core, bytes: number): Promise<boolean> {
  try {
    for (let waited = 0; waited <= LOCK_LASTS_MS; waited += LOCK_RETRY_MS) {
      if (core.store.tryWrite(() => rows(core.store).write.run(core.clock.now(), Buffer.alloc(bytes)))) return true;
      await delay(LOCK_RETRY_MS);
    }
  } catch {
    // The store says itself what it could not do when the next delivery meets it.
  }
  return false;
}
