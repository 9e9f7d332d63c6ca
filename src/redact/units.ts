/** The code units of a text as an array, which is read in half the time of a string. */

/** A text and its code units, of which a NUL ends the last; what lies behind it means nothing. */
export interface Units {
  readonly text: string;
  readonly units: Uint16Array;
}

/** Room for one short text that is looked at and forgotten. */
export class Scratch {
  readonly #units = new Uint16Array(1 << 12);
  readonly #bytes = Buffer.from(this.#units.buffer);

  /** The units of a text. @returns what is good until the next call, unless the text is long */
  take(text: string): Uint16Array {
    const { length } = text;
    if (length >= this.#units.length) {
      const bytes = Buffer.alloc(2 * (length + 1));
      bytes.write(text, "utf16le");
      return new Uint16Array(bytes.buffer, bytes.byteOffset, length + 1);
    }
    if (length > WORTH_A_CALL) this.#bytes.write(text, "utf16le");
    else for (let i = 0; i < length; i++) this.#units[i] = text.charCodeAt(i);
    this.#units[length] = 0;
    return this.#units;
  }
}

/** A shorter text is copied sooner than a call is made. */
const WORTH_A_CALL = 48;

const scratch = new Scratch();

/** The units of a name or value that stands alone. @returns what is good until the next call */
export const unitsOf = (text: string): Uint16Array => scratch.take(text);
