/** An escape of JSON: a character by its number, or another one, whose next sign is no beginning. */
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|.)/g;

/** Not of a control character, as the colours of terminals begin with: nobody looks for these. */
const NUMBER = /\\u(?!00[01])/i;

const unescaped = (json: string): string =>
  json.replace(ESCAPE, (found, hex?: string) => (hex === undefined ? found : String.fromCharCode(parseInt(hex, 16))));

/**
 * Makes what tells whether JSON text holds a text, in any case: as it stands, as it stands within a string, or with characters by their
 * numbers, as many programs spell all beyond ASCII (`\u00fc`), and some `<` and `&`.
 */
export function jsonHolds(text: string): (json: string) => boolean {
  const plain = text.toLowerCase();
  // Quotes and line breaks are escaped there.
  const spelled = JSON.stringify(plain).slice(1, -1);
  const holds = (json: string) => json.includes(plain) || json.includes(spelled);
  return (json) => holds(json.toLowerCase()) || (NUMBER.test(json) && holds(unescaped(json).toLowerCase()));
}
