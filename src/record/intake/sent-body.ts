import { duplicateKey, elements, findMember, isWholeNumber, type Member, members, type Slice } from "../../kit/json.ts";
import { fail, malformed } from "../../kit/problem.ts";
import { mightLongHoldSecret, redactLongJson } from "../../redact/redact.ts";

type YieldNow = () => Promise<void> | undefined;

/**
 * A validated body as it was sent: free-form parts are slices of its text, since parsing rounds numbers and drops duplicates.
 * Other requests are let in between.
 */
export class SentBody {
  readonly text: string;
  readonly yieldNow: YieldNow;
  /** Whether any part could hold a secret; most bodies cannot, and none of their parts is searched then. */
  readonly isSuspicious: boolean;
  /** Parts in which a secret was replaced. */
  redacted = 0;
  readonly #top: readonly Member[];

  private constructor(text: string, yieldNow: YieldNow, top: readonly Member[], isSuspicious: boolean) {
    this.text = text;
    this.yieldNow = yieldNow;
    this.isSuspicious = isSuspicious;
    this.#top = top;
  }

  /**
   * @param yieldNow as `kit/yield.ts` makes it
   * @throws Problem malformed (400)
   */
  static async open(text: string, yieldNow: YieldNow): Promise<SentBody> {
    const top = members(text);
    if (duplicateKey(top) !== undefined) fail(malformed, "The body names a member twice.");
    await yieldNow();
    const isSuspicious = await mightLongHoldSecret(text, yieldNow);
    await yieldNow();
    return new SentBody(text, yieldNow, top, isSuspicious);
  }

  /** The elements of a member that is a list; none where it is absent. */
  list(name: string): Slice[] {
    const member = findMember(this.#top, name);
    return member ? elements(this.text, member.start) : [];
  }

  /** A part free of secrets; counts those that held one. */
  async clean(part: string): Promise<string> {
    await this.yieldNow();
    if (!this.isSuspicious) return part;
    const { findings, text } = await redactLongJson(part, this.yieldNow);
    if (findings.length === 0) return part;
    this.redacted++;
    return text;
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
