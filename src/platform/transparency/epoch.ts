import type { Core } from "../../core.ts";
import { parseJson } from "../../formats/values.ts";
import { isObject } from "../../kit/json.ts";
import { isLeaf } from "./leaves.ts";
import { rows } from "./rows.ts";

/**
 * A log that signs two trees of one size is worth nothing. A restored database has lost what came after its backup, and would do that. So
 * it goes on as a log of another name, an epoch, whose first new leaf names what it was before.
 */
export interface Epoch {
  /** The log's name (C2SP tlog-checkpoint): the key's name, followed by the epoch. */
  readonly origin: string;
  /** The name of the key, which outlives epochs: `HOST/ledger/INSTALLATION`. */
  readonly name: string;
  /** From 1 on. */
  readonly epoch: number;
  /** The log that it goes on from, as far as that is held here; null for the first. */
  readonly previous: { readonly origin: string; readonly size: number; readonly root: string } | null;
  /** Says that erasures state in the log what they do; absent from epochs that earlier versions opened. */
  readonly erasures?: "stated";
  /** The key's line, as `vkeyOf` writes it; absent from epochs that earlier versions opened. */
  readonly key?: string;
}

/** The rows of epochs, oldest first; none in a database from before there was a tree. */
function stored(core: Core): { readonly leaf: number; readonly data: string }[] {
  const { hasTree, epochs } = rows(core.store);
  return hasTree ? epochs.all() : [];
}

/** The epoch that is current; undefined before a server started on this database. */
export function currentEpoch(core: Core): Epoch | undefined {
  const row = stored(core).at(-1);
  return row && (JSON.parse(row.data) as Epoch);
}

/** The text of an epoch's leaf. */
export const epochText = (epoch: Epoch): string => JSON.stringify({ v: 2, kind: "epoch", ...epoch });

/**
 * All epochs with the numbers of their leaves, oldest first; none in a database from before there was a tree. `holds` where the leaf is
 * that of the text; unreadable data has the text of an empty object.
 */
export function epochs(core: Core): { readonly leaf: number; readonly text: string; readonly holds: boolean }[] {
  return stored(core).map(({ leaf, data }) => {
    const epoch = parseJson(data);
    const text = isObject(epoch) ? epochText(epoch as unknown as Epoch) : "{}";
    return { leaf, text, holds: isLeaf(core, leaf, text) };
  });
}
