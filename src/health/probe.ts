import type { Core } from "../core.ts";
import { SECOND_MS } from "../kit/clock.ts";
import { perOwner } from "../kit/memo.ts";
import { rows } from "./rows.ts";

/** A write is tried when the last proof that writing works is older than this. */
const PROOF_LASTS_MS = 10 * SECOND_MS;
/** A successful read is proof for so long. */
const READ_LASTS_MS = 100;
/** After a failure a write is tried this often, until one succeeds. */
const RETRY_MS = SECOND_MS;
/** What is written after a failure: enough that a disk with a few spare kilobytes does not count as recovered. */
const RECOVERY_BYTES = 256 * 1024;

interface State {
  readAt: number;
  provenAt: number;
  triedAt: number;
  changesThen: number;
  failed: boolean;
}
const states = perOwner(
  (_core: Core): State => ({
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
  try {
    await core.store.write(() =>
      rows(core.store).write.run(core.clock.now(), Buffer.alloc(failing ? RECOVERY_BYTES : 0)),
    );
    if (failing) await core.store.write(() => rows(core.store).write.run(core.clock.now(), Buffer.alloc(0)));
  } catch {
    state.failed = true;
    return false;
  }
  if (failing) core.log.info("store_recovered");
  Object.assign(state, { failed: false, provenAt: now, changesThen: core.store.stats.changes });
  return true;
}
