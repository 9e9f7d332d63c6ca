import { contextText, type ExportedItem } from "../../kit/items.ts";
import { isObject, parseJson } from "../../kit/json.ts";
import { HASH_BYTES, itemHash, leafHash, rootOf, SALT_BYTES, saltsOf, verifyInclusion } from "../../kit/merkle.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { counted } from "../../kit/strings.ts";
import { itemsOf } from "../../kit/transparency/check.ts";
import type { SignedCheckpoint } from "../../kit/transparency/checkpoint.ts";

/** A delivery as an export tells of it, see `deliveryExport`. */
interface DeliveryLine extends Readonly<Record<string, unknown>> {
  readonly id: number;
  readonly leaf: string;
  readonly repoKey: string;
  readonly mode: string | null;
  readonly inclusion: readonly string[] | null;
  readonly itemKey: string | null;
  readonly itemSalts: string | null;
}

/** A delivery whose items are committed to. */
interface Committed {
  readonly root: Buffer;
  readonly count: number;
  readonly line: DeliveryLine;
  /** Of all items, end to end; those that are not known are zeros. */
  readonly hashes: Buffer;
  known: number;
  /** How many items the archive holds. */
  shown: number;
  /** Items of which the delivery's line tells the hash. */
  readonly noted: Set<number>;
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
  readonly #lines = new Map<number, DeliveryLine>();
  readonly #since = new Map<number, DeliveryLine>();
  readonly #committed = new Map<number, Committed>();
  /** Chained before there was a tree of items. */
  #older = 0;
  /** The delivery whose salts were made last: items of one mostly follow each other. */
  #salted: { readonly id: number; readonly salts: Buffer | undefined } = { id: 0, salts: undefined };

  /** Takes a line. @param isSince it tells of a delivery as it was once the rest had been read @throws Problem where it contradicts itself */
  take(text: string, isSince: boolean): void {
    const line = parseJson(text);
    const into = isSince ? this.#since : this.#lines;
    if (!isDelivery(line)) fail(invalid, "a line of deliveries cannot be read");
    if (into.has(line.id)) fail(invalid, `delivery ${line.id} is there twice`);
    into.set(line.id, line);
  }

