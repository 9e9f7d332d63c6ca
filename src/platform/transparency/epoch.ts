import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Core } from "../../core.ts";
import { baseUrlOf } from "../../kit/base-url.ts";
import { sameDigest } from "../../kit/hash.ts";
import { BESIDE } from "../store/store.ts";
import { appendLeaf, leafCount } from "./leaves.ts";
import { ledgerKey } from "./ledger-key.ts";
import { readOwnCheckpoint, type TreeHead } from "./note.ts";
import { rows } from "./rows.ts";
import { tree } from "./tree.ts";

/**
 * A log that signs two trees of one size is worth nothing. A database that was restored has lost what came after its backup, and would
 * do that: so it goes on as a log of another name, an epoch, whose first new leaf names what it was before.
 */
export interface Epoch {
  /** The log's name (C2SP tlog-checkpoint): `HOST/ledger/INSTALLATION/EPOCH`. */
  readonly origin: string;
  readonly installation: string;
  /** From 1 on. */
  readonly epoch: number;
  /** The log that it goes on from, as far as that is held here; null for the first. */
  readonly previous: { readonly origin: string; readonly size: number; readonly root: string } | null;
}

/** The epoch that is current; undefined before a server started on this database. */
export function currentEpoch(core: Core): Epoch | undefined {
  const row = rows(core.store).epoch.get();
  return row && (JSON.parse(row.data) as Epoch);
}

/** The text of an epoch's leaf. */
export const epochText = (epoch: Epoch): string => JSON.stringify({ v: 2, kind: "epoch", ...epoch });

/** All epochs with the numbers of their leaves, oldest first. */
export const epochs = (core: Core): { readonly leaf: number; readonly text: string }[] =>
  rows(core.store)
    .epochs.all()
    .map(({ leaf, data }) => ({ leaf, text: epochText(JSON.parse(data) as Epoch) }));

/** Where the last checkpoint lies, beside the database and in no backup: by it a database that went back in time is known. */
export const checkpointFile = (core: Core): string => join(core.store.directory, BESIDE.checkpoint);

/** Opens the first epoch, or the next where this database is not the one that signed last. */
export async function ensureEpoch(core: Core): Promise<void> {
  const last = currentEpoch(core);
  if (last && goesOn(core)) return;
  const installation = last?.installation ?? core.random(8).toString("hex");
  const epoch = (last?.epoch ?? 0) + 1;
  const { host } = new URL(baseUrlOf(core.config));
  await core.store.write(() => {
    tree(core).sync();
    const size = leafCount(core);
    const previous = last ? { origin: last.origin, size, root: tree(core).rootAt(size).toString("hex") } : null;
    const data = { origin: `${host}/ledger/${installation}/${epoch}`, installation, epoch, previous };
    rows(core.store).insertEpoch.run(appendLeaf(core, epochText(data)), JSON.stringify(data));
  });
  if (last) core.log.warn("ledger_epoch_opened", { epoch, after: last.origin });
}

/** What was signed last, as it lies beside the database; undefined where that is not of the current epoch, or none of ours. */
export function signedBeside(core: Core): TreeHead | undefined {
  const origin = currentEpoch(core)?.origin;
  const path = checkpointFile(core);
  if (origin === undefined || !existsSync(path)) return undefined;
  return readOwnCheckpoint(readFileSync(path, "utf8"), origin, ledgerKey(core));
}

/** Whether what was signed last is a part of the tree that is held. */
function goesOn(core: Core): boolean {
  const signed = signedBeside(core);
  const own = tree(core);
  return signed !== undefined && signed.size <= own.size && sameDigest(own.rootAt(signed.size), signed.root);
}
