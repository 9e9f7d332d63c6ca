/**
 * The shape of one row of the rule table, and what rows use to spell their examples.
 */

/** How sure a finding is: `certain` has a provider's own mark on it, `likely` is judged by its surroundings. */
export type Strength = "certain" | "likely";

export interface Rule {
  /** Kebab-case; stands in the stored text as `[REDACTED:id]`. */
  readonly id: string;
  readonly strength: Strength;
  /**
   * Text of at least four characters that every match holds; `[...]` is a character class. These feed the
   * prefilter: a row none of whose anchors occurs costs nothing.
   */
  readonly anchors: readonly string[];
  /** How far into the match the anchor stands, fewest and most, in code units. */
  readonly at: readonly [number, number];
  /** Sticky, every quantifier bounded, none nested: one attempt reads a bounded stretch and never backtracks far. */
  readonly pattern: RegExp;
  /** True where the mark is so distinct that a letter or digit glued to either side is no reason for doubt. */
  readonly glued: boolean;
  /** What a match must hold besides, where its form alone fits a word of a program's text (`s.makeSomethingElse`). */
  readonly needs: RegExp | undefined;
  /** True where the mark is a word that also begins the last part of a URL's path: `-` or `/` before it is no boundary. */
  readonly apart: boolean;
  /** Text near a match that shows a key meant to be public; the finding is then only likely. */
  readonly softenedBy: RegExp | undefined;
  /** Where the provider (or a list the provider feeds) publishes the format. */
  readonly source: string;
  /** Made at run time, so that no whole secret stands in the repository. */
  readonly examples: () => readonly string[];
}

interface Options {
  readonly strength?: Strength;
  readonly at?: number | readonly [number, number];
  readonly glued?: boolean;
  readonly needs?: RegExp;
  readonly apart?: boolean;
  readonly softenedBy?: RegExp;
}

/** One row. `anchors` may be one string; `example` one or several makers of a text the row must find. */
export function row(
  id: string,
  anchors: string | readonly string[],
  pattern: RegExp,
  source: string,
  example: () => string | readonly string[],
  options: Options = {},
): Rule {
  const at = options.at ?? 0;
  return {
    id,
    strength: options.strength ?? "certain",
    anchors: typeof anchors === "string" ? [anchors] : anchors,
    at: typeof at === "number" ? [at, at] : at,
    pattern,
    glued: options.glued ?? false,
    needs: options.needs,
    apart: options.apart ?? false,
    softenedBy: options.softenedBy,
    source,
    examples: () => {
      const made = example();
      return typeof made === "string" ? [made] : made;
    },
  };
}

/** GitHub's list of the token formats its partners registered with it; the source where a provider has no page. */
export const PARTNER_LIST =
  "https://docs.github.com/en/code-security/reference/secret-security/supported-secret-scanning-patterns";

const DIGIT = "0123456789";
const LOWER = "abcdefghijklmnopqrstuvwxyz";
const UPPER = LOWER.toUpperCase();

/** `length` characters of an alphabet, the same each time, with no run that looks like a placeholder. */
function draw(alphabet: string, length: number): string {
  let state = 2463534242 ^ length;
  let out = "";
  for (let i = 0; i < length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    out += alphabet[(state >>> 0) % alphabet.length];
  }
  return out;
}

/** Letters of both cases and digits. */
export const word = (length: number): string => draw(DIGIT + UPPER + LOWER, length);
/** Lower-case hexadecimal. */
export const hex = (length: number): string => draw("0123456789abcdef", length);
export const digits = (length: number): string => draw(DIGIT, length);
/** Lower-case letters and digits. */
export const lower = (length: number): string => draw(DIGIT + LOWER, length);
/** Upper-case letters and digits. */
export const upper = (length: number): string => draw(DIGIT + UPPER, length);
/** The base32 alphabet AWS draws its key ids from. */
export const base32 = (length: number): string => draw(`${UPPER}234567`, length);
/** A UUID's form; not a valid version. */
export const uuid = (): string => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
/** Six groups of four of Crockford's base32, as connect codes are. */
export const connectCode = (): string =>
  (draw("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 24).match(/.{4}/g) as string[]).join("-");