  /**
   * A delivery that changed during the export has two lines: the later one says what was erased or replaced, the first has the salts of
   * what was exported before.
   */
  #merge(): void {
    for (const [id, since] of this.#since) {
      const { noted, erasedBy } = this.#lines.get(id) ?? since;
      const both = { ...(isObject(noted) ? noted : {}), ...(isObject(since.noted) ? since.noted : {}) };
      this.#lines.set(id, { ...(this.#lines.get(id) ?? since), noted: both, erasedBy: since.erasedBy ?? erasedBy });
    }
    this.#since.clear();
  }

  /**
   * To be called before `hold`: what a leaf says is believed, and room made for it, once it is in the tree.
   * @returns what holds @throws Problem where a leaf is not in the tree, or a line says what its leaf does not
   */
  judgeInclusion({ size, root }: SignedCheckpoint): string {
    this.#merge();
    let later = 0;
    for (const line of this.#lines.values()) {
      const { id, leaf, inclusion } = line;
      if (inclusion === null && id > size) later++;
      else if (verifyInclusion(id - 1, size, leafHash(Buffer.from(leaf)), hashesIn(inclusion), root))
        this.#commit(line);
      else fail(invalid, `delivery ${id} is not in the tree of ${size} whose root was signed`);
    }
    const more = later > 0 ? `; ${later} came after it was signed, of which nothing is proven` : "";
    return `${counted(this.#lines.size - later, "delivery is", "deliveries are")} in the tree of ${size}${more}`;
  }

  #commit(line: DeliveryLine): void {
    const { id, leaf, repoKey, mode } = line;
    const said = parseJson(leaf);
    const { root, itemCount } = itemsOf(leaf);
    if (!isObject(said) || !root) {
      this.#older++;
      return;
    }
    const other = IN_LEAF.find(([name, inLeaf]) => line[name] !== said[inLeaf]);
    if (other) fail(invalid, `what is said of delivery ${id} is not in its leaf: ${other[0]}`);
    if (Date.parse(String(line.receivedAt)) !== said.at) fail(invalid, `delivery ${id} came at another time`);
    if (typeof itemCount !== "number" || !(itemCount >= 1 && itemCount <= MAX_ITEMS) || !Number.isInteger(itemCount))
      fail(invalid, `the leaf of delivery ${id} does not say how many items it has`);
    const isPartial = said.flagged === "rollback" || Number(said.withheld) > 0;
    const isErased = typeof line.erasedBy === "string";
    const one = { line, root, count: itemCount, hashes: Buffer.alloc(itemCount * HASH_BYTES), known: 0, shown: 0 };
    const committed: Committed = { ...one, noted: new Set(), isPartial, isErased };
    this.#committed.set(id, committed);
    for (const [item, hash] of Object.entries(isObject(line.noted) ? line.noted : {})) {
      put(committed, Number(item), bytesOf(hash));
      committed.noted.add(Number(item));
    }
    this.hold({ deliveryId: id, item: 0, text: contextText(repoKey, mode), facts: {} });
  }

  /** Takes an item that the archive holds. @throws Problem where no delivery has it, or its line says what the delivery does not */
  hold({ deliveryId, item, text, facts }: ExportedItem): void {
    const one = this.#committed.get(deliveryId);
    if (!one) {
      if (this.#lines.has(deliveryId)) return;
      fail(invalid, `something is said to be of delivery ${deliveryId}, which is not there`);
    }
    const other = Object.keys(facts).find((name) => facts[name] !== one.line[name]);
    if (other)
      fail(invalid, `what is said of item ${item} of delivery ${deliveryId} is not what the delivery says: ${other}`);
    if (item > 0) one.shown++;
    const salts = this.#saltsOf(one);
    if (!salts) return;
    const salt = salts.subarray(item * SALT_BYTES, (item + 1) * SALT_BYTES);
    if (salt.length < SALT_BYTES) fail(invalid, `delivery ${deliveryId} has no item ${item}`);
    const hash = itemHash(salt, Buffer.from(text));
    // It was replaced once it had been read for the archive.
    if (one.noted.delete(item) && hashAt(one, item).equals(hash)) return;
    put(one, item, hash);
  }

  /** Whether contents that a delivery names have to be there: nothing of it was withheld or erased. */
  keptContents(deliveryId: number): boolean {
    const one = this.#committed.get(deliveryId);
    return one !== undefined && !one.isErased && one.line.captureMode !== "metadata";
  }

  /** Undefined where they were forgotten with all that they were of. */
  #saltsOf({ line: { id, itemKey, itemSalts }, count }: Committed): Buffer | undefined {
    if (this.#salted.id === id) return this.#salted.salts;
    const key = bytesOf(itemKey);
    const salts = key ? saltsOf(key, count) : bytesOf(itemSalts);
    this.#salted = { id, salts: salts?.length === count * SALT_BYTES ? salts : undefined };
    return this.#salted.salts;
  }

  /** @returns what holds, and what cannot be said @throws Problem where something is not what was committed to, or gone */
  judgeContents(): string {
    const wrong: number[] = [];
    const gone: number[] = [];
    let [sound, erased, partial] = [0, 0, 0];
    for (const [id, one] of this.#committed) {
      // Where the hash of one is not there, those that are shown are compared with nothing, whatever the reason is said to be.
      if (one.known === one.count) isSound(one) ? sound++ : wrong.push(id);
      else if (one.shown > 0) gone.push(id);
      else if (one.isErased) erased++;
      else if (one.isPartial) partial++;
      else gone.push(id);
    }
    if (wrong.length > 0) fail(invalid, `what is held of ${numbers(wrong)} is not what was delivered`);
    if (gone.length > 0) fail(invalid, `not all that was delivered is there: of ${numbers(gone)}`);
    return [
      `all of ${counted(sound, "delivery is", "deliveries are")} what was delivered`,
      ...(erased > 0 ? [`of ${erased} something was erased`] : []),
      ...(partial > 0 ? [`of ${partial} something was never stored, or is not exported`] : []),
      ...(this.#older > 0 ? [`${this.#older} are from before there were items`] : []),
    ].join("; ");
  }
}

const hashAt = ({ hashes }: Committed, item: number) => hashes.subarray(item * HASH_BYTES, (item + 1) * HASH_BYTES);

function put(one: Committed, item: number, hash: Buffer | undefined): void {
  if (!Number.isInteger(item) || item < 0 || item >= one.count || hash?.length !== HASH_BYTES) return;
  const place = hashAt(one, item);
  // Of two that are shown one would not be compared.
  if (place.some((byte) => byte !== 0)) fail(invalid, `item ${item} of delivery ${one.line.id} is there twice`);
  one.known++;
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
