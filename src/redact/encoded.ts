/** Secrets behind base64: a whole private key, the login of a registry, the values of a Kubernetes Secret. */

import { kindOf } from "./pattern.ts";
import { ARMOUR_CAP } from "./private-key.ts";
import { type Reading, Run, type Span } from "./reading.ts";
import { isAlnum } from "./units.ts";
import { isSecretValue } from "./values.ts";

const BASE64 = kindOf("0-9A-Za-z+/_=-");

class State {
  readonly run = new Run(BASE64);
  /** The text before this place was searched already. */
  until = 0;
}

/** Characters of base64 that hold a key's header, and the fewest that hold more than a header. */
const ENCODED_HEADER = 96;
const MIN_KEY_CHARS = 128;

/** A private key in PEM that was put into base64 as a whole, as in a kubeconfig; `at` is where its `-----BEGIN` starts. */
export function encodedKey(reading: Reading, at: number, key: object): Span | undefined {
  const state = reading.memo(key, () => new State());
  if (at < state.until) return undefined;
  const { text } = reading;
  const lineEnd = state.run.endOf(reading, at, 2 * ARMOUR_CAP);
  const header = Buffer.from(text.slice(at, Math.min(lineEnd, at + ENCODED_HEADER)), "base64").toString("latin1");
  reading.work += ENCODED_HEADER;
  if (!/^-----BEGIN [ 0-9A-Z]{0,40}PRIVATE KEY/.test(header)) return undefined;
  const end = endOfLines(reading, state.run, at, lineEnd);
  if (end - at < MIN_KEY_CHARS) return undefined;
  state.until = end;
  return [at, end];
}

