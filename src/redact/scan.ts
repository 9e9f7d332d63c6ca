/** Finds and replaces secrets in plain text: the prefilter says where to look, the probes say what is there. */
import { finish, type Slices } from "../kit/slices.ts";
import { CROWD_RULE, Crowd, roomOf } from "./crowd.ts";
import { isFresh } from "./fresh.ts";
import { Prefilter, type Visitor } from "./prefilter.ts";
import { KEY_RULES, rankOf, targets } from "./probes.ts";
import { type Finding, MARKER, MARKER_START, type Probe, Reading } from "./reading.ts";
import { RULES } from "./rules.ts";

/** Made at first use: most commands never scan anything. */
let prefilter: Prefilter<Probe> | undefined;
export const thePrefilter = (): Prefilter<Probe> => {
  prefilter ??= new Prefilter<Probe>(targets());
  return prefilter;
};

/** Makes ready what every search needs, for which the first one would wait otherwise. */
export function makeSearchReady(): void {
  thePrefilter();
}

const DOT = 46;
const MAX_MARKER_CHARS = 75;

/** Rules whose findings an earlier redaction cannot have left: a key goes with its header, and what covers a crowd was not judged before. */
const NEVER_LEFT = new Set([CROWD_RULE, ...KEY_RULES]);

/** Whether the marker of an earlier redaction stands in a finding or touches it: that text was judged then, with the secret still there. */
function touchesMarker(text: string, finding: Finding): boolean {
  // A dot between the two would have glued the secret to what stood there; see `table-probe.ts`.
  const start = text.charCodeAt(finding.start - 1) === DOT ? finding.start - 1 : finding.start;
  const from = Math.max(0, start - MAX_MARKER_CHARS);
  const around = text.slice(from, finding.end + MAX_MARKER_CHARS);
  for (let at = finding.end - from + 1; at > 0; ) {
    at = around.lastIndexOf(MARKER_START, at - 1);
    MARKER.lastIndex = at;
    if (at !== -1 && MARKER.test(around)) return from + MARKER.lastIndex >= start;
  }
  return false;
}

const better = (a: Finding, b: Finding): Finding => {
  if (a.strength !== b.strength) return a.strength === "certain" ? a : b;
  const longer = b.end - b.start - (a.end - a.start);
  if (longer !== 0) return longer > 0 ? b : a;
  return rankOf(b.rule) < rankOf(a.rule) ? b : a;
};

/** @param next begins in `last` */
function merge(last: Finding, next: Finding): Finding {
  const kept = better(last, next);
  if (kept === last && next.end <= last.end) return last;
  return { rule: kept.rule, strength: kept.strength, start: last.start, end: Math.max(last.end, next.end) };
}

const inOrder = (a: Finding, b: Finding): number => a.start - b.start || b.end - a.end;

/** Puts candidates in order. They nearly are, so a few insertions are faster than a sort; when many are far off, it sorts. */
function putInOrder(candidates: Finding[]): void {
  let steps = 4 * candidates.length;
  for (let i = 1; i < candidates.length; i++) {
    const one = candidates[i] as Finding;
    let to = i;
    for (; to > 0 && inOrder(candidates[to - 1] as Finding, one) > 0; to--) {
      candidates[to] = candidates[to - 1] as Finding;
      steps--;
    }
    candidates[to] = one;
    if (steps >= 0) continue;
    candidates.sort(inOrder);
    return;
  }
}

/** No probe finds anything that starts further before its anchor than this, but for manifests, which are read as a whole. */
const LOOKED_BACK = 32_768;

/** Takes up what the probes found, in order, and merges what overlaps. */
class Merge {
  readonly #text: string;
  readonly #mayHoldMarkers: boolean;
  readonly merged: Finding[] = [];

  constructor(text: string) {
    this.#text = text;
    this.#mayHoldMarkers = text.includes(MARKER_START);
  }

