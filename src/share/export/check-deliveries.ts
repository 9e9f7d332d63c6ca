import { contextText, type ExportedItem } from "../../kit/items.ts";
import { isObject } from "../../kit/json.ts";
import { HASH_BYTES, itemHash, leafHash, rootOf, SALT_BYTES, saltsOf, verifyInclusion } from "../../kit/merkle.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { parseJson } from "../../kit/transparency/bundle.ts";
import { countOf, itemsOf } from "../../kit/transparency/check.ts";
import type { SignedCheckpoint } from "../../kit/transparency/checkpoint.ts";

/** A delivery as an export tells of it, see `exportDeliveries`. */
interface DeliveryLine extends Readonly<Record<string, unknown>> {
  readonly id: number;
  readonly leaf: string;
  readonly repoKey: string;
  readonly mode: string | null;
  readonly inclusion: readonly string[] | null;
}

/** A delivery whose items are committed to. */
interface Committed {
  readonly root: Buffer;
  readonly count: number;
  /** Undefined where they were forgotten with all that they were of. */
  readonly salts: Buffer | undefined;
  /** Of all items, end to end; those that are not known are zeros. */
  readonly hashes: Buffer;
  known: number;
  /** Its leaf says that it brought what an export does not have: a number that came again with other content, or what was withheld. */
  readonly isPartial: boolean;
  readonly isErased: boolean;
}

/** More items than any delivery has: what is allocated for one follows from what a file says. */
const MAX_ITEMS = 1_000_000;
const MAX_NAMED = 5;

/** Members of a delivery's line, and what its leaf calls them. */
const IN_LEAF = [
  ...[["kind", "kind"] as const, ["teamId", "team"] as const, ["deviceId", "device"] as const],
  ...[["items", "count"] as const, ["redacted", "redacted"] as const, ["flagged", "flagged"] as const],
  ...[["captureMode", "captureMode"] as const, ["withheld", "withheld"] as const],
] as const;

/** The deliveries of an archive: what it tells of each, against what each committed to. */
export class Deliveries {
  readonly #deliveries = new Map<number, Pick<DeliveryLine, "leaf" | "inclusion">>();
  readonly #committed = new Map<number, Committed>();
  /** Chained before there was a tree of items. */
  #older = 0;

  /** Takes a line. @throws Problem where it contradicts itself */
  take(text: string): void {
    const line = parseJson(text);
    if (!isDelivery(line)) fail(invalid, "a line of deliveries cannot be read");
    const { id, leaf, inclusion } = line;
    if (this.#deliveries.has(id)) fail(invalid, `delivery ${id} is there twice`);
    this.#deliveries.set(id, { leaf, inclusion });
    const said = parseJson(leaf);
    const { root, itemCount } = itemsOf(leaf);
    if (!isObject(said) || !root) {
      this.#older++;
      return;
    }
    const other = IN_LEAF.find(([name, inLeaf]) => line[name] !== said[inLeaf]);
    if (other) fail(invalid, `what is said of delivery ${id} is not in its leaf: ${other[0]}`);
    if (Date.parse(String(line.receivedAt)) !== said.at) fail(invalid, `delivery ${id} came at another time`);
    this.#commit(line, root, itemCount, said);
  }

  #commit(line: DeliveryLine, root: Buffer, itemCount: unknown, said: Readonly<Record<string, unknown>>): void {
    const { id, repoKey, mode } = line;
    if (typeof itemCount !== "number" || !(itemCount >= 1 && itemCount <= MAX_ITEMS) || !Number.isInteger(itemCount))
      fail(invalid, `the leaf of delivery ${id} does not say how many items it has`);
    const key = bytesOf(line.itemKey);
    const salts = key ? saltsOf(key, itemCount) : bytesOf(line.itemSalts);
    const isPartial = said.flagged === "rollback" || Number(said.withheld) > 0;
    const isErased = typeof line.erasedBy === "string";
    const one: Committed = {
      ...{ root, count: itemCount, hashes: Buffer.alloc(itemCount * HASH_BYTES), known: 0, isPartial, isErased },
      salts: salts?.length === itemCount * SALT_BYTES ? salts : undefined,
    };
    this.#committed.set(id, one);
    for (const [item, hash] of Object.entries(isObject(line.noted) ? line.noted : {}))
      put(one, Number(item), bytesOf(hash));
    this.hold({ deliveryId: id, item: 0, text: contextText(repoKey, mode) });
  }

