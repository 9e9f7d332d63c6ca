/** A quick check that is enough for nearly every text. */
import { finish, type Slices } from "../kit/slices.ts";
import { startsFreshIn } from "./fresh.ts";
import type { Probe } from "./reading.ts";
import { thePrefilter } from "./scan.ts";

/** Escapes that could hide part of a secret in raw JSON: an escaped slash, or an ASCII character spelled as `\u00..`. */
const HIDING = /\\u00(?:2[013-9a-f]|3[0-9abdf]|[4-7])/i;

const isHiding = (text: string): boolean => text.includes("\\/") || (text.includes("\\u00") && HIDING.test(text));

/** Characters for each anchor that turns out to be nothing: where anchors stand closer, the real search has to judge. */
const ROOM = 32;
/** How many characters may be lacking. Both are chosen so that no crowd that a search would cover goes unseen. */
const PATIENCE = 32 * ROOM;

/** A stretch of a text, in UTF-16 units. */
interface Part {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds which parts of a text might hold a secret, each taken by itself: one look through the whole takes less than one at each.
 * @param parts in the order in which they stand; each the whole text, or an object of raw JSON in it
 * @returns their indexes; for all others `mightHoldSecret` says no
 */
export function* partsInSlices(text: string, parts: readonly Part[]): Slices<ReadonlySet<number>> {
  const suspects = new Set(hidingParts(text, parts));
  const filter = thePrefilter();
  const partAt = partFinder(parts);
  let [current, lacking, countedTo] = [-1, 0, 0];
  const visit = (at: number, probe: Probe, isUnsure: boolean): boolean => {
    const i = partAt(at);
    if (i === -1 || suspects.has(i)) return false;
    if (i !== current) [current, lacking, countedTo] = [i, 0, (parts[i] as Part).start];
    lacking = Math.max(0, lacking - Math.max(0, at - countedTo)) + ROOM;
    countedTo = Math.max(at, countedTo);
    const holds = lacking > PATIENCE || ((!isUnsure || startsFreshIn(text, at)) && probe.may(text, at));
    if (holds) suspects.add(i);
    return suspects.size === parts.length;
  };
  for (let from: number | undefined = 0; from !== undefined && suspects.size < parts.length; ) {
    from = filter.searchFrom(text, from, { visit });
    yield;
  }
  return suspects;
}

/** Which of the parts have escapes that could hide a part of a secret. */
function* hidingParts(text: string, parts: readonly Part[]): Generator<number> {
  if (!isHiding(text)) return;
  for (const [i, { start, end }] of parts.entries()) if (isHiding(text.slice(start, end))) yield i;
}

/** Finds the part that a place lies in, for places that nearly always follow one another; -1 for none. */
function partFinder(parts: readonly Part[]): (at: number) => number {
  let i = 0;
  return (at) => {
    while (i > 0 && at < (parts[i - 1] as Part).end) i--;
    while (i < parts.length && at >= (parts[i] as Part).end) i++;
    return i < parts.length && at >= (parts[i] as Part).start ? i : -1;
  };
}

/** See `mightHoldSecret`. */
export function* mightHoldInSlices(text: string): Slices<boolean> {
  const suspects = yield* partsInSlices(text, [{ start: 0, end: text.length }]);
  return suspects.size > 0;
}

/**
 * A quick no: false means that neither `findSecrets` nor `redactJson` would find anything in this text. True says only
 * that one of them must look. Safe on raw JSON.
 */
export const mightHoldSecret = (text: string): boolean => finish(mightHoldInSlices(text));
