/** Finds and replaces secrets in plain text: the prefilter says where to look, the rules say what is there. */
import {
  assignedValue,
  curlPassword,
  headerValue,
  mayBeAssigned,
  mayBeCurlUser,
  mayBeHeader,
  mayHoldUrlPassword,
  type Span,
  urlPassword,
} from "./likely.ts";
import { Prefilter, type Target } from "./prefilter.ts";
import { armourAt, armourHeader } from "./private-key.ts";
import type { Rule, Strength } from "./rule.ts";
import { RULES } from "./rules.ts";

/** A secret found in a text; offsets in UTF-16 code units, of the secret value itself. */
export interface Finding {
  readonly rule: string;
  readonly strength: Strength;
  readonly start: number;
  readonly end: number;
}

interface Candidate extends Finding {
  /** Place in the table; the lower, the more specific. */
  readonly rank: number;
}

/** What is done where an anchor is seen: `find` decides, `may` is its cheaper, more lenient form for the quick no. */
interface Probe {
  readonly find: (text: string, at: number) => Candidate | undefined;
  readonly may: (text: string, at: number) => boolean;
}

const DOT = 46;

function isAlnum(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

const ESCAPE_END = /(?:\\[nrtbfv0]|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\[[0-9;]{0,12}m)$/;

/**
 * Whether a token may start at `at`: nothing there before it, or no letter or digit. A letter that ends an escape
 * (`\n`, `%3D`, a terminal colour's `[32m`, a six-character Unicode escape) is none of the token's. So on raw JSON
 * this is true wherever it is true of the decoded text.
 */
function startsFresh(text: string, at: number): boolean {
  if (at === 0) return true;
  // "favicon.ico-…", "this.s.…": a dot glued to a word makes what follows it a part of that word.
  const wordEnd = text.charCodeAt(at - 1) === DOT ? at - 1 : at;
  if (wordEnd === 0 || !isAlnum(text.charCodeAt(wordEnd - 1))) return true;
  return ESCAPE_END.test(text.slice(Math.max(0, wordEnd - 16), wordEnd));
}

const PLACEHOLDER = /x{6,}|\*{4,}|\.{4,}|#{4,}|0{16,}|placeholder|redacted|your[_-]|changeme|here$/i;
const PROVIDER_MARK = 8;
const LONG_BODY = 20;

/**
 * Whether a text of a secret's form is a stand-in that nobody takes for one: rows of x, `your-…`, or words where the
 * form's random part should be. Refusing an upload for those would teach people to switch the check off.
 */
function isPlaceholder(value: string): boolean {
  if (PLACEHOLDER.test(value)) return true;
  if (/[A-Z0-9]/.test(value)) return false;
  // Small letters alone are words ("sk_live_put_your_own_key"), unless they run on longer than words do.
  const body = value.slice(PROVIDER_MARK);
  return body.length < LONG_BODY || /[_-]/.test(body);
}

/** Documentation shows keys in full form; AWS's end in EXAMPLE. They are replaced, but refuse nothing. */
const SAMPLE = /example/i;

/** Counts searches, so that what a probe remembers of one is not taken for the next. */
let searches = 0;

/** A try that read more than this without a finding lets the same rule start again only behind what it read. */
const LONG_TRY = 256;

function tableProbe(rule: Rule, rank: number): Probe {
  const { pattern, glued, needsDigit } = rule;
  const [fewest, most] = rule.at;
  // A hostile text repeats a rule's prefix; without this each repeat would read the same long stretch again.
  let search = 0;
  let readUntil = 0;
  const matchEnd = (text: string, start: number): number => {
    if (start < 0 || (!glued && !startsFresh(text, start))) return -1;
    pattern.lastIndex = start;
    return pattern.test(text) ? pattern.lastIndex : -1;
  };
  return {
    find(text, at) {
      if (search !== searches) {
        search = searches;
        readUntil = 0;
      }
      for (let back = most; back >= fewest; back--) {
        const start = at - back;
        if (start < readUntil) continue;
        const end = matchEnd(text, start);
        if (end === -1) continue;
        if (end - start > LONG_TRY) readUntil = end;
        if (!glued && isAlnum(text.charCodeAt(end))) continue;
        const value = text.slice(start, end);
        if (isPlaceholder(value) || (needsDigit && !/[0-9]/.test(value))) continue;
        readUntil = end;
        return { rule: rule.id, strength: SAMPLE.test(value) ? "likely" : rule.strength, start, end, rank };
      }
      return undefined;
    },
    may(text, at) {
      for (let back = most; back >= fewest; back--) if (matchEnd(text, at - back) !== -1) return true;
      return false;
    },
  };
}

/** Ranks of what is not in the table: armour before any row, judged values after all. */
const ARMOUR_RANK = -1;
const LIKELY_RANK = RULES.length;

const ARMOUR_PROBE: Probe = {
  find(text, at) {
    const armour = armourAt(text, at);
    if (armour === undefined) return undefined;
    const { start, end, hasMaterial } = armour;
    return hasMaterial
      ? { rule: "private-key", strength: "certain", start, end, rank: ARMOUR_RANK }
      : { rule: "private-key-header", strength: "likely", start, end, rank: ARMOUR_RANK };
  },
  may: (text, at) => armourHeader(text, at) !== undefined,
};

function likelyProbe(
  rule: string,
  rank: number,
  find: (text: string, at: number) => Span | undefined,
  may: (text: string, at: number) => boolean = (text, at) => find(text, at) !== undefined,
): Probe {
  return {
    find(text, at) {
      const span = find(text, at);
      return span && { rule, strength: "likely", start: span[0], end: span[1], rank: LIKELY_RANK + rank };
    },
    may,
  };
}

const HEADER_PROBE = likelyProbe("authorization-header", 0, headerValue, mayBeHeader);
const URL_PROBE = likelyProbe("url-password", 1, urlPassword, mayHoldUrlPassword);
const CURL_PROBE = likelyProbe("curl-password", 2, curlPassword, mayBeCurlUser);
const ASSIGNED_PROBE = likelyProbe("assigned-secret", 3, assignedValue, mayBeAssigned);

/** The rule a JSON member's value is counted under; see `json.ts`. */
export const ASSIGNED_RULE = "assigned-secret";

const folded = (anchors: readonly string[], payload: Probe): Target<Probe>[] =>
  anchors.map((anchor) => ({ anchor, fold: true, payload }));

/** Made at first use: most commands never scan anything. */
let prefilter: Prefilter<Probe> | undefined;
const thePrefilter = (): Prefilter<Probe> => {
  prefilter ??= new Prefilter<Probe>(targets());
  return prefilter;
};

const targets = (): Target<Probe>[] => [
  ...RULES.flatMap((rule, rank) => {
    const probe = tableProbe(rule, rank);
    return rule.anchors.map((anchor) => ({ anchor, fold: rule.pattern.ignoreCase, payload: probe }));
  }),
  { anchor: "---BEGIN", fold: false, payload: shifted(ARMOUR_PROBE, 2) },
  { anchor: "---- BEGIN", fold: false, payload: ARMOUR_PROBE },
  { anchor: "PuTTY-User-Key-File", fold: false, payload: ARMOUR_PROBE },
  ...folded(["bearer ", "authorization"], HEADER_PROBE),
  { anchor: "://", fold: false, payload: URL_PROBE },
  { anchor: "curl ", fold: false, payload: CURL_PROBE },
  ...folded(
    ["password", "passwd", "passphrase", "passcode", "pwd", "secret", "token", "credential", "authorization"],
    ASSIGNED_PROBE,
  ),
  ...folded(
    ["_key", "-key", ".key", "ikey", "skey", "tkey", "ekey", "nkey", "hkey", "gkey", "rkey", "tionkey", "hookkey"],
    shifted(ASSIGNED_PROBE, -1),
  ),
  ...folded(
    ["pass=", "pass:", 'pass"', "pass'", "pass`", "pass ", "pass\\", "pass]", "_pw=", "_pw:", '_pw"', "_pw'", "_pw "],
    ASSIGNED_PROBE,
  ),
];

/** The same probe, run `by` characters before the anchor (after it, if negative). */
function shifted(probe: Probe, by: number): Probe {
  return {
    find: (text, at) => (at - by < 0 ? undefined : probe.find(text, at - by)),
    may: (text, at) => at - by >= 0 && probe.may(text, at - by),
  };
}

const MARKER = /\[REDACTED:[a-z0-9-]{1,64}\]/g;

/** Where earlier redactions stand; what touches them was judged then, with the secret still there. */
function markersIn(text: string): Span[] {
  if (!text.includes("[REDACTED:")) return [];
  return Array.from(text.matchAll(MARKER), (m) => [m.index, m.index + m[0].length] as const);
}

function touchesAny(text: string, spans: readonly Span[], finding: Finding): boolean {
  // A dot between the two would have glued the secret to what stood there; see `startsFresh`.
  const start = text.charCodeAt(finding.start - 1) === DOT ? finding.start - 1 : finding.start;
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((spans[middle] as Span)[1] < start) low = middle + 1;
    else high = middle;
  }
  const span = spans[low];
  return span !== undefined && span[0] <= finding.end;
}

const better = (a: Candidate, b: Candidate): Candidate => {
  if (a.strength !== b.strength) return a.strength === "certain" ? a : b;
  const longer = b.end - b.start - (a.end - a.start);
  if (longer !== 0) return longer > 0 ? b : a;
  return b.rank < a.rank ? b : a;
};

/**
 * All secrets in a plain text, sorted by start and not overlapping. Where rules overlap, a certain one wins over a
 * likely one, then the longer, then the earlier row; the finding covers all that any of them claimed.
 */
export function findSecrets(text: string): Finding[] {
  const candidates: Candidate[] = [];
  searches++;
  thePrefilter().search(text, (at, probe) => {
    const found = probe.find(text, at);
    if (found !== undefined) candidates.push(found);
    return false;
  });
  if (candidates.length === 0) return [];
  const markers = markersIn(text);
  const kept = markers.length === 0 ? candidates : candidates.filter((c) => !touchesAny(text, markers, c));
  kept.sort((a, b) => a.start - b.start || b.end - a.end);
  const merged: Candidate[] = [];
  for (const next of kept) {
    const last = merged.at(-1);
    if (last === undefined || next.start >= last.end) merged.push(next);
    else merged[merged.length - 1] = { ...better(last, next), start: last.start, end: Math.max(last.end, next.end) };
  }
  return merged.map(({ rule, strength, start, end }) => ({ rule, strength, start, end }));
}

/** What stands in a stored text where a secret stood. */
export function marker(rule: string): string {
  return `[REDACTED:${rule}]`;
}

/** The text with every finding replaced, and the findings (offsets in the text given). Redacting twice changes nothing. */
export function redactText(text: string): { text: string; findings: Finding[] } {
  const findings = findSecrets(text);
  if (findings.length === 0) return { text, findings };
  let out = "";
  let done = 0;
  for (const finding of findings) {
    out += text.slice(done, finding.start) + marker(finding.rule);
    done = finding.end;
  }
  return { text: out + text.slice(done), findings };
}

/** Escapes that could hide part of a secret in raw JSON: an escaped slash, or an ASCII character spelled as `\u00..`. */
const HIDING = /\\u00(?:2[013-9a-f]|3[0-9abdf]|[4-7])/i;

/**
 * A quick no: false means that neither `findSecrets` nor `redactJson` would find anything in this text. True says only
 * that one of them must look. Safe on raw JSON.
 */
export function mightHoldSecret(text: string): boolean {
  if (text.includes("\\/")) return true;
  if (text.includes("\\u00") && HIDING.test(text)) return true;
  return thePrefilter().search(text, (at, probe) => probe.may(text, at));
}

/** The 1-based line an offset stands on; line ends are LF, CR LF or CR. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let i = 0; i < offset && i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 10 || (code === 13 && text.charCodeAt(i + 1) !== 10)) line++;
  }
  return line;
}
