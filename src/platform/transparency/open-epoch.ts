import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Core, slot } from "../../core.ts";
import { baseUrlOf } from "../../kit/base-url.ts";
import { DataDirectoryError } from "../../kit/errors.ts";
import { sameDigest } from "../../kit/hash.ts";
import { conflict, fail, Problem } from "../../kit/problem.ts";
import { type Checkpoint, openCheckpoint } from "../../kit/transparency/checkpoint.ts";
import { vkeyOf } from "../../kit/transparency/note.ts";
import { BESIDE } from "../store/store.ts";
import { currentEpoch, type Epoch, epochs, epochText } from "./epoch.ts";
import { appendLeaf, leafCount } from "./leaves.ts";
import { hasLedgerKey, ledgerSigner } from "./ledger-key.ts";
import { rows } from "./rows.ts";
import { tree } from "./tree.ts";

/** The file of the last checkpoint, beside the database and in no backup: it shows when a database went back in time. */
export const checkpointFile = (core: Core): string => join(core.store.directory, BESIDE.checkpoint);

/** Whether it is certain in this process that the database is the one that signed last. */
const certain = slot(() => ({ isOwn: false }));

/** Opens the first epoch, or the next one when this database did not sign the last checkpoint. */
export async function ensureEpoch(core: Core): Promise<void> {
  requireReadable(core);
  const last = currentEpoch(core);
  if (!last || !goesOn(core)) await openEpoch(core, last);
  certain(core).isOwn = true;
}

/** @throws DataDirectoryError where no server can have opened the newest epoch: none knows the log's name then */
function requireReadable(core: Core): void {
  const newest = epochs(core).at(-1);
  if (!newest || (newest.text !== "{}" && newest.leaf <= leafCount(core))) return;
  throw new DataDirectoryError(
    `the ledger's newest epoch, leaf ${newest.leaf}, was opened by no server: the database was altered, or is damaged. See what is wrong with "reckon ledger verify", then restore a backup that verifies`,
  );
}

/** @throws Problem (conflict) when this database did not sign the last checkpoint: only a server opens the next epoch */
export function requireOwnEpoch(core: Core): void {
  const known = certain(core);
  known.isOwn ||= goesOn(core);
  if (!known.isOwn)
    fail(
      conflict,
      "The database was replaced after the log was last signed, so nothing of it is signed yet. Start the server on it once: it goes on with the log under another name.",
    );
}

async function openEpoch(core: Core, last: Epoch | undefined): Promise<void> {
  const { host, hostname, port } = new URL(baseUrlOf(core.config));
  const name = last?.name ?? `${port === "0" ? hostname : host}/ledger/${core.random(8).toString("hex")}`;
  const epoch = (last?.epoch ?? 0) + 1;
  // One backup may be restored twice, or on two machines: each is another log from there on.
  const origin = last ? `${name}/${epoch}-${core.random(4).toString("hex")}` : `${name}/${epoch}`;
  const key = vkeyOf(ledgerSigner(core, name));
  await core.store.write(() => {
    tree(core).sync();
    const size = leafCount(core);
    const previous = last ? { origin: last.origin, size, root: tree(core).rootAt(size).toString("hex") } : null;
    const data: Epoch = { origin, name, epoch, previous, erasures: "stated", key };
    rows(core.store).insertEpoch.run(appendLeaf(core, epochText(data)), JSON.stringify(data));
  });
  if (last)
    core.log.warn("ledger_epoch_opened", {
      ...{ epoch, after: last.origin },
      ...((last.key ?? key) === key
        ? {}
        : { newKey: key, effect: "what was signed before verifies with the key before alone" }),
    });
}

/** The last signed checkpoint, from the file beside the database; undefined when it is of another epoch, or not ours. */
export function signedBeside(core: Core): Checkpoint | undefined {
  // Not `currentEpoch`: somebody may have made its row unreadable.
  const { origin } = JSON.parse(epochs(core).at(-1)?.text ?? "{}") as Partial<Epoch>;
  const path = checkpointFile(core);
  if (origin === undefined || !existsSync(path) || !hasLedgerKey(core)) return undefined;
  try {
    const signed = openCheckpoint(readFileSync(path, "utf8"), ledgerSigner(core));
    return signed.origin === origin ? signed : undefined;
  } catch (error) {
    // With an unusable key there is no checkpoint to trust; the server does not start with it either.
    if (error instanceof Problem || error instanceof DataDirectoryError) return undefined;
    throw error;
  }
}

/** Whether the last signed checkpoint is a part of the stored tree. */
function goesOn(core: Core): boolean {
  const signed = signedBeside(core);
  const own = tree(core);
  // After the file: a server beside this command may have committed, and signed, since the tree was read.
  own.sync();
  return signed !== undefined && signed.size <= own.size && sameDigest(own.rootAt(signed.size), signed.root);
}
