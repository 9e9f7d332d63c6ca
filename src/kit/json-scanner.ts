/**
 * Reading JSON text (RFC 8259) without making values of it, for bodies of which most is kept as it was sent. It is strict: `JSON.parse`
 * accepts all that it accepts. The reverse does not hold, so after a refusal the caller asks `JSON.parse`.
 */

const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** For strings up to this length a loop finds the end faster than `indexOf`. */
const SHORT = 16;

/** Of these, JSON allows only line breaks and tabs, and only between tokens. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROLS = /[\u0000-\u001f]/;

const isDigit = (code: number) => code >= 0x30 && code <= 0x39;

/**
 * A position in a JSON text. Each method skips spaces, reads what it is named after and moves past it. After one that fails the position
 * means nothing, and the text has to be read in another way.
 */
export class JsonScanner {
  readonly text: string;
  /** In UTF-16 units. */
  at = 0;
  readonly #maxDepth: number;
  /** The first backslash at or after the last place searched from; the text's length when none is left. */
  #backslash = -1;
  /** For each container around the position, from the outermost: 1 for an object, 0 for an array. */
  readonly #objects: Uint8Array;

  private constructor(text: string, maxDepth: number) {
    this.text = text;
    this.#maxDepth = maxDepth;
    this.#objects = new Uint8Array(maxDepth + 1);
  }

  /**
   * @param maxDepth arrays and objects inside one another at most
   * @returns undefined for a text with control characters, such as a pretty-printed one
   */
  static over(text: string, maxDepth: number): JsonScanner | undefined {
    return CONTROLS.test(text) ? undefined : new JsonScanner(text, maxDepth);
  }

