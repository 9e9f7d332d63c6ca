import { type Core, slot } from "../../core.ts";
import { blocksOf } from "../../kit/address.ts";
import { cooperative } from "../../kit/yield.ts";
import { rows } from "./rows.ts";

/** Rows that one transaction removes, and rows that are read before others have a turn. */
const STEP_ROWS = 1_000;

const underWay = slot((): { work: Promise<void> | undefined } => ({ work: undefined }));

/**
 * Makes room among authorizations that nobody has answered. The blocks of addresses with most of them lose their oldest, until each block
 * has an even share or less. So a flood from some blocks does not keep out people elsewhere.
 * @param most authorizations that may stay
 */
export function makeRoom(core: Core, most: number): Promise<void> {
  const state = underWay(core);
  state.work ??= drop(core, most).finally(() => {
    state.work = undefined;
  });
  return state.work;
}

async function drop(core: Core, most: number): Promise<void> {
  const { waitingByBlock, total } = await readWaiting(core);
  const excess: Buffer[] = [];
  const all = waitingByBlock.values().reduce((sum, sites) => sum + sizeOf(sites), 0);
  const ofProvider = evenShare([...waitingByBlock.values().map(sizeOf)], most - (total - all));
  for (const sites of waitingByBlock.values()) {
    const ofSite = evenShare([...sites.values().map(({ length }) => length)], ofProvider);
    for (const waiting of sites.values()) excess.push(...waiting.slice(0, Math.max(0, waiting.length - ofSite)));
  }
  for (let at = 0; at < excess.length; at += STEP_ROWS) {
    const some = excess.slice(at, at + STEP_ROWS);
    await core.store.write(() => {
      for (const hash of some) rows(core.store).dropWaiting.run(hash);
    });
  }
}

/** The waiting authorizations by provider and site, oldest first. */
async function readWaiting(core: Core) {
  const yieldNow = cooperative(core.clock);
  const waitingByBlock = new Map<string, Map<string, Buffer[]>>();
  let total = 0;
  for (let after = 0; ; ) {
    const some = rows(core.store).inOrder.all(after, STEP_ROWS);
    for (const { hash, ip, status } of some) {
      if (status !== "pending") continue;
      const { provider, site } = blocksOf(ip);
      waitingByBlock.getOrInsert(provider, new Map()).getOrInsert(site, []).push(hash);
    }
    total += some.length;
    after = some.at(-1)?.row ?? after;
    if (some.length < STEP_ROWS) return { waitingByBlock, total };
    await yieldNow();
  }
}

const sizeOf = (sites: ReadonlyMap<string, { readonly length: number }>): number =>
  sites.values().reduce((sum, { length }) => sum + length, 0);

/** The largest size that each may have for all together to have `most`; one that needs less leaves its share to the others. */
function evenShare(sizes: readonly number[], most: number): number {
  let left = Math.max(0, most);
  const ascending = sizes.toSorted((a, b) => a - b);
  for (const [at, size] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - at));
    if (size > share) return share;
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}