  /** Takes an item that the archive holds. @throws Problem where no delivery has it */
  hold({ deliveryId, item, text }: ExportedItem): void {
    const one = this.#committed.get(deliveryId);
    if (!one) {
      if (this.#deliveries.has(deliveryId)) return;
      fail(invalid, `something is said to be of delivery ${deliveryId}, which is not there`);
    }
    if (!one.salts) return;
    const salt = one.salts.subarray(item * SALT_BYTES, (item + 1) * SALT_BYTES);
    if (salt.length < SALT_BYTES) fail(invalid, `delivery ${deliveryId} has no item ${item}`);
    put(one, item, itemHash(salt, Buffer.from(text)));
  }

  /** @returns what holds @throws Problem where a leaf is not in the tree */
  judgeInclusion({ size, root }: SignedCheckpoint): string {
    let later = 0;
    for (const [id, { leaf, inclusion }] of this.#deliveries) {
      if (inclusion === null && id > size) later++;
      else if (!verifyInclusion(id - 1, size, leafHash(Buffer.from(leaf)), hashesIn(inclusion), root))
        fail(invalid, `delivery ${id} is not in the tree of ${size} whose root was signed`);
    }
    const more = later > 0 ? `; ${later} came after it was signed` : "";
    return `${countOf(this.#deliveries.size - later, "delivery is", "deliveries are")} in the tree of ${size}${more}`;
  }

  /** @returns what holds, and what cannot be said @throws Problem where something is not what was committed to, or gone */
  judgeContents(): string {
    const wrong: number[] = [];
    const gone: number[] = [];
    let [sound, erased, partial] = [0, 0, 0];
    for (const [id, one] of this.#committed) {
      if (one.known === one.count) isSound(one) ? sound++ : wrong.push(id);
      else if (one.isErased) erased++;
      else if (one.isPartial) partial++;
      else gone.push(id);
    }
    if (wrong.length > 0) fail(invalid, `what is held of ${numbers(wrong)} is not what was delivered`);
    if (gone.length > 0) fail(invalid, `not all that was delivered is there: of ${numbers(gone)}`);
    return [
      `all of ${countOf(sound, "delivery is", "deliveries are")} what was delivered`,
      ...(erased > 0 ? [`of ${erased} something was erased`] : []),
      ...(partial > 0 ? [`of ${partial} something was never stored, or is not exported`] : []),
      ...(this.#older > 0 ? [`${this.#older} are from before there were items`] : []),
    ].join("; ");
  }
}

function put(one: Committed, item: number, hash: Buffer | undefined): void {
  if (!Number.isInteger(item) || item < 0 || item >= one.count || hash?.length !== HASH_BYTES) return;
  const place = one.hashes.subarray(item * HASH_BYTES, (item + 1) * HASH_BYTES);
  if (place.every((byte) => byte === 0)) one.known++;
  hash.copy(place);
}

const isSound = ({ root, count, hashes }: Committed) =>
  rootOf(Array.from({ length: count }, (_, i) => hashes.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES))).equals(root);

function isDelivery(value: unknown): value is DeliveryLine {
  if (!isObject(value)) return false;
  const { id, leaf, repoKey, mode, inclusion } = value;
  const isPath = Array.isArray(inclusion) && inclusion.every((hash) => typeof hash === "string");
  const isMode = mode === null || typeof mode === "string";
  const isId = Number.isSafeInteger(id) && (id as number) > 0;
  return isId && typeof leaf === "string" && typeof repoKey === "string" && isMode && (inclusion === null || isPath);
}

const hashesIn = (path: readonly string[] | null) => (path ?? []).map((hash) => Buffer.from(hash, "base64"));
const bytesOf = (hex: unknown) => (typeof hex === "string" ? Buffer.from(hex, "hex") : undefined);
const numbers = (ids: readonly number[]) =>
  `${ids.length === 1 ? "delivery" : `${ids.length} deliveries`} ${ids.slice(0, MAX_NAMED).join(", ")}${ids.length > MAX_NAMED ? ", …" : ""}`;
