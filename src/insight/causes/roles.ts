/**
 * What an entry's text says of a commit it names. Entries name the commit that broke something and the one that mended it
 * alike, and only the first is a cause.
 */
export type Role =
  /** The text calls it the cause: "introduced in abc1234", "reverted abc1234". */
  | "cause"
  /** The text calls it the remedy: "fixed in abc1234", or it stands under "Fix". */
  | "fix"
  /** Could be either: "Fixes abc1234" names the culprit in a commit's trailer and the remedy in prose. */
  | "unclear"
  /** The text says nothing of it. */
  | "unmarked";

const CAUSE_WORDS =
  "introduc(?:ed|es|ing)|caus(?:ed|es|ing)|cause|broke|breaks|broken|breaking|regress(?:ed|ion|es)|culprit|offending|offender|" +
  "since|came (?:in )?(?:with|in|from)|added (?:in|by|with)|start(?:ed|s) (?:in|with|after|at)|bisect(?:ed|s)?(?: to)?|blames?|" +
  "because of|due to|origin(?:ated|ates)? (?:in|from)|originally|bad commit|brought in|slipped in";
const FIX_WORDS =
  "fix(?:ed)?|hotfix(?:ed)?|resolv(?:ed|es)|repaired|corrected|patched|closed|solved|mitigated|remedied|addressed|mended|" +
  "revert(?:ed)? (?:in|by|with|via)|rolled back (?:in|by|with|via)|shipped in|landed in|restored (?:in|by|with)|worked around";
const UNCLEAR_WORDS = "fixes|fixing";
/** With a commit as its object: what is taken back was wrong. */
const TAKEN_BACK =
  /\b(?:revert(?:s|ed|ing)?|roll(?:s|ed|ing)? back|back(?:s|ed|ing)? out)\s+(?:the\s+)?(?:commits?\s+)?$/i;

