/** Redacts a JSON document in place: only string literals that hold a secret change, every other byte stays as sent. */
import { isSecretName, isSecretValue } from "./likely.ts";
import { ASSIGNED_RULE, type Finding, findSecrets, marker, mightHoldSecret, redactText } from "./scan.ts";

const QUOTE = 34;
const BACKSLASH = 92;

/** The offset just after the literal whose opening quote stands at `open`. */
function literalEnd(json: string, open: number): number {
  for (let close = json.indexOf('"', open + 1); close !== -1; close = json.indexOf('"', close + 1)) {
    let slashes = 0;
    while (json.charCodeAt(close - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return close + 1;
  }
  return json.length;
}

function decode(literal: string): string {
  if (!literal.includes("\\")) return literal.slice(1, -1);
  try {
    return JSON.parse(literal) as string;
  } catch {
    return literal.slice(1, -1);
  }
}

function afterSpace(json: string, from: number): number {
  let i = from;
  for (let c = json.charCodeAt(i); c === 32 || c === 9 || c === 10 || c === 13; c = json.charCodeAt(i)) i++;
  return i;
}

/** A literal too short to hold a secret by itself; a member's value is judged by its key besides. */
const TOO_SHORT = 8;

/**
 * Redacts the text of a valid JSON document without parsing it as a whole. String literals, keys among them, are
 * decoded and scanned; one that holds a secret is written anew with `[REDACTED:rule]` in the secret's place. The whole
 * value is replaced where a member's key is a password-like name, and where a `{"key": name, "value": …}` pair (as
 * OTLP writes attributes) names one. A finding's offsets are those of its literal, quotes included.
 */
export function redactJson(json: string): { text: string; findings: Finding[] } {
  const findings: Finding[] = [];
  if (!mightHoldSecret(json)) return { text: json, findings };
  let out = "";
  let done = 0;
  /** The key whose value comes next, if the last literal was a key. */
  let key: string | undefined;
  /** A password-like name that was the value of a `key` or `name` member. */
  let named: string | undefined;
  for (let open = json.indexOf('"'); open !== -1; ) {
    const end = literalEnd(json, open);
    const value = decode(json.slice(open, end));
    const next = afterSpace(json, end);
    const isKey = json.charCodeAt(next) === 58;
    const name =
      key !== undefined && isSecretName(key) ? key : key === "value" || key === "stringValue" ? named : undefined;
    const replaced = redactLiteral(value, isKey ? undefined : name);
    if (replaced !== undefined) {
      for (const found of replaced.findings)
        findings.push({ rule: found.rule, strength: found.strength, start: open, end });
      out += json.slice(done, open) + JSON.stringify(replaced.text);
      done = end;
    }
    if (isKey) {
      if (value !== "value" && value !== "stringValue") named = undefined;
      const valueAt = afterSpace(json, next + 1);
      key =
        json.charCodeAt(valueAt) === QUOTE || (value === "value" && json.charCodeAt(valueAt) === 123)
          ? value
          : undefined;
    } else {
      named = (key === "key" || key === "name") && isSecretName(value) ? value : undefined;
      key = undefined;
    }
    open = json.indexOf('"', end);
  }
  return { text: done === 0 ? json : out + json.slice(done), findings };
}

function redactLiteral(
  value: string,
  secretName: string | undefined,
): { text: string; findings: Finding[] } | undefined {
  const inner = value.length >= TOO_SHORT ? findSecrets(value) : [];
  if (secretName !== undefined && isSecretValue(secretName, withoutScheme(value), "member")) {
    const rule = inner.find((f) => f.strength === "certain") ?? inner[0];
    const whole: Finding = {
      rule: rule?.rule ?? ASSIGNED_RULE,
      strength: rule?.strength ?? "likely",
      start: 0,
      end: value.length,
    };
    return { text: marker(whole.rule), findings: [whole] };
  }
  return inner.length === 0 ? undefined : redactText(value);
}

const withoutScheme = (value: string): string => value.replace(/^(?:bearer|basic|token|apikey|digest) {1,3}/i, "");
