/** A JSON escape: `\uXXXX`, or another one. The latter is matched so that its second character does not begin an escape. */
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|.)/g;

/** A `\uXXXX` escape, but not of a control character (the colours of terminals begin with one): nobody searches for these. */
const NUMBER = /\\u(?!00[01])/i;

const unescaped = (json: string): string =>
  json.replace(ESCAPE, (found, hex?: string) => (hex === undefined ? found : String.fromCharCode(parseInt(hex, 16))));

const byNumber = (sign: string): string => `\\\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;

let capitals: Map<string, string[]> | undefined;

/** The characters whose lower case contains a character: for `k`, K and the Kelvin sign. */
function capitalsOf(sign: string): readonly string[] {
  if (!capitals) {
    // Σ has the lower case ς at the end of a word only.
    capitals = new Map([["ς", ["Σ"]]]);
    for (let code = 0; code < 0xd800; code++) {
      const capital = String.fromCharCode(code);
      const lower = capital.toLowerCase();
      if (lower !== capital) for (const one of lower) capitals.set(one, [...(capitals.get(one) ?? []), capital]);
    }
  }
  return capitals.get(sign) ?? [];
}

/** A pattern, to be matched in any case, of the spellings of a lower-case character. */
function spellings(sign: string): string {
  // The low half of a surrogate pair: the capital may have another one.
  if (/[\udc00-\udfff]/.test(sign)) return "(?:[\\udc00-\\udfff]|\\\\ud[c-f][0-9a-f]{2})";
  const capitals = capitalsOf(sign);
  const all = [RegExp.escape(sign), ...capitals, ...[sign, ...capitals].map(byNumber)];
  // U+0307 in a lower case may come from İ, which has the dot within.
  return `(?:${all.join("|")})${sign === "\u0307" ? "?" : ""}`;
}

/** UTF-16 units of the sought text that the quick filter looks for: enough to match seldom elsewhere. */
const SOUGHT = 12;

/**
 * A quick filter for texts spelled with `\uXXXX`, which seldom matches anything else: unescaping what is searched takes twenty times as
 * long.
 */
function mayHold(texts: readonly string[]): RegExp {
  const patterns = texts.map((text) => text.slice(0, SOUGHT).split("").map(spellings).join(""));
  return new RegExp(patterns.join("|"), "i");
}

/**
 * Makes a test whether JSON text holds a text, in any case: verbatim, escaped as within a string, or with `\uXXXX` escapes, as many
 * programs spell all beyond ASCII (`\u00fc`), and some `<` and `&`.
 */
export function jsonHolds(text: string): (json: string) => boolean {
  const plain = text.toLowerCase();
  // Within a JSON string, quotes and line breaks are escaped.
  const spelled = JSON.stringify(plain).slice(1, -1);
  const holds = (json: string) => json.includes(plain) || json.includes(spelled);
  const may = mayHold([plain, spelled]);
  return (json) =>
    holds(json.toLowerCase()) || (NUMBER.test(json) && may.test(json) && holds(unescaped(json).toLowerCase()));
}
