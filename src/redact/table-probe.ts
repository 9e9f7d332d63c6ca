/** Finds what a row of the table describes, where one of its anchors stands. */
import { Automaton, Met } from "./automaton.ts";
import { CHARACTER } from "./crowd.ts";
import { isFresh, startsFreshIn } from "./fresh.ts";
import { Gate } from "./gate.ts";
import { BEYOND, KIND_SIZE, type Kind, kindsOf, mayStand } from "./pattern.ts";
import { type Probe, type Reading, Run } from "./reading.ts";
import type { Rule } from "./rule.ts";
import { type Shape, shapeOf } from "./shape.ts";
import { isAlnum, QUICKER, Standing, unitBefore } from "./units.ts";

const DASH = 45;
const SLASH = 47;
const UNDERSCORE = 95;

const PLACEHOLDER = new Automaton(/x{6}|\*{4}|\.{4}|#{4}|0{16}|placeholder|redacted|your[_-]|changeme/i, "anywhere");
const MAX_PLACEHOLDER = 16;
const ENDS_HERE = new Automaton(/here/i, "end");
const PROVIDER_MARK = 8;
const LONG_BODY = 20;

/**
 * Whether a text in a secret's form is an obvious placeholder: rows of x, `your-…`, or words where the form's random part should be.
 * Refusing an upload for those would teach people to switch the check off.
 */
function isPlaceholder(reading: Reading, start: number, end: number): boolean {
  const { units } = reading;
  if (isOfWords(units, start, end) || ENDS_HERE.test(units, start, end)) return true;
  // Several rows may describe the same stretch.
  return reading.memo(PLACEHOLDER, () => new Met(PLACEHOLDER, MAX_PLACEHOLDER)).in(units, start, end);
}

/** Small letters alone are words ("sk_live_put_your_own_key"), unless they run on longer than words do. */
function isOfWords(units: Uint16Array, start: number, end: number): boolean {
  let holdsSign = false;
  for (let i = start; i < end; i++) {
    const code = units[i] as number;
    if ((code >= 48 && code <= 57) || (code >= 65 && code <= 90)) return false;
    holdsSign ||= i >= start + PROVIDER_MARK && (code === DASH || code === UNDERSCORE);
  }
  return holdsSign || end - start < PROVIDER_MARK + LONG_BODY;
}

/** Documentation shows keys in full form; AWS's end in EXAMPLE. They are replaced, but refuse nothing. */
const SAMPLE = /example/i;

/** A match longer than this is read once, whatever becomes of it. */
const LONG_MATCH = 256;

/** See `Probe.room`. */
const ROOM = 20 * CHARACTER;

const isInPath = (code: number): boolean => code === DASH || code === SLASH;

/** With a longer anchor a match is likely, so the expression is run without asking an automaton first. */
const LONG_MARK = 12;

/** How far around a match `softenedBy` is looked for, in code units. */
const NEAR = 400;
const MAX_SOFTENING = 32;

/** A shape with what is needed to look for it. */
interface Looks extends Shape {
  readonly gate: Gate;
  /** All of `kinds`, one after another. */
  readonly table: Uint8Array;
  readonly beforeHinge: Run | undefined;
  /** Of the pattern; undefined when the kinds of the places tell all. */
  readonly automaton: Automaton | undefined;
}

/** The probe of a row of the table, where one of its anchors stands. */
export class TableProbe implements Probe {
  readonly #rule: Rule;
  readonly #anchor: string;
  readonly #rank: number;
  /** Distance from the first place at which a match may start to the last. */
  readonly #range: number;
  /** Whether each start has to be asked whether a token may begin there. When there is only one, it was asked before. */
  readonly #asksFresh: boolean;
  readonly #apart: boolean;
  readonly isForm = true;
  readonly room = ROOM;
  /** Set when all matches start at the place asked about. */
  readonly reach: "near" | undefined;
  /** Set when all matches start at the place asked about, from the first look on. */
  gate: Gate | undefined;
  #shape: Looks | undefined;
  #hasMatched = false;
  #hingeAt = 0;
  /** Between the two no tail begins, in the reading of `#tailIn`; the second is where one does, or the text's end. */
  #tailFrom = 0;
  #tailAt = 0;
  #tailIn = 0;

  /** @param rank the row's place in the table @param anchor which of the row's anchors it is called for */
  constructor(rule: Rule, rank: number, anchor: string) {
    this.#rule = rule;
    this.#anchor = anchor;
    this.#rank = rank;
    this.#range = rule.at[1] - rule.at[0];
    this.#asksFresh = !rule.glued && this.#range > 0;
    this.#apart = rule.apart;
    this.reach = this.#range === 0 ? "near" : undefined;
  }

  /** The kind of each place from the first one asked about, as far as a match and the anchor tell. */
  kinds(): readonly Kind[] {
    this.#shape ??= this.#looks();
    return this.#range === 0 ? this.#shape.all : [];
  }

  find(reading: Reading, at: number): void {
    reading.work++;
    if (this.gate !== undefined) {
      this.#look(reading, at);
      return;
    }
    this.#shape ??= this.#looks();
    const { gate } = this.#shape;
    for (let start = Math.max(reading.readUntil(this.#rank), at - this.#range); start <= at; start++) {
      reading.work++;
      if (!gate.refuses(reading, start) && (!this.#asksFresh || isFresh(reading, start))) this.#look(reading, start);
    }
  }

  /** Looks for a match at a place. @param start has passed the gate, and a token may begin there */
  #look(reading: Reading, start: number): void {
    if (start < reading.readUntil(this.#rank) || (this.#apart && isInPath(unitBefore(reading.units, start)))) return;
    const { automaton } = this.#shape as Looks;
    if (!this.#passesHinge(reading, start) || (automaton === undefined && !this.#fits(reading, start))) return;
    if (this.#holdsTail(reading, start)) this.#match(reading, start);
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

  /** Whether each of the first places outside of the run holds a character that may stand there. */
  #fits(reading: Reading, start: number): boolean {
    const { table, places } = this.#shape as Looks;
    const { units } = reading;
    let i = 0;
    for (; i < places.length; i++) {
      const code = Math.min(units[start + (places[i] as number)] as number, BEYOND);
      if (table[i * KIND_SIZE + code] === 0) break;
    }
    reading.work += i + 1;
    return i === places.length;
  }

  #looks(): Looks {
    const { pattern, at } = this.#rule;
    const shape = shapeOf(
      pattern,
      this.#range === 0 ? { at: at[0], signs: kindsOf(this.#anchor, pattern.ignoreCase) } : undefined,
    );
    const gate = new Gate(shape);
    if (this.#range === 0) this.gate = gate;
    const table = new Uint8Array(shape.kinds.length * KIND_SIZE);
    for (const [i, kind] of shape.kinds.entries()) table.set(kind, i * KIND_SIZE);
    const automaton = shape.isPlain || this.#anchor.length > LONG_MARK ? undefined : new Automaton(pattern, "first");
    return { ...shape, gate, table, automaton, beforeHinge: shape.hinge && new Run(shape.hinge.kind) };
  }

  #passesHinge(reading: Reading, start: number): boolean {
    const { hinge, beforeHinge, gate } = this.#shape as Looks;
    if (hinge === undefined || beforeHinge === undefined) return true;
    const from = start + hinge.from;
    const { text, units } = reading;
    const end = beforeHinge.endOf(reading, from, hinge.most + LONG_MATCH);
    this.#hingeAt = end;
    if (end - from > hinge.most) {
      // The stretch is too long for all matches that begin in its first part.
      gate.refuseUntil(start, end - hinge.most - hinge.from);
      return false;
    }
    if (end - from >= hinge.least && end < text.length && mayStand(hinge.next, units[end] as number)) return true;
    // A match that began later in the stretch would meet the same character, with fewer before it.
    gate.refuseUntil(start, end - hinge.from + 1);
    return false;
  }

  /** Whether the text that ends every match stands where it may. */
  #holdsTail(reading: Reading, start: number): boolean {
    const { tail, fewest, most } = this.#shape as Looks;
    if (tail === "") return true;
    const from = start + fewest - tail.length;
    // Starts come roughly from first to last; a step back must not search the rest of the text anew.
    if (this.#tailIn === reading.id && from < this.#tailFrom) return true;
    if (this.#tailIn !== reading.id || from > this.#tailAt) {
      const at = reading.text.indexOf(tail, from);
      this.#tailIn = reading.id;
      this.#tailFrom = from;
      this.#tailAt = at === -1 ? reading.text.length : at;
      reading.work += Math.ceil((this.#tailAt - from) / QUICKER);
    }
    return this.#tailAt <= start + most - tail.length;
  }

  #match(reading: Reading, start: number): void {
    const { id, pattern, glued, needs, strength } = this.#rule;
    const { fewest, hinge, gate, automaton } = this.#shape as Looks;
    const { text } = reading;
    pattern.lastIndex = start;
    // Only the expression tells where a match ends. After a match the next is likely one, too, so the automaton is not asked first.
    const isRefused = !this.#hasMatched && automaton?.endOf(reading.units, start, text.length) === -1;
    this.#hasMatched = !isRefused && pattern.test(text);
    if (!this.#hasMatched) {
      if (hinge?.isAll) gate.refuseUntil(start, this.#hingeAt - hinge.from + 1);
      reading.work += fewest;
      return;
    }
    const end = pattern.lastIndex;
    reading.work += end - start;
    const value = text.slice(start, end);
    if (
      (!glued && isAlnum(text.charCodeAt(end))) ||
      isPlaceholder(reading, start, end) ||
      needs?.test(value) === false
    ) {
      // The second half of what was refused may hold the next start: so a stretch is read twice, and not once for each mark in it.
      reading.setReadUntil(this.#rank, end - start > LONG_MATCH ? end : start + ((end - start) >> 1));
      return;
    }
    reading.setReadUntil(this.#rank, end);
    const isSoft = SAMPLE.test(value) || this.#isSoftened(reading, start, end);
    reading.candidates.push({
      rule: id,
      strength: isSoft ? "likely" : strength,
      start,
      end,
    });
  }

  #isSoftened(reading: Reading, start: number, end: number): boolean {
    const { softenedBy } = this.#rule;
    if (softenedBy === undefined) return false;
    const { text } = reading;
    const softening = reading.memo(
      this,
      () => new Standing(new RegExp(softenedBy, `${softenedBy.flags}g`), MAX_SOFTENING),
    );
    return softening.in(text, Math.max(0, start - NEAR), Math.min(text.length, end + NEAR));
  }
}
