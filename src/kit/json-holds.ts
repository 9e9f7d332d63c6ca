/** An escape of JSON: a character by its number, or another one, whose next sign is no beginning. */
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|.)/g;

/** Not of a control character, as the colours of terminals begin with: nobody looks for these. */
const NUMBER = /\\u(?!00[01])/i;

const unescaped = (json: string): string =>
  json.replace(ESCAPE, (found, hex?: string) => (hex === undefined ? found : String.fromCharCode(parseInt(hex, 16))));

const byNumber = (sign: string): string => `\\\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;

let capitals: Map<string, string[]> | undefined;

/** The signs whose lower case holds a sign, the Kelvin's as well as K. */
function capitalsOf(sign: string): readonly string[] {
  if (!capitals) {
    // At the end of a word a capital has another lower case than by itself.
    capitals = new Map([["ς", ["Σ"]]]);
    for (let code = 0; code < 0xd800; code++) {
      const capital = String.fromCharCode(code);
      const lower = capital.toLowerCase();
      if (lower !== capital) for (const one of lower) capitals.set(one, [...(capitals.get(one) ?? []), capital]);
    }
  }
  return capitals.get(sign) ?? [];
}

/** How a sign of a text in lower case may be spelled, as a pattern in any case. */
function spellings(sign: string): string {
  // Half of one beyond 16 bits, whose capital has another half.
  if (/[\udc00-\udfff]/.test(sign)) return "(?:[\\udc00-\\udfff]|\\\\ud[c-f][0-9a-f]{2})";
  const capitals = capitalsOf(sign);
  const all = [RegExp.escape(sign), ...capitals, ...[sign, ...capitals].map(byNumber)];
  // The dot that the lower case of a Turkish I is written with: the capital has it within.
  return `(?:${all.join("|")})${sign === "\u0307" ? "?" : ""}`;
}

/** So much of a text is enough to tell where it seldom is. */
const SOUGHT = 12;

/** Finds whatever may be a text with characters by their numbers, and seldom more: to unescape what is looked through takes twenty times as long. */
function mayHold(texts: readonly string[]): RegExp {
  const patterns = texts.map((text) => text.slice(0, SOUGHT).split("").map(spellings).join(""));
  return new RegExp(patterns.join("|"), "i");
}

/**
 * Makes what tells whether JSON text holds a text, in any case: as it stands, as it stands within a string, or with characters by their
 * numbers, as many programs spell all beyond ASCII (`\u00fc`), and some `<` and `&`.
 */
export function jsonHolds(text: string): (json: string) => boolean {
  const plain = text.toLowerCase();
  // Quotes and line breaks are escaped there.
  const spelled = JSON.stringify(plain).slice(1, -1);
  const holds = (json: string) => json.includes(plain) || json.includes(spelled);
  const may = mayHold([plain, spelled]);
  return (json) =>
    holds(json.toLowerCase()) || (NUMBER.test(json) && may.test(json) && holds(unescaped(json).toLowerCase()));
}
