import { parseJson } from "../json.ts";
import { itemHash, leafHash, verifyInclusion } from "../merkle.ts";
import { fail, invalid, Problem } from "../problem.ts";
import { counted } from "../strings.ts";
import { type ItemProof, type ProofBundle, readBundle } from "./bundle.ts";
import { openCheckpoint, type SignedCheckpoint } from "./checkpoint.ts";
import { type NoteKey, type Verified, verifiedBy } from "./note.ts";

/** One of the checks that a proof must pass. */
export interface CheckStep {
  readonly step: "file" | "checkpoint" | "inclusion" | "item" | "cosignature";
  readonly ok: boolean;
  /** What holds, or why it does not. */
  readonly detail: string;
}

/** Notes what holds, and why something does not. */
export class Steps {
  readonly list: CheckStep[] = [];

  /** @param work returns what it found and a text on what holds; throws a Problem when it does not hold @returns null then */
  take<T>(step: CheckStep["step"], work: () => readonly [T, detail: string]): T | null {
    try {
      const [found, detail] = work();
      this.list.push({ step, ok: true, detail });
      return found;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.list.push({ step, ok: false, detail: error.message });
      return null;
    }
  }

  get areAllSound(): boolean {
    return this.list.every(({ ok }) => ok);
  }
}

/** What a file proves. */
export interface CheckReport {
  readonly proven: boolean;
  readonly steps: readonly CheckStep[];
  /** Null where the log's signature does not hold. */
  readonly checkpoint: SignedCheckpoint | null;
  /** What the file says; null when it cannot be read. To be believed only when `proven`. */
  readonly bundle: ProofBundle | null;
  readonly cosignatures: readonly Verified[];
}

/**
 * Judges a file that `writeBundle` made; needs nothing but the keys.
 * @param logKey of the log that is believed
 * @param cosigners keys of witnesses, all of whom must have cosigned
 */
export function checkBundle(text: string, logKey: NoteKey, cosigners: readonly NoteKey[]): CheckReport {
  const steps = new Steps();
  const bundle = steps.take("file", () => openBundle(text));
  const checkpoint = bundle && steps.take("checkpoint", () => openSigned(bundle.checkpoint, logKey));
  if (bundle && checkpoint) steps.take("inclusion", () => judgeInclusion(bundle, checkpoint));
  for (const item of bundle?.items ?? []) steps.take("item", () => judgeItem(item, bundle?.leaf ?? ""));
  const cosignatures = checkpoint ? judgeCosigners(steps, checkpoint, cosigners) : [];
  return { proven: steps.areAllSound, steps: steps.list, checkpoint, bundle, cosignatures };
}

function openBundle(text: string): readonly [ProofBundle, string] {
  const bundle = readBundle(text);
  return [bundle, `the file holds a leaf and ${counted(bundle.items.length, "item")} of it`];
}

/** The head of the log that a note states, with what that says. @throws Problem where the key's holder did not sign it */
export function openSigned(checkpoint: string, logKey: NoteKey): readonly [SignedCheckpoint, string] {
  const opened = openCheckpoint(checkpoint, logKey);
  return [opened, `${logKey.name} signed that ${opened.origin} has ${counted(opened.size, "leaf", "leaves")}`];
}

function judgeInclusion(
  { index, leaf, inclusion }: ProofBundle,
  { size, root }: SignedCheckpoint,
): readonly [true, string] {
  if (!verifyInclusion(index, size, leafHash(leaf), inclusion, root))
    fail(invalid, `the leaf is not at index ${index} of the tree of ${size} whose root was signed`);
  return [true, `the leaf is at index ${index} of the tree of ${size}`];
}

function judgeItem(item: ItemProof, leaf: string): readonly [true, string] {
  const { index, count, salt, text, path } = item;
  const { root, itemCount } = itemsOf(leaf);
  if (!root) fail(invalid, `item ${index} cannot be proven: the leaf does not say what items it has`);
  if (itemCount !== undefined && itemCount !== count)
    fail(invalid, `item ${index} is said to be one of ${count}, and the leaf has ${itemCount}`);
  if (!verifyInclusion(index, count, itemHash(salt, text), path, root))
    fail(invalid, `item ${index} is not what the leaf says that it is`);
  // A path alone does not prove an item's index: another place in a tree of another size can have the same path.
  return [
    true,
    itemCount === undefined ? "an item is one of those of the leaf" : `item ${index} of ${count} is in the leaf`,
  ];
}

/** Checks that each key cosigned. @returns the cosignatures that hold */
export function judgeCosigners(steps: Steps, checkpoint: SignedCheckpoint, keys: readonly NoteKey[]): Verified[] {
  return keys.flatMap((key) => steps.take("cosignature", () => judgeCosignature(checkpoint, key)) ?? []);
}

function judgeCosignature({ note }: SignedCheckpoint, key: NoteKey): readonly [Verified, string] {
  const [verified] = verifiedBy(note, [key]);
  if (!verified) fail(invalid, `${key.name} (${key.id}) did not cosign the checkpoint`);
  return [verified, `${key.name} saw the log with this head and had seen it only grow`];
}

/** The root over a leaf's items, hex in its text, and their count, where the leaf states it. */
export function itemsOf(leaf: string): { readonly root?: Buffer; readonly itemCount?: unknown } {
  const { items, itemCount } = (parseJson(leaf) ?? {}) as { items?: unknown; itemCount?: unknown };
  const isRoot = typeof items === "string" && /^[0-9a-f]{64}$/.test(items);
  return isRoot ? { root: Buffer.from(items, "hex"), itemCount } : {};
}
