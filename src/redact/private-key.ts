/** Armoured private keys: PEM (PKCS 1, PKCS 8, SEC 1, OpenSSH), PGP blocks, SSH2 and PuTTY. They span lines. */
import type { Reading } from "./reading.ts";

/** No finding reaches further than this from its header, in code units; a 16384-bit RSA key needs about 13,000. */
export const ARMOUR_CAP = 16_384;
/** Material this long in one run is a key's, not a word's or an ellipsis after a few characters. */
const MATERIAL = 20;
const HEADER = /-{4,5} {0,2}BEGIN[ 0-9A-Z_]{0,60}PRIVATE KEY(?: BLOCK)? {0,2}-{4,5}/y;
const PUTTY = /PuTTY-User-Key-File-[23]: [\w@.-]{4,60}/y;
const END = /-{4,5} {0,2}END[ 0-9A-Z_]{0,60}KEY(?: BLOCK)? {0,2}-{4,5}/y;
const BEGIN = /-{4,5} {0,2}BEGIN/y;
const LAST_LINE = /["' +]{0,4}(?:\r?\n|(?:\\r)?\\n)[ \t"']{0,12}[0-9A-Za-z+/]{1,19}={0,2}(?![0-9A-Za-z])/y;
const DASH = 45;
const CAPITAL_P = 80;

const isBase64 = (c: number): boolean =>
  (c >= 47 && c <= 57) || (c >= 65 && c <= 90) || (c >= 97 && c <= 122) || c === 43 || c === 61;

export interface Armour {
  readonly start: number;
  readonly end: number;
  /** False where only the header's words stand there, as in a text about keys. */
  readonly hasMaterial: boolean;
}

/** The end of a header standing at `at`, or undefined. */
export function armourHeader(text: string, at: number): number | undefined {
  for (const pattern of [HEADER, PUTTY]) {
    pattern.lastIndex = at;
    if (pattern.test(text)) return pattern.lastIndex;
  }
  return undefined;
}

/**
 * The armoured key whose header stands at `at`. One walk forward, no further than the cap or the next header, so that
 * a text of nothing but headers is read once.
 */
export function armourAt(reading: Reading, at: number): Armour | undefined {
  const { text, units } = reading;
  const bodyStart = armourHeader(text, at);
  if (bodyStart === undefined) return undefined;
  const limit = Math.min(text.length, at + ARMOUR_CAP);
  let longest = 0;
  let run = 0;
  let lastMaterial = bodyStart;
  let i = bodyStart;
  for (; i < limit; i++) {
    const code = units[i] as number;
    if (code === DASH) {
      const dashes = i;
      while (i < limit && units[i + 1] === DASH) i++;
      if (i - dashes >= 3) {
        const markAt = Math.max(dashes, i - 4);
        END.lastIndex = markAt;
        if (END.test(text)) {
          reading.work += i - at;
          return { start: at, end: END.lastIndex, hasMaterial: longest >= MATERIAL };
        }
        BEGIN.lastIndex = markAt;
        if (BEGIN.test(text)) break;
      }
    } else if (code === CAPITAL_P && text.startsWith("PuTTY-User-Key", i)) break;
    run = isBase64(code) ? run + 1 : 0;
    if (run > longest) longest = run;
    if (run >= MATERIAL) lastMaterial = i + 1;
  }
  reading.work += i - at;
  // No end line: everything up to the last stretch of material is the key; with no material, the header alone.
  return {
    start: at,
    end: longest >= MATERIAL ? lastLine(text, lastMaterial, limit) : bodyStart,
    hasMaterial: longest >= MATERIAL,
  };
}

/** A key's last line may be short: goes on from the last long run over what is left of the base64 after a line end. */
function lastLine(text: string, from: number, limit: number): number {
  LAST_LINE.lastIndex = from;
  return LAST_LINE.test(text) ? Math.min(LAST_LINE.lastIndex, limit) : from;
}