const BEFORE = new RegExp(`\\b(?:(${CAUSE_WORDS})|(${FIX_WORDS})|(${UNCLEAR_WORDS}))\\b`, "gi");
const AFTER =
  /^[\s`"')\]*_]*(?:(?:that|which|has|had|already|later|then|first|also|is|was|the)\s+){0,3}(?:(introduced|introduces|broke|breaks|caused|causes|regressed|culprit|cause\b)|(fixed|fixes|fix\b|resolved|resolves|repaired|corrected|solved|mended))(?!\s+(?:in|by|with)\b)/i;
const IN_BRACKETS =
  /^[`"'\])*_]*\s*\((?:the\s+)?(?:(cause|culprit|introduc|regress|broke|bad)|(fix|hotfix|remedy|patch|solution))/i;

const FIX_LABEL =
  /^(?:the )?(?:(?:hot)?fix(?:e[ds])?(?:[- ](?:commits?|applied|in|by|sha))?|solutions?|resolutions?|resolved(?: in| by)?|remed(?:y|ies)|mitigations?|patch(?:es)?|corrections?|fixed (?:in|by))$/i;
const CAUSE_LABEL =
  /^(?:the )?(?:(?:root[- ])?causes?(?: commits?)?|introduced(?: in| by| with)?|culprits?(?: commits?)?|regression(?:s| commit| from)?|regressed (?:in|by)|caused by|broken (?:by|in)|broke in|origin|offending commits?|bad commits?|commits?[- ]at[- ]fault)$/i;

/** A label at the beginning of a line, bold or not: `**Fix:**`, `- Root cause: …`, `### Resolution`, `| Fix | … |`. */
const LABELLED =
  /^[\s>]*(?:[-*+]\s+|\d{1,3}[.)]\s+)?(?:(#{3,6})\s+)?(\||)\s*(?:\*\*|__)?\s*[^\p{L}\n]{0,4}(\p{L}[\p{L} '’/-]{1,40}?)\s*(?:\*\*|__)?\s*([:：|]|\*\*|__|[–—-](?=\s)|$)(?:\*\*|__)?/u;

interface Passage {
  readonly under: "fix" | "cause" | undefined;
  readonly text: string;
}

/** An entry's text as far as it is looked at for words about commits. */
const MAX_CHARS = 64 * 1024;

/**
 * What the text says of commits. Where one is named several times the plainest word counts: a cause above a remedy, that above
 * nothing.
 * @param shas as the text names them, lower case
 */
export function rolesOf(text: string, shas: readonly string[]): Map<string, Role> {
  const read = passages(text.slice(0, MAX_CHARS));
  return new Map(shas.map((sha) => [sha, roleIn(read, sha)]));
}

function roleIn(read: readonly Passage[], sha: string): Role {
  const found = new Set<Role>();
  for (const { under, text } of read)
    for (const at of placesOf(text, sha)) found.add(roleAt(text, at, sha.length) ?? under ?? "unmarked");
  return (["cause", "fix", "unclear"] as const).find((role) => found.has(role)) ?? "unmarked";
}

/** Paragraphs and list items, each on one line, with the label they stand under. */
function passages(text: string): Passage[] {
  const begun: { under: Passage["under"]; lines: string[] }[] = [];
  let under: Passage["under"];
  let joins = false;
  for (const line of text.split("\n")) {
    if (line.trim() === "") {
      joins = false;
      continue;
    }
    // Runs of blanks can be told apart in as many ways as they are long, to the third power.
    const label = LABELLED.exec(line.replace(/\s+/g, " "));
    if (label?.[3] !== undefined && isLabel(label)) {
      under = roleOfLabel(label[3].trim());
      joins = false;
    }
    const begins = /^\s*(?:[-*+]\s|\d{1,3}[.)]\s|#|\||>)/.test(line);
    const last = begun.at(-1);
    if (joins && !begins && last) last.lines.push(line);
    else begun.push({ under, lines: [line] });
    joins = true;
  }
  return begun.map((passage) => ({ under: passage.under, text: passage.lines.join(" ") }));
}

function roleOfLabel(label: string): Passage["under"] {
  if (FIX_LABEL.test(label)) return "fix";
  return CAUSE_LABEL.test(label) ? "cause" : undefined;
}

/** A word that ends a line is a label only as a heading or in bold. */
function isLabel(match: RegExpExecArray): boolean {
  const end = match[4] ?? "";
  return /[:：|]|\*\*|__/.test(end) || match[1] !== undefined || (/[–—-]/.test(end) && /\*\*|__/.test(match[0]));
}

function* placesOf(passage: string, sha: string): Generator<number> {
  const lower = passage.toLowerCase();
  for (let at = lower.indexOf(sha); at !== -1; at = lower.indexOf(sha, at + 1))
    if (!/[0-9a-z]/.test(lower[at - 1] ?? "") && !/[0-9a-z]/.test(lower[at + sha.length] ?? "")) yield at;
}

const CLAUSE_CHARS = 200;

function roleAt(passage: string, at: number, length: number): Role | undefined {
  const after = passage.slice(at + length, at + length + 60);
  const next = AFTER.exec(after) ?? IN_BRACKETS.exec(after);
  if (next) return next[1] === undefined ? "fix" : "cause";
  const before = passage.slice(Math.max(0, at - CLAUSE_CHARS), at).replace(/[`"'([*_<]+$/, "");
  const clause = before.slice(lastEnd(before));
  if (TAKEN_BACK.test(clause)) return "cause";
  const word = [...clause.matchAll(BEFORE)].at(-1);
  if (!word) return undefined;
  if (word[1] !== undefined) return "cause";
  return word[2] !== undefined ? "fix" : "unclear";
}

/** Where the clause before a place begins: behind the last end of a sentence. */
function lastEnd(text: string): number {
  let end = 0;
  for (const match of text.matchAll(/[.!?;](?=\s)/g)) end = match.index + 1;
  return end;
}
