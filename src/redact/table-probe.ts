/** Finds what a row of the table describes, where one of its anchors stands. */

import { type Kind, kindOf, mayStand } from "./pattern.ts";
import { type Probe, type Reading, Run } from "./reading.ts";
import type { Rule } from "./rule.ts";
import { type Shape, shapeOf } from "./shape.ts";
import { unitBefore, unitsOf } from "./units.ts";

const DOT = 46;
const DASH = 45;
const SLASH = 47;
const BACKSLASH = 92;
const PERCENT = 37;
const OPEN_BRACKET = 91;
const SMALL_M = 109;
const SMALL_U = 117;
const SMALL_X = 120;

export function isAlnum(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

const SIMPLE_ESCAPE = kindOf("nrtbfv0");
const HEX = kindOf("0-9A-Fa-f");
const COLOUR = kindOf("0-9;");
const MAX_COLOUR = 12;

/** Whether the character before `end` is the last of an escape: `\\n`, `%3D`, `\\x1b`, `\\u001b`, a colour's `[32m`. */
function endsEscape(units: Uint16Array, end: number): boolean {
  const last = units[end - 1] as number;
  if (mayStand(SIMPLE_ESCAPE, last) && unitBefore(units, end, 2) === BACKSLASH) return true;
  if (last === SMALL_M) {
    let i = end - 1;
    while (i >= end - 1 - MAX_COLOUR && mayStand(COLOUR, unitBefore(units, i))) i--;
    return unitBefore(units, i) === OPEN_BRACKET;
  }
  if (!mayStand(HEX, last)) return false;
  const before = unitBefore(units, end, 3);
  if (before === PERCENT || (before === SMALL_X && unitBefore(units, end, 4) === BACKSLASH))
    return mayStand(HEX, units[end - 2] as number);
  if (unitBefore(units, end, 5) !== SMALL_U || unitBefore(units, end, 6) !== BACKSLASH) return false;
  for (let i = end - 4; i < end - 1; i++) if (!mayStand(HEX, units[i] as number)) return false;
  return true;
}

/** Where the word ends that something at `at` would be glued to. "favicon.ico-…", "this.s.…": a dot is a part of it. */
const gluedTo = (units: Uint16Array, at: number): number => (unitBefore(units, at) === DOT ? at - 1 : at);

/**
 * Whether a token may start at `at`: nothing there before it, or no letter or digit. A letter that ends an escape
 * (`\n`, `%3D`, a terminal colour's `[32m`, a six-character Unicode escape) is none of the token's. So on raw JSON
 * this is true wherever it is true of the decoded text.
 */
function startsFresh(units: Uint16Array, at: number): boolean {
  if (at === 0) return true;
  const wordEnd = gluedTo(units, at);
  if (wordEnd === 0) return true;
  return !isAlnum(units[wordEnd - 1] as number) || endsEscape(units, wordEnd);
}

/** No escape before a place, and no dot, is longer. */
const MAX_BEFORE = 24;

/** What a letter or digit before a token may be the end of: an escape, or nothing. */
const ENDS_ESCAPE = kindOf("nrtbfv0-9A-Fa-fm");

/** As `startsFresh`, for a text that is looked at here and there. */
export function startsFreshIn(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  if (before !== DOT && !isAlnum(before)) return true;
  if (before !== DOT && !mayStand(ENDS_ESCAPE, before)) return false;
  const from = Math.max(0, at - MAX_BEFORE);
  return startsFresh(unitsOf(text.slice(from, at)), at - from);
}

/** As `startsFresh`; rows whose marks begin alike ask for the same place one after another. */
export function isFresh(reading: Reading, at: number): boolean {
  if (reading.freshAt !== at) {
    reading.freshAt = at;
    reading.isFresh = startsFresh(reading.units, at);
  }
  return reading.isFresh;
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

/** A match longer than this is read once, whatever becomes of it. */
const LONG_MATCH = 256;

const isInPath = (code: number): boolean => code === DASH || code === SLASH;

/** How far around a match is looked for what softens it, in code units. */
const NEAR = 400;

/** A shape, and what was seen of the stretches it names. */
interface Looks extends Shape {
  readonly seen: Run;
  readonly beforeHinge: Run | undefined;
}

/** The probe of a row of the table. */
export class TableProbe implements Probe {
  readonly #rule: Rule;
  readonly #rank: number;
  /** How far before the last place a match may start at the first one lies. */
  readonly #range: number;
  /** Whether each start is asked whether a token may begin there: where there is one only, that was asked before. */
  readonly #asksFresh: boolean;
  readonly #apart: boolean;
  #shape: Looks | undefined;
  #hingeAt = 0;
  /** The last hinge behind which nothing of the form stood, and in which text. */
  #failedIn = 0;
  #failedAt = 0;

  /** @param rank the row's place in the table */
  constructor(rule: Rule, rank: number) {
    this.#rule = rule;
    this.#rank = rank;
    this.#range = rule.at[1] - rule.at[0];
    this.#asksFresh = !rule.glued && this.#range > 0;
    this.#apart = rule.apart;
  }

  find(reading: Reading, at: number): void {
    const { units } = reading;
    for (let start = Math.max(0, at - this.#range); start <= at; start++) {
      reading.work++;
      if (start < reading.readUntil(this.#rank) || (this.#asksFresh && !isFresh(reading, start))) continue;
      if (this.#apart && isInPath(unitBefore(units, start))) continue;
      if (this.#fits(reading, start) && this.#passesHinge(reading, start)) this.#match(reading, start);
    }
  }

  may(text: string, at: number): boolean {
    const { pattern } = this.#rule;
    for (let start = Math.max(0, at - this.#range); start <= at; start++) {
      if (this.#asksFresh && !startsFreshIn(text, start)) continue;
      pattern.lastIndex = start;
      if (pattern.test(text)) return true;
    }
    return false;
  }

  /** Whether each of the first places holds a character that may stand there. */
  #fits(reading: Reading, start: number): boolean {
    this.#shape ??= this.#looks();
    const { kinds, places, fewest, run, seen } = this.#shape;
    const { text, units } = reading;
    if (text.length - start < fewest) return false;
    reading.work += 2;
    // The ends of the run first: it is the longest part, and marks that follow each other break it soon.
    if (!mayStand(run.kind, units[start + run.from] as number)) return false;
    if (!mayStand(run.kind, units[start + run.to - 1] as number)) return false;
    let i = 0;
    while (i < kinds.length && mayStand(kinds[i] as Kind, units[start + (places[i] as number)] as number)) i++;
    reading.work += i;
    return i === kinds.length && seen.endOf(reading, start + run.from, run.to - run.from) === start + run.to;
  }

  #looks(): Looks {
    const shape = shapeOf(this.#rule.pattern, this.#anchored());
    return { ...shape, seen: new Run(shape.run.kind), beforeHinge: shape.hinge && new Run(shape.hinge.kind) };
  }

  /** Where in a match an anchor stands for sure. */
  #anchored(): readonly [from: number, to: number] {
    const { anchors, at } = this.#rule;
    if (this.#range > 0) return [0, 0];
    return [at[0], at[0] + Math.min(...anchors.map((anchor) => anchor.replaceAll(/\[[^\]]*\]/g, "x").length))];
  }

  #passesHinge(reading: Reading, start: number): boolean {
    const { hinge, beforeHinge } = this.#shape as Looks;
    if (hinge === undefined || beforeHinge === undefined) return true;
    const from = start + hinge.from;
    const { text, units } = reading;
    const end = beforeHinge.endOf(reading, from, hinge.most + 1);
    if (end - from < hinge.least || end >= text.length || !mayStand(hinge.next, units[end] as number)) return false;
    if (this.#failedIn === reading.id && this.#failedAt === end) return false;
    this.#hingeAt = end;
    return true;
  }

  #match(reading: Reading, start: number): void {
    const { id, pattern, glued, needs, softenedBy, strength } = this.#rule;
    const { fewest, hinge } = this.#shape as Looks;
    const { text } = reading;
    pattern.lastIndex = start;
    if (!pattern.test(text)) {
      if (hinge?.isAll) {
        this.#failedIn = reading.id;
        this.#failedAt = this.#hingeAt;
      }
      reading.work += fewest;
      return;
    }
    const end = pattern.lastIndex;
    reading.work += end - start;
    const value = text.slice(start, end);
    if ((!glued && isAlnum(text.charCodeAt(end))) || isPlaceholder(value) || needs?.test(value) === false) {
      // Half of what was refused may hold the next start: a stretch is read twice, and not once for each mark in it.
      reading.setReadUntil(this.#rank, end - start > LONG_MATCH ? end : start + ((end - start) >> 1));
      return;
    }
    reading.setReadUntil(this.#rank, end);
    const isSoft = SAMPLE.test(value) || softenedBy?.test(text.slice(Math.max(0, start - NEAR), end + NEAR)) === true;
    reading.candidates.push({
      rule: id,
      strength: isSoft ? "likely" : strength,
      start,
      end,
    });
  }
}
