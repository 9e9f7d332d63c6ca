/** Redacts a JSON document in place: only string literals that hold a secret change, every other byte stays as sent. */
import { parseJson } from "../kit/json.ts";
import { closingQuote } from "../kit/json-bounds.ts";
import { finish, type Slices } from "../kit/slices.ts";
import { isEncodedLogin, isTinkType } from "./encoded.ts";
import { withoutScheme } from "./headers.ts";
import { mightHoldInSlices } from "./might-hold.ts";
import { isSecretName } from "./names.ts";
import { ASSIGNED_RULE } from "./probes.ts";
import type { Finding } from "./reading.ts";
import { BATCH_REPLACED, findInSlices, findSecrets, marker, type Redacted, replaceInSlices } from "./scan.ts";
import { isSecretValue } from "./values.ts";

const QUOTE = 34;
const COLON = 58;
const COMMA = 44;

function decode(literal: string): string {
  const value = literal.includes("\\") ? parseJson(literal) : undefined;
  return typeof value === "string" ? value : literal.slice(1, -1);
}

function afterSpace(json: string, from: number): number {
  let i = from;
  for (let c = json.charCodeAt(i); c === 32 || c === 9 || c === 10 || c === 13; c = json.charCodeAt(i)) i++;
  return i;
}

/** A literal too short to hold a secret by itself; a member's value is judged by its key besides. */
const TOO_SHORT = 8;
/** A literal longer than this is searched in slices of its own. */
const LONG_LITERAL = 1 << 15;
/** How far into the document the search goes between two yields, in code units. */
const STRIDE = 1 << 15;

const AUTHORIZATION = /^(?:proxy-)?authorization$/i;
const isCookies = (name: string): boolean => /^(?:set-)?cookie$/i.test(name);
/** Put before the value of a cookie's member, so that it is searched as in a request. */
const HEADER = "cookie: ";

/** Whether a member's name, or the type before it, says that its value is a secret, a registry's login, or cookies. */
const isTelling = (name: string): boolean =>
  name === "auth" || isSecretName(name) || isCookies(name) || isTinkType(name);

type Mark = Pick<Finding, "rule" | "strength">;

/** What the literals before one say about it. */
class Surroundings {
  /** The key whose value comes next, if the last literal was a key. */
  #key: string | undefined;
  /** A telling name that was the value of a `key` or `name` member, or the element before in a list of headers. */
  #named: string | undefined;
  #isListed = false;

  /** The name whose value the next literal is. */
  get name(): string | undefined {
    const key = this.#key;
    if (key !== undefined && isTelling(key)) return key;
    return key === "value" || key === "stringValue" || this.#isListed ? this.#named : undefined;
  }

  tookKey(key: string, next: number): void {
    if (key !== "value" && key !== "stringValue") this.#named = undefined;
    this.#isListed = false;
    this.#key = next === QUOTE ? key : undefined;
  }

  /** @param isFollowed whether a comma and then another string follow */
  tookValue(value: string, isFollowed: boolean): void {
    const isName = this.#key === "key" || this.#key === "name" || (this.#key === "typeUrl" && isTinkType(value));
    this.#isListed = this.#key === undefined && isFollowed && (AUTHORIZATION.test(value) || isCookies(value));
    this.#named = this.#isListed || (isName && isTelling(value)) ? value : undefined;
    this.#key = undefined;
  }
}

/** Adds what was found in the literal between two places. */
function* tellInSlices(findings: Finding[], found: readonly Mark[], start: number, end: number): Slices<void> {
  let last: Finding | undefined;
  for (let i = 0; i < found.length; i++) {
    const { rule, strength } = found[i] as Mark;
    // One object for all findings of one rule in a literal, which may hold thousands.
    if (last?.rule !== rule || last.strength !== strength) last = { rule, strength, start, end };
    findings.push(last);
    if (findings.length % BATCH_REPLACED === 0) yield;
  }
}

/** See `redactJson`. */
export function* redactJsonInSlices(json: string): Slices<Redacted> {
  const findings: Finding[] = [];
  if (!(yield* mightHoldInSlices(json))) return { text: json, findings };
  const around = new Surroundings();
  let parts: string[] = [];
  let out = "";
  let done = 0;
  let pause = STRIDE;
  for (let open = json.indexOf('"'); open !== -1; ) {
    const end = Math.min(closingQuote(json, open) + 1, json.length);
    const value = decode(json.slice(open, end));
    const next = afterSpace(json, end);
    const isKey = json.charCodeAt(next) === COLON;
    const name = isKey ? undefined : around.name;
    const isLong = value.length > LONG_LITERAL;
    const searched = name !== undefined && isCookies(name) ? HEADER + value : value;
    const found = value.length < TOO_SHORT ? [] : isLong ? yield* findInSlices(searched) : findSecrets(searched);
    const whole = name !== undefined && holdsWholeSecret(name, value) ? wholeFinding(found) : undefined;
    if (whole !== undefined || found.length > 0) {
      yield* tellInSlices(findings, whole ? [whole] : found, open, end);
      const replaced = whole ? marker(whole.rule) : yield* replaceInSlices(searched, found);
      parts.push(
        json.slice(done, open),
        JSON.stringify(whole || searched === value ? replaced : replaced.slice(HEADER.length)),
      );
      done = end;
    }
    if (isKey) around.tookKey(value, json.charCodeAt(afterSpace(json, next + 1)));
    else
      around.tookValue(value, json.charCodeAt(next) === COMMA && json.charCodeAt(afterSpace(json, next + 1)) === QUOTE);
    if (end > pause) {
      out += parts.join("");
      parts = [];
      pause = end + STRIDE;
      yield;
    }
    open = json.indexOf('"', end);
  }
  return { text: done === 0 ? json : out + parts.join("") + json.slice(done), findings };
}

/**
 * Redacts the text of a valid JSON document without parsing it as a whole. String literals, keys among them, are
 * decoded and scanned; one that holds a secret is written anew with `[REDACTED:rule]` in the secret's place. The whole
 * value is replaced where a member's key is a password-like name, where a `{"key": name, "value": …}` pair (as OTLP
 * writes attributes) names one, and behind the name of an authorization header in a list. A finding's offsets are
 * those of its literal, quotes included.
 */
export const redactJson = (json: string): Redacted => finish(redactJsonInSlices(json));

/** The rule under which a value that is replaced as a whole is counted: one that found a secret in it, or else that of its name. */
function wholeFinding(found: readonly Finding[]): Mark {
  return (
    found.find(({ strength }) => strength === "certain") ?? found[0] ?? { rule: ASSIGNED_RULE, strength: "likely" }
  );
}

function holdsWholeSecret(name: string, value: string): boolean {
  if (name === "auth") return isEncodedLogin(value);
  return isSecretValue(name, withoutScheme(name, value), "member");
}
