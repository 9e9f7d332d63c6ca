/**
 * The second check of the first pass. Where the window of an anchor stands, a few characters around it mostly show that no secret does.
 * That takes a comparison or a few; asking a row of the table takes ten times as long.
 */
import { BEYOND, choiceOf, KIND_SIZE, type Kind } from "./pattern.ts";

/** Only characters nearer to a window's end than this are looked at. */
export const REACH = 128;
/** Characters that are looked at, and how many of these are the anchor's own when others are known. */
export const LOOKS = 4;
const OF_ANCHOR = 2;

/**
 * A look is one number: above `KIND_SHIFT` the offset of its kind in `signs`, below it the place of the character, counted from `REACH`
 * before the window's end on.
 */
export const KIND_SHIFT = 8;
export const PLACE_MASK = 2 * REACH - 1;
/** The look that any character passes. */
export const ANY = (0 << KIND_SHIFT) + REACH;
export const NO_LOOKS: readonly number[] = Array.from({ length: LOOKS }, () => ANY);

/** Which characters may stand around a window. */
interface Context {
  /** The kind of each place, as far as it is known. */
  readonly kinds: readonly (Kind | undefined)[];
  /** The place at which the window ends, and the number of its places. */
  readonly end: number;
  readonly width: number;
  /** The places of the anchor; `to` is not included. */
  readonly from: number;
  readonly to: number;
}

export class Around {
  /** All kinds, one after another; the first is of any character. */
  signs = new Uint8Array(KIND_SIZE).fill(1);
  readonly #begins = new Map<Kind, number>();

  /** @returns `LOOKS` looks, the likeliest to refuse first */
  looks(context: Context): number[] {
    const looks = placesOf(context).map((place) => {
      const begin = this.#beginOf(context.kinds[place] as Kind);
      return (begin << KIND_SHIFT) + place - context.end + REACH;
    });
    return NO_LOOKS.map((none, i) => looks[i] ?? none);
  }

  #beginOf(kind: Kind): number {
    const known = this.#begins.get(kind);
    if (known !== undefined) return known;
    const begin = this.signs.length;
    const signs = new Uint8Array(begin + KIND_SIZE);
    signs.set(this.signs);
    signs.set(kind, begin);
    this.signs = signs;
    this.#begins.set(kind, begin);
    return begin;
  }
}

/**
 * The places to look at. Of the anchor's: those with the least choice, then those furthest from the window. Of the rest: those with the
 * least choice, far from one another.
 */
function placesOf({ kinds, end, width, from, to }: Context): number[] {
  const distinct = [...kinds.keys()].filter((place) => {
    const isInWindow = place > end - width && place <= end;
    // The bytes are the low ones of code units, so a kind that holds characters beyond them cannot be checked.
    return !isInWindow && Math.abs(place - end) < REACH && kinds[place]?.[BEYOND] === 0;
  });
  const choice = (place: number) => choiceOf(kinds[place] as Kind);
  const distance = (place: number) => Math.abs(place - end);
  const isOfAnchor = (place: number) => place >= from && place < to;
  const ofAnchor = distinct.filter(isOfAnchor).toSorted((a, b) => choice(a) - choice(b) || distance(b) - distance(a));
  const rest = distinct
    .filter((place) => !isOfAnchor(place))
    .toSorted((a, b) => choice(a) - choice(b) || distance(a) - distance(b));
  const apart: number[] = [];
  for (const alike of Map.groupBy(rest, choice).values())
    apart.push(...spread(alike, Math.max(LOOKS - ofAnchor.length, LOOKS - OF_ANCHOR) - apart.length));
  return [...ofAnchor.slice(0, LOOKS - apart.length), ...apart];
}

/** Where marks repeat at a fixed distance, what ends a mark mostly stands at a multiple of it. These strides avoid such multiples. */
const STRIDES = [23, 19, 0, 11];

/** Chooses `count` of the places, far from one another. */
function spread(places: readonly number[], count: number): readonly number[] {
  if (places.length <= count) return places;
  const chosen = new Set<number>();
  for (const stride of STRIDES.slice(0, count)) {
    let index = stride % places.length;
    while (chosen.has(places[index] as number)) index = (index + Math.ceil(places.length / count)) % places.length;
    chosen.add(places[index] as number);
  }
  return [...chosen];
}