  /** Whether nothing follows. */
  ends(): boolean {
    return Number.isNaN(this.#next());
  }

  /** An object. @param member reads the value that follows a name */
  object(member: (name: string) => boolean): boolean {
    if (!this.#take(OPEN_BRACE)) return false;
    if (this.#take(CLOSE_BRACE)) return true;
    do {
      const name = this.plainString();
      if (name === undefined || !this.#take(COLON) || !member(name)) return false;
    } while (this.#take(COMMA));
    return this.#take(CLOSE_BRACE);
  }

  /** An array. @param element reads each */
  array(element: () => boolean): boolean {
    if (!this.#take(OPEN_BRACKET)) return false;
    if (this.#take(CLOSE_BRACKET)) return true;
    do if (!element()) return false;
    while (this.#take(COMMA));
    return this.#take(CLOSE_BRACKET);
  }

  /** A string in which nothing is escaped. */
  plainString(): string | undefined {
    if (this.#next() !== QUOTE) return undefined;
    const start = this.at + 1;
    if (!this.#string()) return undefined;
    const text = this.text.slice(start, this.at - 1);
    return text.includes("\\") ? undefined : text;
  }

  /** A number without sign, fraction and exponent, of at most fifteen digits. */
  count(): number | undefined {
    const first = this.#next();
    let value = 0;
    const start = this.at;
    for (let code = first; isDigit(code); code = this.text.charCodeAt(++this.at)) value = value * 10 + code - 0x30;
    const digits = this.at - start;
    const code = this.text.charCodeAt(this.at);
    const isWhole = code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || code === 0x20;
    return isWhole && digits > 0 && digits <= 15 && (first !== 0x30 || digits === 1) ? value : undefined;
  }

  /** Skips an object. @param depth of the container around it @returns its range */
  skipObject(depth: number): { readonly start: number; readonly end: number } | undefined {
    if (this.#next() !== OPEN_BRACE) return undefined;
    const start = this.at;
    return this.#skipContainer(depth) ? { start, end: this.at } : undefined;
  }

  /** Skips the array or object that opens here, and all within. @param outside depth of the container around it */
  #skipContainer(outside: number): boolean {
    this.#objects[outside] = 0;
    for (let depth = outside; ; ) {
      if (this.#objects[depth] === 1 && !this.#name()) return false;
      const code = this.#next();
      if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        if (++depth > this.#maxDepth) return false;
        this.#open(depth, code === OPEN_BRACE);
        if (this.#next() !== this.#closing(depth)) continue;
      } else if (!this.#scalar(code)) return false;
      depth = this.#close(depth, outside);
      if (depth === outside) return true;
      if (!this.#take(COMMA)) return false;
    }
  }

  #open(depth: number, isObject: boolean): void {
    this.#objects[depth] = isObject ? 1 : 0;
    this.at++;
  }

  /** What closes the container at a depth. */
  #closing(depth: number): number {
    return this.#objects[depth] === 1 ? CLOSE_BRACE : CLOSE_BRACKET;
  }

  /** Closes all containers that end here. @returns the depth of what follows */
  #close(from: number, outside: number): number {
    let depth = from;
    while (depth > outside && this.#take(this.#closing(depth))) depth--;
    return depth;
  }

  #name(): boolean {
    return this.#next() === QUOTE && this.#string() && this.#take(COLON);
  }

  #scalar(first: number): boolean {
    if (first === QUOTE) return this.#string();
    if (first === MINUS || isDigit(first)) return this.#number();
    return this.#word("true") || this.#word("false") || this.#word("null");
  }

  #word(word: string): boolean {
    if (!this.text.startsWith(word, this.at)) return false;
    this.at += word.length;
    return true;
  }

  #number(): boolean {
    const { text } = this;
    let i = this.at;
    if (text.charCodeAt(i) === MINUS) i++;
    i = text.charCodeAt(i) === 0x30 ? i + 1 : afterDigits(text, i);
    if (i >= 0 && text.charCodeAt(i) === DOT) i = afterDigits(text, i + 1);
    // E and e are told apart by one bit.
    if (i >= 0 && (text.charCodeAt(i) | 0x20) === 0x65) {
      const sign = text.charCodeAt(i + 1);
      i = afterDigits(text, sign === PLUS || sign === MINUS ? i + 2 : i + 1);
    }
    if (i < 0) return false;
    this.at = i;
    return true;
  }

  /** Moves past the string that opens here. */
  #string(): boolean {
    const { text } = this;
    let from = this.at + 1;
    for (const last = from + SHORT; from < last; from++) {
      const code = text.charCodeAt(from);
      if (code === QUOTE) {
        this.at = from + 1;
        return true;
      }
      if (code === BACKSLASH) break;
    }
    let close = text.indexOf('"', from);
    while (close >= 0) {
      if (this.#backslash < from) {
        const next = text.indexOf("\\", from);
        this.#backslash = next < 0 ? text.length : next;
      }
      if (this.#backslash > close) {
        this.at = close + 1;
        return true;
      }
      from = afterEscape(text, this.#backslash);
      if (from < 0) return false;
      if (from > close) close = text.indexOf('"', from);
    }
    return false;
  }

  /** The code of the next character after spaces; NaN at the end. */
  #next(): number {
    let code = this.text.charCodeAt(this.at);
    while (code === 0x20) code = this.text.charCodeAt(++this.at);
    return code;
  }

  #take(code: number): boolean {
    if (this.#next() !== code) return false;
    this.at++;
    return true;
  }
}

/** Where digits that begin at a place end; -1 where none do. */
function afterDigits(text: string, at: number): number {
  let i = at;
  while (isDigit(text.charCodeAt(i))) i++;
  return i > at ? i : -1;
}

const ESCAPES = new Set('"\\/bfnrt');
const HEX = /^[0-9a-f]{4}$/i;

/** Where the escape that begins at a place ends; -1 where it is none. */
function afterEscape(text: string, at: number): number {
  const kind = text.charAt(at + 1);
  if (kind === "u") return HEX.test(text.slice(at + 2, at + 6)) ? at + 6 : -1;
  return ESCAPES.has(kind) ? at + 2 : -1;
}