/** RFC 2045 breaks base64 after 76 characters, RFC 7468 after 64. */
const MIN_LINE_CHARS = 64;
const LINE_BREAK = /\r?\n[ \t]{0,16}/y;
/** A shorter line without any of these may be a word, or a name. */
const HOLDS_CAPITAL = /[A-Z+/=]/;
const ENDS_LINE = /["'\r\n]|$/y;

/** The end of base64 in several lines, all as long as the first, except that the last may be shorter. */
function endOfLines(reading: Reading, run: Run, at: number, firstEnd: number): number {
  const { text } = reading;
  const width = firstEnd - at;
  let end = firstEnd;
  let last = width;
  while (width >= MIN_LINE_CHARS && last === width && end - at < 2 * ARMOUR_CAP) {
    LINE_BREAK.lastIndex = end;
    if (!LINE_BREAK.test(text)) break;
    const from = LINE_BREAK.lastIndex;
    const to = run.endOf(reading, from, width + 1);
    last = to - from;
    ENDS_LINE.lastIndex = to;
    const isShort = last < width && (last % 4 !== 0 || !HOLDS_CAPITAL.test(text.slice(from, to)));
    if (last > width || last === 0 || isShort || !ENDS_LINE.test(text)) break;
    end = to;
  }
  return end;
}

const AUTH = /(?:"auth\\{0,7}"\s{0,4}:\s{0,4}\\{0,7}"|_auth\s{0,2}=\s{0,2}"?)([\w+/-]{12,16384}={0,2})(?![\w+/=-])/y;

/** A token that a registry gives out in place of a login. */
const OPAQUE = /^(?=.*[0-9])(?=.*[a-z])(?=.*[A-Z])[\w+/-]{40,16384}={0,2}$/;

/** Whether a text is a user and a password in base64, as Docker's `config.json` and npm's `_auth` keep them, or a token. */
export function isEncodedLogin(value: string): boolean {
  if (OPAQUE.test(value)) return true;
  if (!/^[0-9A-Za-z+/]{12,16384}={0,2}$/.test(value)) return false;
  const [, user, password] =
    /^([!-9;-~]{1,128}):([ -~]{6,})$/.exec(Buffer.from(value, "base64").toString("latin1")) ?? [];
  return user !== undefined && password !== undefined && user !== password;
}

/** The login after a registry's `auth` that stands at `at`. */
export function encodedLogin(reading: Reading, at: number): Span | undefined {
  AUTH.lastIndex = at;
  const value = AUTH.exec(reading.text)?.[1];
  reading.work += 4 + (value?.length ?? 0);
  return value !== undefined && isEncodedLogin(value) ? [AUTH.lastIndex - value.length, AUTH.lastIndex] : undefined;
}

export function mayBeLogin(text: string, at: number): boolean {
  return /^[_"]auth[\s"'\\:=]/.test(text.slice(at, at + 8));
}

const TINK_KEY =
  /google\.crypto\.tink\.(\w{2,80})\\{0,7}"\s{0,4},\s{0,32}\\{0,7}"value\\{0,7}"\s{0,4}:\s{0,4}\\{0,7}"([\w+/-]{16,16384}={0,2})\\{0,7}"/y;
/** Types of keys that are public, or that only name a key kept by a key service. */
const OPEN_TINK_KEY = /PublicKey$|^Kms/;

/** Whether the type of a key in a Tink keyset says that the key itself is secret. */
export const isTinkType = (type: string): boolean =>
  type.startsWith("type.googleapis.com/google.crypto.tink.") && !OPEN_TINK_KEY.test(type.slice(39));

/**
 * The value after the type of a Tink key at `at`: the key itself, in base64, when the keyset is not encrypted. See
 * https://developers.google.com/tink/design/keysets
 */
export function tinkKey(reading: Reading, at: number): Span | undefined {
  TINK_KEY.lastIndex = at;
  const [whole, type, value] = TINK_KEY.exec(reading.text) ?? [];
  reading.work += 4 + (whole?.length ?? 0);
  if (whole === undefined || type === undefined || value === undefined || OPEN_TINK_KEY.test(type)) return undefined;
  const start = at + whole.lastIndexOf(value);
  return [start, start + value.length];
}

export const mayBeTinkKey = (text: string, at: number): boolean => text.startsWith("google.crypto.tink.", at);

/** How far from a Secret's kind its values are looked for, in code units. */
const MANIFEST_CAP = 16_384;
const BLOCK = /^ {0,12}(data|stringData):[ \t]*(?:#.*)?$/;
const ENTRY = /^( {1,16})["']?([\w.-]{1,253})["']?:[ \t]{1,8}["']?([^\s"'#]{1,16384})["']?[ \t]*(?:#.*)?$/;

/** The plain and the encoded values of a Kubernetes Secret in YAML whose `kind: Secret` stands at `at`. */
export function manifestValues(reading: Reading, at: number, key: object): Span[] {
  const state = reading.memo(key, () => new State());
  const { text, units } = reading;
  if (at < state.until || !mayBeManifest(text, at)) return [];
  // The kind may stand before or after the values; a line of dashes or of a fence ends the document. What was read for an earlier kind is
  // not read again: otherwise a text full of such lines would be read as often as it has them.
  const from = lastEdge(text, Math.max(state.until, at - MANIFEST_CAP), at);
  const to = firstEdge(text, at, Math.min(text.length, at + MANIFEST_CAP));
  state.until = to;
  reading.work += to - from;
  const found: Span[] = [];
  const values = new ManifestValues();
  for (let start = from; start < to; ) {
    const lineEnd = text.indexOf("\n", start);
    const end = lineEnd === -1 || lineEnd > to ? to : lineEnd;
    const line = text.slice(start, end > start && units[end - 1] === RETURN ? end - 1 : end);
    const value = values.secretOf(line);
    if (value !== undefined) {
      const valueAt = start + line.lastIndexOf(value);
      found.push([valueAt, valueAt + value.length]);
    }
    start = end + 1;
  }
  return found;
}

const RETURN = 13;
const SPACE = 32;
const SMALL_D = 100;
const SMALL_S = 115;

/** How many spaces a line begins with. */
function depthOf(line: string): number {
  let depth = 0;
  while (line.charCodeAt(depth) === SPACE) depth++;
  return depth;
}

/** Begins a value that is the block of lines below (a YAML block scalar). */
const SCALAR = /^[|>][-+0-9]{0,2}$/;

/** Reads a manifest line by line. */
class ManifestValues {
  #block: { readonly indent: number; readonly isEncoded: boolean } | undefined;
  #scalar: { readonly indent: number; readonly name: string } | undefined;

  /** The value on a line, where it is a secret. */
  secretOf(line: string): string | undefined {
    const depth = depthOf(line);
    const first = line.charCodeAt(depth);
    // The first character rules out most lines: a regular expression takes ten times as long.
    if (!isAlnum(first) && /^\s*(?:#|$)/.test(line)) return undefined;
    const kind = first === SMALL_D || first === SMALL_S ? BLOCK.exec(line)?.[1] : undefined;
    if (kind !== undefined) {
      this.#block = { indent: depth, isEncoded: kind === "data" };
      this.#scalar = undefined;
      return undefined;
    }
    const block = this.#block;
    if (block === undefined) return undefined;
    const scalar = this.#scalar !== undefined && depth > this.#scalar.indent ? this.#scalar : undefined;
    if (scalar !== undefined) {
      const value = line.trim();
      const isSecret = block.isEncoded ? isManifestSecret(scalar.name, value, true) : isSecretValue("", value, "env");
      return isSecret && !/\s/.test(value) ? value : undefined;
    }
    const [, deeper = "", name = "", value = ""] = (depth > 0 ? ENTRY.exec(line) : null) ?? [];
    this.#scalar = SCALAR.test(value) ? { indent: deeper.length, name } : undefined;
    if (depth <= block.indent || deeper.length <= block.indent) this.#block = undefined;
    else if (isManifestSecret(name, value, block.isEncoded)) return value;
    return undefined;
  }
}

/** A line that separates documents. */
const EDGE = /^(?:---|```|~~~)/gm;

/** The place of the last line that separates documents between two places, or the first of the two. */
function lastEdge(text: string, from: number, to: number): number {
  let last = 0;
  for (const edge of text.slice(from, to).matchAll(EDGE)) last = edge.index;
  return from + last;
}

/** The place of the first such line between two places, or the second of the two. */
function firstEdge(text: string, from: number, to: number): number {
  const edge = text.slice(from, to).search(EDGE);
  return edge === -1 ? to : from + edge;
}

/** What is under `data` of a Secret is secret unless it says otherwise; user names and hosts are let pass by their key. */
function isManifestSecret(name: string, value: string, isEncoded: boolean): boolean {
  if (/user(?:name)?$|host(?:name)?$|port$|url$|database$|namespace$|email$|region$|ca\.crt$|tls\.crt$/i.test(name))
    return false;
  if (!isEncoded) return isSecretValue("password", value, "env");
  if (!/^[0-9A-Za-z+/]{8,16384}={0,2}$/.test(value) || value.length % 4 !== 0) return false;
  const plain = Buffer.from(value, "base64").toString("latin1").trim();
  // The logins of a registry are JSON.
  return plain.length > 256 || /^\{\s{0,8}"/.test(plain) || isSecretValue("password", plain, "env");
}

/** Whether something could be the `kind` of a Kubernetes Secret. */
export function mayBeManifest(text: string, at: number): boolean {
  return /^kind:[ \t]{0,8}["']?Secret/.test(text.slice(at, at + 24));
}