  /** Takes up the candidates that start before a place; from there on more may be found. */
  take(candidates: Finding[], before: number): void {
    putInOrder(candidates);
    let taken = 0;
    for (const next of candidates) {
      if (next.start >= before) break;
      taken++;
      if (this.#mayHoldMarkers && !NEVER_LEFT.has(next.rule) && touchesMarker(this.#text, next)) continue;
      const last = this.merged[this.merged.length - 1];
      if (last === undefined || next.start >= last.end) this.merged.push(next);
      else this.merged[this.merged.length - 1] = merge(last, next);
    }
    if (taken === candidates.length) candidates.length = 0;
    else candidates.splice(0, taken);
  }
}

/** Told after each slice what the probes cost in it; see `Reading.work`. */
export type Watch = (work: number) => void;

/** A search under way: one `next` after another, each over a stretch of the text. */
class Search implements Visitor<Probe> {
  readonly #text: string;
  readonly #filter = thePrefilter();
  #reading: Reading | undefined;
  /** One for probes that judge by surroundings, and one for forms: a certain finding must not be covered among likely ones. */
  readonly #crowd = new Crowd();
  readonly #forms = new Crowd();
  #merge: Merge | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** Searches the stretch that begins at a place. @returns where the next begins, or undefined at the end */
  next(from: number): number | undefined {
    const next = this.#filter.searchFrom(this.#text, from, this);
    if (next === undefined) return undefined;
    for (const crowd of [this.#crowd, this.#forms]) crowd.closeBefore(this.#reading, next);
    this.#take(next - LOOKED_BACK);
    return next;
  }

  visit(at: number, probe: Probe, isUnsure: boolean): boolean {
    this.#reading ??= new Reading(this.#text, RULES.length);
    const reading = this.#reading;
    const crowd = probe.isForm ? this.#forms : this.#crowd;
    if (crowd.covers(reading, at, probe)) return false;
    reading.work++;
    if ((isUnsure && !isFresh(reading, at)) || probe.gate?.refuses(reading, at) === true) return false;
    if (crowd.opens(reading, at, probe)) return false;
    const { work } = reading;
    const found = reading.candidates.length;
    probe.find(reading, at);
    if (probe.reach !== undefined)
      crowd.took(reading, at, probe.room ?? roomOf(reading.work - work, reading.candidates.length > found));
    return false;
  }

  #take(before: number): void {
    if (this.#reading === undefined || this.#reading.candidates.length === 0) return;
    this.#merge ??= new Merge(this.#text);
    this.#merge.take(this.#reading.candidates, before);
  }

  get work(): number {
    return this.#reading?.work ?? 0;
  }

  /** What was found, once the search is at its end. */
  findings(): Finding[] {
    if (this.#reading !== undefined) {
      this.#crowd.close(this.#reading);
      this.#forms.close(this.#reading);
    }
    this.#take(this.#text.length);
    return this.#merge?.merged ?? [];
  }
}

/** See `findSecrets`. @param watch for those who want to know what it costs */
export function* findInSlices(text: string, watch?: Watch): Slices<Finding[]> {
  const search = new Search(text);
  for (let from: number | undefined = 0; from !== undefined; ) {
    const before = search.work;
    from = search.next(from);
    watch?.(search.work - before);
    if (from !== undefined) yield;
  }
  return search.findings();
}

/**
 * All secrets in a plain text, sorted by start and not overlapping. Where rules overlap, a certain one wins over a
 * likely one, then the longer, then the earlier row; the finding covers all that any of them claimed.
 */
export function findSecrets(text: string): Finding[] {
  const search = new Search(text);
  for (let from: number | undefined = 0; from !== undefined; ) from = search.next(from);
  return search.findings();
}

/** The marker that replaces a secret in a stored text. */
export function marker(rule: string): string {
  const known = markers.get(rule);
  if (known !== undefined) return known;
  const made = `${MARKER_START}${rule}]`;
  markers.set(rule, made);
  return made;
}

/** Markers by rule, each made once. */
const markers = new Map<string, string>();

/** A text with its secrets replaced, and what they were (offsets in the text given). */
export interface Redacted {
  readonly text: string;
  readonly findings: Finding[];
}

/** Findings replaced between two yields. */
export const BATCH_REPLACED = 10_000;

/** The text with its findings replaced. */
export function* replaceInSlices(text: string, findings: readonly Finding[]): Slices<string> {
  let replaced = "";
  let done = 0;
  for (let from = 0; from < findings.length; from += BATCH_REPLACED) {
    if (from > 0) yield;
    const until = Math.min(findings.length, from + BATCH_REPLACED);
    for (let i = from; i < until; i++) {
      const { start, end, rule } = findings[i] as Finding;
      replaced += text.slice(done, start) + marker(rule);
      done = end;
    }
  }
  return replaced + text.slice(done);
}

/** See `redactText`. */
export function* redactTextInSlices(text: string): Slices<Redacted> {
  const findings = yield* findInSlices(text);
  return { text: findings.length === 0 ? text : yield* replaceInSlices(text, findings), findings };
}

/** The text with every finding replaced. Redacting twice changes nothing. */
export function redactText(text: string): Redacted {
  const findings = findSecrets(text);
  return { text: findings.length === 0 ? text : finish(replaceInSlices(text, findings)), findings };
}

/**
 * Tells the 1-based line an offset stands on, for one offset after another in ascending order, so that a text is read
 * once for all of them. Line ends are LF, CR LF and CR.
 */
export function lineCounter(text: string): (offset: number) => number {
  let line = 1;
  let i = 0;
  return (offset) => {
    for (; i < offset && i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code === 10 || (code === 13 && text.charCodeAt(i + 1) !== 10)) line++;
    }
    return line;
  };
}
