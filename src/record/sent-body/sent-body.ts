/**
 * Sent body: what the preparations of deliveries share, in whatever thread they run: the parts of a body as slices of the text that was
 * sent, what the capture policy withholds left out, secrets replaced.
 * Not here: what a body holds (telemetry, brain, traces), the way of a delivery into the store (intake).
 */
import { createHash } from "node:crypto";
import { keepMetadata, type MetadataKind } from "../../formats/metadata.ts";
import { duplicateKey, elements, findMember, isWholeNumber, type Member, members, type Slice } from "../../kit/json.ts";
import { fail, malformed, tooLarge } from "../../kit/problem.ts";
import { systemRandom } from "../../kit/random.ts";
import { NO_REPO } from "../../platform/http/fields.ts";
import { mightHoldSecret, partsThatMightHold, redactLongJson, redactText } from "../../redact/redact.ts";
import type { CaptureMode } from "../policy/policy.ts";

type YieldNow = () => Promise<void> | undefined;

/** UTF-16 units that are looked through without a turn of others: a fraction of a millisecond's work. */
const SHORT = 16 * 1024;

/** Makes parts of a delivery what may be kept of them; other requests are let in between. */
export class Cleaner {
  readonly yieldNow: YieldNow;
  /** Parts in which a secret was replaced. */
  redacted = 0;
  /** Parts of which text was left out, because only metadata may be kept. */
  withheld = 0;
  readonly #isMetadataOnly: boolean;

  /**
   * @param yieldNow as `kit/yield.ts` makes it
   * @param captureMode what of the parts may be kept
   */
  constructor(yieldNow: YieldNow, captureMode: CaptureMode) {
    this.yieldNow = yieldNow;
    this.#isMetadataOnly = captureMode === "metadata";
  }

  /** A part as it may be kept: what the capture mode lets stay of it, free of secrets. Counts those of which something went. */
  async clean(part: string, kind: MetadataKind): Promise<string> {
    const isPlain = !this.#isMetadataOnly && part.length <= SHORT && !mightHoldSecret(part);
    return isPlain ? part : this.#cleanSlowly(part, kind);
  }

  /** The same of several, each a JSON object: one look through all of them takes less than one at each. */
  async cleanAll(parts: readonly string[], kind: MetadataKind): Promise<string[]> {
    let end = -1;
    const slices = parts.map((part) => {
      const start = end + 1;
      end = start + part.length;
      return { start, end };
    });
    const unclean = await this.unclean(parts.join("\n"), slices);
    const kept = [...parts];
    for (const i of unclean) kept[i] = await this.#cleanSlowly(parts[i] as string, kind);
    return kept;
  }

  /**
   * Which parts of a text have to be cleaned: of all others `clean` would leave everything. Each is an object, in the order in which they stand.
   */
  async unclean(text: string, parts: readonly Slice[]): Promise<ReadonlySet<number>> {
    const [first, last] = [parts[0], parts.at(-1)];
    if (this.#isMetadataOnly || !first || !last) return new Set(parts.keys());
    const from = first.start;
    const own = parts.map(({ start, end }) => ({ start: start - from, end: end - from }));
    return partsThatMightHold(text.slice(from, last.end), own, this.yieldNow);
  }

  async #cleanSlowly(part: string, kind: MetadataKind): Promise<string> {
    await this.yieldNow();
    const kept = this.#isMetadataOnly ? await this.#withhold(part, kind) : part;
    const { findings, text } = await redactLongJson(kept, this.yieldNow);
    if (findings.length === 0) return kept;
    this.redacted++;
    return text;
  }

  async #withhold(part: string, kind: MetadataKind): Promise<string> {
    const { text, isPart } = await keepMetadata(part, kind, this.yieldNow);
    if (isPart) this.withheld++;
    return text;
  }
}

/** A validated body as it was sent: free-form parts are slices of its text, since parsing rounds numbers and drops duplicates. */
export class SentBody extends Cleaner {
  readonly text: string;
  readonly #top: readonly Member[];

  private constructor(text: string, yieldNow: YieldNow, top: readonly Member[], captureMode: CaptureMode) {
    super(yieldNow, captureMode);
    this.text = text;
    this.#top = top;
  }

  /**
   * @param yieldNow as `kit/yield.ts` makes it
   * @param captureMode what of it may be kept
   * @throws Problem malformed (400)
   */
  static async open(text: string, yieldNow: YieldNow, captureMode: CaptureMode): Promise<SentBody> {
    const top = members(text);
    if (duplicateKey(top) !== undefined) fail(malformed, "The body names a member twice.");
    await yieldNow();
    return new SentBody(text, yieldNow, top, captureMode);
  }

  /** The elements of a member that is a list; none where it is absent. */
  list(name: string): Slice[] {
    const member = findMember(this.#top, name);
    return member ? elements(this.text, member.start) : [];
  }
}

/**
 * Demands that a number is spelled as a whole one, which its parsed value does not tell.
 * @param own the members of its object, which validation found it in
 * @param subject begins the refusal: what must be a whole number
 * @throws Problem malformed (400)
 */
export function requireWholeNumber(text: string, own: readonly Member[], name: string, subject: string): void {
  const { start, end } = findMember(own, name) as Member;
  if (!isWholeNumber(text.slice(start, end))) fail(malformed, `${subject} must be a whole number.`);
}

/**
 * Demands that a delivery holds no more of something than is taken at once.
 * @param what as in "The batch has 3 entries": its name and that of what it holds
 * @throws Problem tooLarge (413)
 */
export function requireAtMost(most: number, count: number, [whole, parts]: readonly [string, string]): void {
  if (count > most) fail(tooLarge, `The ${whole} has ${count} ${parts}; at most ${most} fit in one.`);
}

/** The repository that a client names, free of secrets; `""` where it names none. */
export const cleanRepoKey = (sent: string | undefined): string =>
  sent === undefined ? NO_REPO : redactText(sent).text;

/** What a leaf holds of a body as it was sent. */
export interface SentDigest {
  /**
   * 16 random bytes in base64url: known to the sender alone once it is answered, because with it and the digest a secret that was taken
   * out of the body could be guessed.
   */
  readonly salt: string;
  /** SHA-256 of salt and body, in hexadecimal digits. */
  readonly sha256: string;
}

/** @param sent the body, without its content coding */
export function digestOfSent(sent: string | Uint8Array): SentDigest {
  const salt = systemRandom(16);
  // Piece by piece: a body of megabytes is not copied for its digest.
  const sha256 = createHash("sha256").update(salt).update(sent).digest("hex");
  return { salt: salt.toString("base64url"), sha256 };
}
